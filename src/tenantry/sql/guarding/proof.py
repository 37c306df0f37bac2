from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from tenantry.sql.guarding.guards import TableGuards
from tenantry.sql.guarding.masked_sql import Refused
from tenantry.sql.guarding.names import folded
from tenantry.sql.guarding.reading import hides, located, read, unlisted
from tenantry.sql.guarding.rendered_text import RenderedText, combinations, render
from tenantry.sql.guarding.statement import StatementNames, TableUse
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Node

_REMEMBERED: Final = 10_000  # statements
_AT_ONCE: Final = 12_000  # words and signs; further SQL is proved when it is first sent


class Proof:
    """Checks a rewritten template's SQL again before it is first used. Outside of guards, the SQL may name only shared
    tables. Raises TemplateError for other SQL."""

    def __init__(self, source: Source, nodes: Sequence[Node], guards: TableGuards) -> None:
        self._source = source
        self._nodes = nodes
        self._guards = guards
        self._proved: set[bytes] = set()

    def usual(self) -> None:
        """Check all ``combinations``, or only the first ones if they have more than ``_AT_ONCE`` tokens."""
        tokens = 0
        for decide in combinations(self._nodes, every=False):
            tokens += self._prove(render(self._nodes, decide))
            if tokens > _AT_ONCE:
                return

    def of_key(self, key: tuple[int, ...]) -> None:
        """Check the combination that the key of a Renderer describes."""
        numbers = iter(key)
        self._prove(render(self._nodes, lambda _: next(numbers)))

    def _prove(self, rendered: RenderedText) -> int:
        digest = blake2b(rendered.sql.encode(errors="surrogatepass"), digest_size=16).digest()
        if digest in self._proved:
            return 0
        with located(self._source, rendered):
            masked, statement = read(rendered, self._guards)
            for use in statement.tables:
                self._check(use, rendered)
            self._check_conditions(statement, rendered)
        if len(self._proved) >= _REMEMBERED:
            self._proved.clear()
        self._proved.add(digest)
        return len(masked.tokens)

    def _check_conditions(self, statement: StatementNames, rendered: RenderedText) -> None:
        # The rewriting has not seen every combination of clauses and branches. In this combination, a CTE may have the
        # name of a table that a condition reads. Whether the CTE then hides the table depends on the engine and on the
        # spelling, so every such name is refused.
        real = {use.start for use in statement.tables}
        for start, path in statement.starts.items():
            if not rendered.is_of_condition(start):
                continue
            name = folded(path[-1].text)
            of_author = (cte for cte in statement.ctes.get(name, ()) if not rendered.is_of_condition(cte))
            hiding = next(of_author, None)
            if hiding is not None:
                raise hides(name, hiding, "the condition of another table")
            if start not in real and self._guards.find(path) is not None:
                raise hides(name, start, "a condition")

    def _check(self, use: TableUse, rendered: RenderedText) -> None:
        entry = self._guards.find(use.path)
        if entry is None:
            raise unlisted(use, self._guards)
        if entry.is_shared or (rendered.is_of_guard(use.start) and use.is_whole_query):
            return
        problem = f"with this choice of clauses, the query would read every group's rows of {entry.name}"
        raise Refused(use.start, problem, "write the clauses so that each of them names tables in the same way")
