"""Second readers: which tables a text reads, by another parser than ours.

In the text as it is sent, each guard is replaced by a stand-in: an empty table of the same columns. What a second
reader still finds is read outside of a guard: a shared table, or a leak.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

import pytest

from tenantry.sql import BoundSQL, SQLTemplate
from tenantry.sql.dialects import dialect_named
from tenantry.sql.guarding import GuardedTables
from tenantry.sql.guarding.masked_sql import mask
from tenantry.sql.guarding.names import path_of, written
from tenantry.sql.guarding.statement import read_statement
from tests.sql.guarding.attacks.databases import STAND_IN, Engine
from tests.sql.guarding.attacks.world import VARIABLES


class Unreadable(Exception):
    """The second reader refuses the text."""


class SecondReader(Protocol):
    """One of them, for one engine."""

    def tables(self, bound: BoundSQL) -> set[str]:
        """The real tables that the text reads, by their names without a schema, in lower case. Raises Unreadable."""


def second_reader(engine: Engine) -> SecondReader:
    """The reader for this engine."""
    reader: SecondReader = import_module(f"{__name__}.{engine.name}").Reader(engine)
    return reader


_PROOF: Final = re.compile(r"select 1 from (\(.*\))(?: as (?:\w+|\"[^\"]+\"))? where 1 = 0", re.DOTALL)
_PLACEHOLDERS: Final = {"qmark": r"\?", "format": "%s", "numeric_dollar": r"\$\d+", "pyformat": r"%\(\w+\)s"}


class OurReading(NamedTuple):
    """The real tables that the text reads, as our reader understands it, and the names of its CTEs."""

    tables: set[str]
    ctes: set[str]


class StandIns:
    """Replaces each guard by its stand-in."""

    def __init__(self, dialect: str, style: str, tables: GuardedTables, variables: Any = VARIABLES) -> None:
        self._dialect = dialect_named(dialect)
        self._placeholder = re.compile(_PLACEHOLDERS[style])
        names = [entry.name for entry in tables.entries if not entry.is_shared]
        found: list[tuple[str, str]] = []
        for name in names:
            sql = f"select 1 from {written(path_of(name), self._dialect)} where 1 = 0"
            query = SQLTemplate(sql, dialect).guarded(tables)
            guard = _PROOF.fullmatch(query.bind(variables, style).sql)
            assert guard is not None, "the guard of a table is found by its proof"
            found.append((guard[1], last_part(name)))
        found.sort(key=lambda each: -len(each[0]))  # one that is in another's condition comes after it
        self._guards = [(self._pattern(guard), name) for guard, name in found]

    def _pattern(self, guard: str) -> re.Pattern[str]:
        """Also with ``only``, and with any numbers of placeholders."""
        parts = [re.escape(part) for part in self._placeholder.split(guard)]
        pattern = f"({self._placeholder.pattern})".join(parts)
        return re.compile(pattern.replace(r"\ from\ ", r"\ from\ (?:only\ )?", 1))

    def replaced(self, bound: BoundSQL) -> BoundSQL:
        """The text with stand-ins, and with the placeholders that it had."""
        sql = bound.sql
        for pattern, name in self._guards:
            for guard in {match[0] for match in pattern.finditer(sql)}:
                sql = sql.replace(guard, self._stand_in(guard, name))
        return bound._replace(sql=sql)

    def _stand_in(self, guard: str, name: str) -> str:
        kept = " and ".join(f"{each} is not null" for each in self._placeholder.findall(guard))
        return f"(select * from {STAND_IN}{name} where {kept})"

    def without_placeholders(self, bound: BoundSQL) -> BoundSQL:
        return bound._replace(sql=self._placeholder.sub("1", bound.sql).replace("%%", "%"))

    def our_reading(self, bound: BoundSQL) -> OurReading:
        """Raises Refused."""
        statement = read_statement(mask(self.without_placeholders(bound).sql, self._dialect), self._dialect)
        tables = {use.path[-1].text.lower() for use in statement.tables} - {"dual"}
        return OurReading(tables, set(statement.ctes))


PARSERS: Final = ("duckdb", "postgresql")
"""Engines whose second reader needs no table: it reads SQL of any schema."""
_stand_ins = cache(StandIns)


def assert_only_guards(bound: BoundSQL, tables: GuardedTables, variables: Any = None) -> None:
    """Beside guards, the engine's own parser finds only shared tables. Checked on two engines."""
    if bound.dialect not in PARSERS:
        return
    about = bound.dialect, bound.paramstyle, tables
    stand_ins = _stand_ins(*about) if variables is None else StandIns(*about, variables)
    found = stand_ins.replaced(bound)
    reader: SecondReader = import_module(f"{__name__}.{bound.dialect}").Reader()
    try:
        theirs = reader.tables(stand_ins.without_placeholders(found))
    except Unreadable:  # the engine refuses it, too
        return
    known = {last_part(each.name) for each in tables.entries if each.is_shared} | stand_ins.our_reading(found).ctes
    beside = {name for name in theirs if not name.startswith(STAND_IN)}
    assert beside <= known, bound.sql


def read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on each text of a guarded template that a test binds is read again, by ``assert_only_guards``."""
    bind = SQLTemplate.bind

    def bind_and_read(template: SQLTemplate, variables: Any, *given: Any, **options: Any) -> BoundSQL:
        bound = bind(template, variables, *given, **options)
        tables = template.definition.tables
        if isinstance(tables, GuardedTables):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(SQLTemplate, "bind", bind)  # of the stand-ins
                assert_only_guards(bound, tables, variables)
        return bound

    monkeypatch.setattr(SQLTemplate, "bind", bind_and_read)


def last_part(name: str) -> str:
    """A table's name without its schema."""
    return name.rpartition(".")[2].strip('"').lower()
