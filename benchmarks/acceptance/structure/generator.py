"""Templates at random, of everything that the language has: each is valid SQL on ``orders``, whatever its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any, Final

from benchmarks.acceptance.structure.words import WORDS, Words
from tenantry.errors import InvalidParameter, MissingVariable, TemplateError
from tenantry.sql import BoundSQL, SQLTemplate
from tenantry.sql.filters.registry import _ARGUMENTS

TABLE: Final = (
    "create table orders (id integer, tenant varchar(200), name varchar(200), amount integer, created timestamp)"
)
DECLARED: Final = {
    "t": "text",
    "n": "integer",
    "ts": "list of text",
    "ns": "list of integer",
    "limit": "integer",
    "choice": {"type": "choice", "choices": ["a", "b"]},
    "unit": {"type": "choice", "choices": ["day", "month"]},
    "period": {"type": "date range", "open": "both"},
}
"""The viewer's parameters, as half of the templates declare them."""
FRAGMENTS: Final = {
    "mine": "select * from orders where tenant = {{ t0 }} -- author's fragment",
    "ids": "select id from orders where {{ ts | matches(name) }} and id > {{ n0 }}\n[[ and name = '{{ params.t }}' ]]",
    "nested": "select id from ({{> mine }}) as inner_orders where name <> 'author)}}'",
}
"""What templates include."""
_DEPTH: Final = 3
_NOW: Final = datetime(2026, 1, 31, 12, tzinfo=UTC)
_TEXTS: Final = ("t0", "user_group.properties.t1", "user_group.name")
_NUMBERS: Final = ("n0", "user_group.properties.n1")
_COLUMNS: Final = ("tenant", "name")
_PATTERNS: Final = tuple(name for name in ("contains", "prefix", "suffix") if name in _ARGUMENTS)
_AROUND: Final = ("", "%", "a", "''", "--", "/*", "*/", ";", "%s", "?", "\\{{", "]]")
_DEFAULTS: Final = ("'author''s'", "'author}} --'", "'/* author'")
_COMPARISONS: Final = ("=", "<>", "<", ">=")


@dataclass(frozen=True)
class Generated:
    """A template that compiles. It is bound with one text and one number; which of the viewer's are given is part of
    it, and which texts of the author's they choose."""

    template: SQLTemplate
    given: frozenset[str]
    choice: str

    def bind(self, text: str, number: int, style: str) -> BoundSQL | None:
        """None for a text that a declared parameter does not take, which reaches no engine."""
        try:
            return self.template.bind(self._variables(text, number), style, now=_NOW)
        except InvalidParameter:
            return None

    def _variables(self, text: str, number: int) -> dict[str, Any]:
        """The text and the number at every path, and in every list."""
        params = {"t": text, "n": number, "ts": [text, "other"], "ns": [number, 5], "limit": 10, "choice": self.choice}
        params |= {"unit": "day" if self.choice == "a" else "month", "period": "2026-01-01..2026-02-01"}
        return {
            "t0": text,
            "n0": number,
            "ts": [text, "other"],
            "ns": [5, number],
            "window": {"start": "2026-01-01", "end": "2026-02-01"},
            "user_group": {"name": text, "properties": {"t1": text, "n1": number}},
            "params": {name: params[name] for name in params if name in self.given},
        }


