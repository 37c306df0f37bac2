"""What commands print: rows for people or JSON for scripts on stdout, prose on stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import click

from tenantry.tokens import mask_within


def print_note(text: str) -> None:
    """Prose: on stderr, so that stdout stays what a script asked for."""
    click.echo(text, err=True)


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """A table with a head, or a JSON array."""
    with RowPrinter(as_json=as_json) as printer:
        printer.add(rows)


class RowPrinter:
    """A table with a head, or a JSON array, of rows that come page by page: each is shown before the next is read.

    ``with RowPrinter(as_json=…) as printer: printer.add(rows)``. A column of a table grows where a later page needs it.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._widths: list[int] = []
        self._started = False

    def __enter__(self) -> Self:
        return self

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Prints one page of rows."""
        if not rows:
            return
        if self._as_json:
            each = (_json(row).replace("\n", "\n  ") for row in rows)
            click.echo((",\n  " if self._started else "[\n  ") + ",\n  ".join(each), nl=False)
        else:
            lines = [[_cell(value) for value in row.values()] for row in rows]
            if not self._started:
                lines.insert(0, [*rows[0]])
            widths = self._widths or [0] * len(lines[0])
            self._widths = [max(width, *(len(line[at]) for line in lines)) for at, width in enumerate(widths)]
            for line in lines:
                cells = (cell.ljust(width) for cell, width in zip(line, self._widths, strict=True))
                click.echo("  ".join(cells).rstrip())
        self._started = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        if self._as_json:
            click.echo("\n]" if self._started else "[]")
        elif not self._started:
            print_note("none")


def print_csv(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """CSV with a head. A text that a spreadsheet would run as a formula gets an apostrophe before it: ids come from
    whoever calls the API."""
    from tenantry.datasources.results import Result, to_csv  # for the one command that needs it

    written = to_csv(Result(names, [tuple(row.values()) for row in rows]), formula_safe=True)
    click.echo(mask_within(written.decode()), nl=False)


class JsonLinePrinter:
    """A JSON object a line, of rows that come without end; used as a RowPrinter is."""

    def __enter__(self) -> Self:
        return self

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Prints some rows."""
        for row in rows:
            click.echo(mask_within(json.dumps(row, ensure_ascii=False)))

    def __exit__(self, *_: object) -> None: ...


def print_record(record: Mapping[str, Any], *, as_json: bool) -> None:
    """One record: ``name: value`` lines, or a JSON object."""
    if as_json:
        click.echo(_json(record))
        return
    for name, value in record.items():
        click.echo(f"{name}: {_cell(value)}")


def print_value(value: str, record: Mapping[str, Any], *, field: str, as_json: bool) -> None:
    """An id or name alone on stdout; with ``as_json`` inside the record, as ``field``. A token in it is masked."""
    print_secret(mask_within(value), record, field=field, as_json=as_json)


def print_secret(value: str, record: Mapping[str, Any], *, field: str, as_json: bool) -> None:
    """The same of a token that was asked for: not masked."""
    if as_json:
        click.echo(json.dumps({**json.loads(_json(record)), field: value}, ensure_ascii=False, indent=2))
    else:
        click.echo(value)


def _json(record: Mapping[str, Any]) -> str:
    """A token in a record is there by mistake, so it is masked."""
    return mask_within(json.dumps(record, ensure_ascii=False, indent=2))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(mask_within(text))


def printable(text: str) -> str:
    """Text on one line that does nothing to the terminal.

    A name comes from whoever calls the API, or wrote a page: it must not forge a row or steer the operator's terminal.
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
