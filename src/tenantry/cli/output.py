"""Prints rows or JSON on stdout, and notes on stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

import click

from tenantry.clock import utc_now
from tenantry.groups import Issued, UserGroup
from tenantry.tokens import mask_within

FAILED: Final = 1
"""Exit code of a command that was refused or that found a mistake."""


def print_note(text: str) -> None:
    click.echo(text, err=True)


def note_dry_run(dry_run: bool) -> None:
    if dry_run:
        print_note("dry run: nothing was changed")


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    with RowPrinter(as_json=as_json) as printer:
        printer.add(rows)


class RowPrinter:
    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._widths: list[int] = []
        self._started = False

    def __enter__(self) -> Self:
        return self

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
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
    """Print CSV with a header. A string that a spreadsheet would run as a formula gets a leading apostrophe."""
    from tenantry.datasources.results import Result, to_csv  # imported only if needed

    written = to_csv(Result(names, [tuple(row.values()) for row in rows]), formula_safe=True)
    click.echo(mask_within(written.decode()), nl=False)


class JsonLinePrinter:
    def __enter__(self) -> Self:
        return self

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            click.echo(mask_within(json.dumps(row, ensure_ascii=False)))

    def __exit__(self, *_: object) -> None: ...


def print_record(record: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(_json(record))
        return
    for name, value in record.items():
        click.echo(f"{name}: {_cell(value)}")


def print_value(value: str, record: Mapping[str, Any], *, field: str, as_json: bool) -> None:
    """Print an id or a name. With ``as_json``, print ``record`` with ``value`` under the key ``field``. Tokens are
    masked."""
    print_secret(mask_within(value), record, field=field, as_json=as_json)


def print_secret(value: str, record: Mapping[str, Any], *, field: str, as_json: bool) -> None:
    """Like ``print_value``, for a token that the user has requested: it is not masked."""
    if as_json:
        click.echo(json.dumps({**json.loads(_json(record)), field: value}, ensure_ascii=False, indent=2))
    else:
        click.echo(value)


def show_token(made: Issued[str], *, as_json: bool, dry_run: bool = False) -> None:
    if dry_run and not as_json:
        print_record(made.group.as_dict(), as_json=False)
    else:
        print_secret(made.token, made.group.as_dict(), field="token", as_json=as_json)
    note_end(made.group)


def note_end(group: UserGroup) -> None:
    if group.expires_at is not None and group.expires_at <= utc_now():
        print_note("The end date has passed: the token is refused until you set a later end date, or none.")


def _json(record: Mapping[str, Any]) -> str:
    return mask_within(json.dumps(record, ensure_ascii=False, indent=2))


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(mask_within(text))


def printable(text: str) -> str:
    """Escape line breaks and control characters."""
    # Otherwise a name could forge a row or control the terminal.
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