class Generator:
    """Makes templates of one dialect. ``refused`` counts those that did not compile."""

    def __init__(self, dialect: str, dice: Random) -> None:
        self.refused: int = 0
        self._dialect = dialect
        self._words: Words = WORDS[dialect]
        self._dice = dice
        self._declares = False

    def make(self) -> Generated:
        """The next template that compiles."""
        while True:
            self._declares = self._dice.random() < 0.5
            optional = [name for name in ("t", "n", "ts", "ns", "period") if self._dice.random() < 0.7]
            text = self._spaced(self._query(_DEPTH))
            given = frozenset([*optional, "limit", "choice", "unit"])
            params = DECLARED if self._declares else None
            try:
                template = SQLTemplate(text, self._dialect, params=params, fragments=FRAGMENTS)
                made = Generated(template, given, self._dice.choice("ab"))
                made.bind("a", 0, "format")
            except (TemplateError, MissingVariable):  # also one that names in a branch what is not given
                self.refused += 1
            else:
                return made

    def _one(self, *makers: Callable[[], str]) -> str:
        return self._dice.choice(makers)()

    def _some(self, maker: Callable[[], str], most: int, least: int = 0) -> list[str]:
        return [maker() for _ in range(self._dice.randint(least, most))]

    def _spaced(self, text: str) -> str:
        """With comments of the author between some words."""
        parts = text.split("\x1f")
        return "".join(part + self._dice.choice(self._words.comments) for part in parts[:-1]) + parts[-1]

    def _query(self, depth: int) -> str:
        one = self._select(depth)
        if depth == 0:
            return one
        return self._one(
            lambda: one,
            lambda: one,
            lambda: (
                f"with mine as ({self._select(depth - 1)})\x1fselect * from mine where c in ({self._column(depth - 1)})"
            ),
            lambda: f"{self._column(depth - 1)}\x1funion all\x1f{self._column(depth - 1)}",
        )

    def _select(self, depth: int) -> str:
        items = ["id as c", *(f"{item} as c{n}" for n, item in enumerate(self._some(lambda: self._item(depth), 2)))]
        name = f" as {self._dice.choice(self._words.names)}" if self._dice.random() < 0.3 else ""
        rest = [f"{self._dice.choice(('and', 'or'))} {self._condition(depth)}" for _ in range(self._dice.randint(0, 2))]
        clauses = self._some(lambda: self._clause(depth), 2)
        tail = self._one(
            lambda: "",
            lambda: "order by id, 1",
            lambda: "order by id limit {{ params.limit }}",
            lambda: f"order by {self._choice('id', 'name desc')}",
            lambda: f"order by name {self._choice('asc', 'desc')}, id",
            lambda: "order by id limit {{ params.limit }} offset {{ params.limit }}",
        )
        parts = [
            f"select {', '.join(items)}, name{name}",
            f"from {self._table()}",
            f"where {self._condition(depth)}",
        ]
        return "\x1f".join(part for part in (*parts, *rest, *clauses, tail) if part)

    def _table(self) -> str:
        chance = self._dice.random()
        if chance < 0.8:
            return "orders"
        if chance < 0.9:
            return "({{> mine }}) as included"
        return f"{self._choice('orders', f'(select * from orders where name <> {self._literal()})')} chosen"

    def _choice(self, one: str, other: str, *, absent: bool = False) -> str:
        """Of the author's texts the viewer chooses one. Where they stand, no value could."""
        default = "" if absent else self._dice.choice(("", "", " | default(a)"))
        return f"{{{{ params.choice | one_of(a: {one}, b: {other}){default} }}}}"

    def _column(self, depth: int) -> str:
        return f"select id as c from orders where {self._condition(depth)}\x1f{self._clause(depth)}"

    def _item(self, depth: int) -> str:
        return self._one(
            lambda: f"cast({self._text()} as {self._words.text})",
            lambda: f"cast({self._number()} as {self._words.integer})",
            lambda: self._words.concat.format(self._text(), "name"),
            lambda: f"case when {self._condition(0)} then {self._text()} else {self._literal()} end",
            lambda: f"coalesce(name, {self._text()})",
            lambda: f"id - {self._number()}",
            lambda: f"1-{self._number()} + id",
            self._literal,
            lambda: self._choice(self._literal(), "name"),
            lambda: f"{self._choice('lower', 'upper')}({self._choice('name', 'tenant')})",
            lambda: "{{ params.unit | trunc(created) }}",
            lambda: f"cast({{{{ ts | json }}}} as {self._words.text})",
            lambda: f"(select max(id) from orders where {self._condition(max(0, depth - 1))})",
        )

    def _condition(self, depth: int, texts: Sequence[str] = _TEXTS, prefix: str = "") -> str:
        """``prefix`` is ``params.`` in an optional clause: all of its values are the viewer's."""

        def text() -> str:
            return self._text(texts)

        def number() -> str:
            return self._number((f"{prefix}n",) if prefix else _NUMBERS)

        column = self._dice.choice(_COLUMNS)
        makers: list[Callable[[], str]] = [
            lambda: f"{column} {self._dice.choice(_COMPARISONS)} {text()}",
            lambda: f"{text()} = {column}",
            lambda: f"lower({column}) = lower({text()})",
            lambda: f"{column} like {self._composed(texts)}",
            lambda: f"{column} in {self._list(f'{prefix}ts')}",
            lambda: f"{column} not in {self._list(f'{prefix}ts')}",
            lambda: f"id in {self._list(f'{prefix}ns')}",
            lambda: f"id {self._dice.choice(_COMPARISONS)} {number()}",
            lambda: f"id between {number()} and {number()} + 10",
            lambda: f"id-{number()} < 1-{number()}",
            lambda: f"id % 3 = 1 and amount > {number()}",
            lambda: f"{self._words.concat.format(column, text())} <> {self._literal()}",
        ]
        if _PATTERNS:
            path, pattern = self._dice.choice(tuple(texts)), self._dice.choice(_PATTERNS)
            makers += [lambda: f"{column} like {{{{ {path} | {pattern} }}}}"] * 2
        if not prefix:
            makers += [
                lambda: "{{ window | within(created) }}",
                lambda: f"{{{{ {self._dice.choice((*_TEXTS, 'ts'))} | matches({column}) }}}}",
                lambda: f"{{{{ t0 | matches(coalesce(name, {self._literal()})) }}}}",
                lambda: f"{{{{ {self._dice.choice((*_TEXTS, 'ts'))} | excludes({column}) }}}}",
                lambda: f"id in ({{{{> {self._dice.choice(('ids', 'nested'))} }}}})",
                # Of what is absent: a text of the author, or NULL.
                lambda: f"{column} = {{{{ params.t | default({self._dice.choice(_DEFAULTS)}) }}}}",
                lambda: f"{column} {self._words.same} {{{{ params.t | nullable }}}}",
            ]
        if self._declares and not prefix:  # of the declared type, and true where nothing is given
            makers += [
                lambda: "{{ params.period | within(created) }}",
                lambda: f"{{{{ params.{self._dice.choice(('t', 'ts'))} | matches({column}) }}}}",
                lambda: f"{{{{ params.{self._dice.choice(('t', 'ts'))} | excludes({column}) }}}}",
                lambda: "{{ params.ns | matches(id) }}",
            ]
        if self._words.member:
            makers.append(lambda: self._words.member.format(column, f"{{{{ {prefix}ts | array }}}}"))
        if depth > 0:
            shared = text()
            chosen = self._text(("params.t",))  # no guarded path is in a text to choose
            makers += [
                lambda: self._choice(f"{column} = {chosen}", f"{column} like {chosen}", absent=bool(prefix)),
                lambda: self._choice(
                    f"{column} <> {self._literal()}", f"({self._literal()} = 'author)}}}}')", absent=True
                ),
                lambda: f"{column} {self._choice('=', '<>', absent=bool(prefix))} {shared}",
                lambda: f"({self._condition(depth - 1, texts, prefix)} or {self._condition(depth - 1, texts, prefix)})",
                lambda: f"not ({self._condition(depth - 1, texts, prefix)})",
                lambda: f"exists (select 1 from orders where {self._condition(depth - 1, texts, prefix)})",
            ]
        return self._one(*makers)

    def _clause(self, depth: int) -> str:
        """``[[ and … ]]``, with others in it."""
        inner = self._clause(depth - 1) if depth > 0 and self._dice.random() < 0.4 else ""
        return f"[[ and {self._condition(max(0, depth - 1), ('params.t',), 'params.')} {inner} ]]"

    def _text(self, paths: Sequence[str] = _TEXTS) -> str:
        path = self._dice.choice(paths)
        return self._one(
            lambda: f"{{{{ {path} }}}}",
            lambda: f"{{{{{path}}}}}",
            lambda: f"'{{{{ {path} }}}}'",
            lambda: self._composed(paths),
        )

    def _composed(self, paths: Sequence[str]) -> str:
        """A literal that holds tags between text that is hard to read."""
        around = [self._dice.choice(_AROUND) for _ in range(3)]
        tags = [f"{{{{ {self._dice.choice(paths)} }}}}" for _ in range(2)]
        more = f"{tags[1]}{around[2]}" if self._dice.random() < 0.4 else ""
        return f"'{around[0]}{tags[0]}{around[1]}{more}'"

    def _number(self, paths: Sequence[str] = _NUMBERS) -> str:
        return f"{{{{ {self._dice.choice(paths)} }}}}"

    def _list(self, path: str) -> str:
        return self._one(lambda: f"{{{{ {path} }}}}", lambda: f"({{{{ {path} }}}})")

    def _literal(self) -> str:
        return self._dice.choice(self._words.literals)
