"""Analyzes SQL twice: word by word (``words.py``), and with sqlglot's parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from tenantry.errors import Edit, did_you_mean, misspelt
from tenantry.sql.guarding.guards import TableGuards
from tenantry.sql.guarding.masked_sql import MaskedSQL, Refused, mask
from tenantry.sql.guarding.rendered_text import RenderedText
from tenantry.sql.guarding.statement import StatementNames, TableUse, read_statement
from tenantry.sql.guarding.words import Positions, WordCheck
from tenantry.sql.source import Source

_CATALOGUE: Final = re.compile(
    r"(?:information_schema|performance_schema|mysql|sys|system)\Z|pg_|sqlite_|duckdb_", re.IGNORECASE
)


class Reading(NamedTuple):
    masked: MaskedSQL
    statement: StatementNames


def read(rendered: RenderedText, guards: TableGuards) -> Reading:
    """Find the tables and functions that SQL names. Raises Refused if the two analyses disagree, and for unsupported
    syntax and functions."""
    masked = mask(rendered.sql, guards.dialect)
    statement = read_statement(masked, guards.dialect)
    found = Positions(statement.starts.keys(), statement.calls, statement.aliases)
    WordCheck(masked.tokens, guards.dialect, guards.functions, found, rendered.is_of_guard).run()
    return Reading(masked, statement)


def unlisted(use: TableUse, guards: TableGuards) -> Refused:
    name = ".".join(f'"{part.text}"' if part.quoted else part.text for part in use.path)
    if _CATALOGUE.match(use.path[0].text):
        return Refused(use.start, f"{name} has data of every group", "put the data that the query needs in a table")
    problem, where = f"the table {name} is not declared", guards.declaration.where_to_change
    fix = f"add {name} to `tables` in {where}, with the column of the group; or as `shared`, if every group may read it"
    alike, names = guards.alike(use.path), [each.name for each in guards.declaration.entries]
    if alike is not None:
        return Refused(use.start, problem, f"write {alike.name}, which is declared; or {fix}", Edit(name, alike.name))
    near = did_you_mean(name, names)
    return Refused(use.start, problem, f"{near}Otherwise {fix}" if near else fix, misspelt(name, names))


def hides(name: str, position: int, reader: str) -> Refused:
    problem = f"a `with` named {name} would hide the table {name}, which {reader} reads"
    return Refused(position, problem, f"give the `with` a name other than {name}")


@contextmanager
def located(source: Source, rendered: RenderedText) -> Iterator[None]:
    """Converts Refused to TemplateError."""
    try:
        yield
    except Refused as refused:
        at = rendered.offset(refused.position)
        raise source.error(at, refused.problem, refused.fix, edit=refused.edit) from None
