"""What commands print: rows for people or JSON for scripts on stdout, prose on stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click


def say(text: str) -> None:
    """Prose: on stderr, so that stdout stays what a script asked for."""
    click.echo(text, err=True)


def show(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """A table with a head, or a JSON array."""
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    if not rows:
        say("none")
        return
    lines = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def show_one(record: Mapping[str, Any], *, as_json: bool) -> None:
    """One record: ``name: value`` lines, or a JSON object."""
    if as_json:
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
        return
    for name, value in record.items():
        click.echo(f"{name}: {_cell(value)}")


def show_alone(value: str, record: Mapping[str, Any], *, field: str, as_json: bool) -> None:
    """A secret, id or name alone on stdout; with ``as_json`` inside the record, as ``field``."""
    if as_json:
        click.echo(json.dumps({**record, field: value}, ensure_ascii=False, indent=2))
    else:
        click.echo(value)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A name comes from whoever calls the API: it must not forge a row or steer the operator's terminal.
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
