"""Templates at random, of everything that the language has: each is valid SQL on ``orders``, whatever its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from benchmarks.acceptance.structure.words import WORDS, Words
from tenantry.errors import MissingVariable, TemplateError
from tenantry.sql import SQLTemplate

TABLE: Final = "create table orders (id integer, tenant varchar(200), name varchar(200), amount integer)"
_DEPTH: Final = 3
_TEXTS: Final = ("t0", "user_group.properties.t1", "user_group.name")
_NUMBERS: Final = ("n0", "user_group.properties.n1")
_COLUMNS: Final = ("tenant", "name")
_AROUND: Final = ("", "%", "a", "''", "--", "/*", "*/", ";", "%s", "?", "\\{{", "]]")
_COMPARISONS: Final = ("=", "<>", "<", ">=")


@dataclass(frozen=True)
class Generated:
    """A template that compiles. ``variables`` makes its variables of one text and one number; which of the viewer's are
    given is part of it, and which texts of the author's they choose."""

    template: SQLTemplate
    given: frozenset[str]
    choice: str

    def variables(self, text: str, number: int) -> dict[str, Any]:
        """The text and the number at every path, and in every list."""
        params = {"t": text, "n": number, "ts": [text, "other"], "ns": [number, 5], "limit": 10, "choice": self.choice}
        return {
            "t0": text,
            "n0": number,
            "ts": [text, "other"],
            "ns": [5, number],
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

    def make(self) -> Generated:
        """The next template that compiles."""
        while True:
            optional = [name for name in ("t", "n", "ts", "ns") if self._dice.random() < 0.7]
            text = self._spaced(self._query(_DEPTH))
            given = frozenset([*optional, "limit", "choice"])
            try:
                made = Generated(SQLTemplate(text, self._dialect), given, self._dice.choice("ab"))
                made.template.bind(made.variables("", 0))
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
        if self._dice.random() < 0.9:
            return "orders"
        return f"{self._choice('orders', f'(select * from orders where name <> {self._literal()})')} chosen"

    def _choice(self, one: str, other: str, *, absent: bool = False) -> str:
        """Of the author's texts the viewer chooses one. Where they stand, no value could."""
        default = "" if absent else self._dice.choice(("", "", " | default(a)"))
        return f"{{{{ params.choice | one_of(a: {one}, b: {other}){default} }}}}"

    def _column(self, depth: int) -> str:
        return f"select id as c from orders where {self._condition(depth)}\x1f{self._clause(depth)}"

    def _mine(self, depth: int) -> str:
        return f"select * from mine where c in ({self._column(depth)})"

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
        if depth > 0:
            shared = text()  # a guarded path is in every text, or in none
            makers += [
                lambda: self._choice(f"{column} = {shared}", f"{column} like {shared}", absent=bool(prefix)),
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
