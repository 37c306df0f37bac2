from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tenantry.sql.guarding.guards import RewrittenCondition, TableGuards, TableGuardSQL, guard_references
from tenantry.sql.guarding.masked_sql import Refused, check_length
from tenantry.sql.guarding.names import folded, key_of, written
from tenantry.sql.guarding.proof import Proof
from tenantry.sql.guarding.reading import Reading, hides, located, read, unlisted
from tenantry.sql.guarding.rendered_text import RenderedText, combinations, render, skipped_branches
from tenantry.sql.guarding.statement import TableUse
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import AppliedGuard, Clause, Node, PlaceholderConflict, Switch, Text, Tree

_Nodes = tuple[Node, ...]
_MAX_TOTAL_TOKENS: Final = 40_000
"""Maximum sum of the words and signs in all combinations of a template."""


class _Edit(NamedTuple):
    start: int
    end: int
    position: int
    """Where the name begins in the Text."""
    name: str = ""
    guard: TableGuardSQL | None = None
    """The guard that replaces the SQL, if any. Without a guard, the SQL is kept if the edit has the ``name`` of a
    shared table, otherwise removed."""
    alias: str = ""
    only: bool = False


def rewrite_tree(tree: Tree, guards: TableGuards) -> Tree:
    """Replace declared tables with their guards. Raises TemplateError for SQL that cannot be guarded."""
    edits = _Edits(guards)
    edits.find(tree)
    nodes = edits.apply(tree.nodes)
    proof = Proof(tree.source, nodes, guards)
    proof.usual()
    return replace(
        tree,
        nodes=nodes,
        references=(*tree.references, *guard_references(nodes)),
        placeholder_conflicts=(*tree.placeholder_conflicts, *edits.conflicts()),
        guards=tuple(edits.applied(tree.source)),
        prove=proof.of_key,
    )


def rewrite_condition(tree: Tree, guards: TableGuards, exempt: int) -> RewrittenCondition:
    """Replace each table in a guard's query with its guard, except the table at the offset ``exempt``."""
    edits = _Edits(guards, exempt)
    edits.find(tree)
    return RewrittenCondition(edits.apply(tree.nodes), frozenset(edits.names), edits.shown(tree.source))


class _Edits:
    def __init__(self, guards: TableGuards, exempt: int = -1) -> None:
        self.names: set[str] = set()
        self._guards = guards
        self._exempt = exempt
        self._tokens = 0
        self._found: dict[int, tuple[Text, tuple[_Edit, ...]]] = {}

    def find(self, tree: Tree) -> None:
        for decide in combinations(tree.nodes, every=False):
            self._read(tree.source, render(tree.nodes, decide))
        if any(self._found.get(id(text), (text, ()))[1] for text in skipped_branches(tree.nodes)):
            for decide in combinations(tree.nodes, every=True):
                self._read(tree.source, render(tree.nodes, decide))

    def _read(self, source: Source, rendered: RenderedText) -> None:
        with located(source, rendered):
            edits: dict[int, list[_Edit]] = {}
            reading = read(rendered, self._guards)
            self._tokens += len(reading.masked.tokens)
            if self._tokens > _MAX_TOTAL_TOKENS:
                raise Refused(0, "this SQL has too many long choices for guarded tables", "offer fewer choices")
            length = len(rendered.sql)
            for segment_of, edit in self._edits(rendered, reading):
                edits.setdefault(segment_of, []).append(edit)
                length += 0 if edit.guard is None else edit.guard.least_length
                check_length(length)  # the proof checks the length too, but only after the nodes were made
            for segment in rendered.segments:
                if segment.text is not None:
                    self._add(segment.start, segment.text, tuple(sorted(edits.get(segment.start, ()))))

    def _add(self, position: int, text: Text, edits: tuple[_Edit, ...]) -> None:
        # The edits of a Text must be the same in all combinations of clauses and branches.
        _, first = self._found.setdefault(id(text), (text, edits))
        if first != edits:
            fix = "write the clauses so that each of them names tables in the same way"
            raise Refused(position, "the clauses around this decide which tables it names", fix)

    def _edits(self, rendered: RenderedText, reading: Reading) -> Iterator[tuple[int, _Edit]]:
        replaced: set[tuple[str, ...]] = set()
        for use in reading.statement.tables:
            if use.start == self._exempt:
                continue
            edit = self._edit(use, rendered, reading)
            if len(use.path) > 1:
                replaced.add(key_of(use.path, self._guards.dialect))
            yield edit
        for column in reading.statement.columns:
            if key_of(column.table, self._guards.dialect) in replaced:
                segment = _segment(rendered, column.start, column.end)
                begin = column.start - segment
                yield segment, _Edit(begin, column.end - segment, begin)

    def _edit(self, use: TableUse, rendered: RenderedText, reading: Reading) -> tuple[int, _Edit]:
        entry = self._guards.find(use.path)
        if entry is None:
            raise unlisted(use, self._guards)
        if len(use.path) == 1:
            self.names.add(folded(use.path[-1].text))
        segment = _segment(rendered, use.start, use.end)
        position = use.start - segment
        if entry.is_shared:
            return segment, _Edit(position, use.end - segment, position, entry.name)
        guard = self._guards.of(entry)
        hidden = guard.reads & reading.statement.ctes.keys()
        if hidden:
            name = min(hidden)
            raise hides(name, reading.statement.ctes[name][0], f"the condition of {entry.name}")
        self.names |= guard.reads
        start = _start_of_only(use, reading) if use.only else use.start
        _segment(rendered, start, use.end)
        name = rendered.sql[use.start : use.end]
        alias = "" if use.alias else written(use.path[-1:], self._guards.dialect)
        return segment, _Edit(start - segment, use.end - segment, position, name, guard, alias, use.only)

    def apply(self, nodes: Sequence[Node]) -> _Nodes:
        return tuple(self._applied(nodes))

    def _applied(self, nodes: Sequence[Node]) -> Iterator[Node]:
        for node in nodes:
            if isinstance(node, Clause):
                yield replace(node, children=self.apply(node.children))
            elif isinstance(node, Switch):
                yield replace(node, branches=tuple(map(self.apply, node.branches)))
            elif isinstance(node, Text) and self._found.get(id(node), (node, ()))[1]:
                yield from _cut(node, self._found[id(node)][1])
            else:
                yield node

    def shown(self, source: Source) -> str:
        sql = source.text
        every = ((text.offset, edit) for text, edits in self._found.values() for edit in edits)
        for offset, edit in sorted(every, key=lambda found: found[0] + found[1].start, reverse=True):
            if edit.guard is not None or not edit.name:
                guard = "" if edit.guard is None else edit.guard.sql(edit.alias, only=edit.only)
                sql = f"{sql[: offset + edit.start]}{guard}{sql[offset + edit.end :]}"
        return sql

    def conflicts(self) -> Iterator[PlaceholderConflict]:
        for text, edit in self._guarded():
            for conflict in edit.guard.conflicts if edit.guard is not None else ():
                yield PlaceholderConflict(conflict.character, text.offset + edit.position)

    def applied(self, source: Source) -> Iterator[AppliedGuard]:
        for text, edit in sorted(self._guarded(), key=lambda found: found[0].offset + found[1].position):
            at = source.location(max(0, text.offset) + edit.position)
            if edit.guard is None:
                yield AppliedGuard(edit.name, at.line, at.column, at.file, "", edit.name, "shared")
                continue
            sql = edit.guard.sql(edit.alias, only=edit.only)
            name, condition = edit.guard.entry.name, edit.guard.condition
            yield AppliedGuard(name, at.line, at.column, at.file, condition, sql, "guarded")

    def _guarded(self) -> Iterator[tuple[Text, _Edit]]:
        return ((text, edit) for text, edits in self._found.values() for edit in edits if edit.name)


def _cut(text: Text, edits: Sequence[_Edit]) -> Iterator[Node]:
    end = 0
    for edit in edits:
        if edit.name and edit.guard is None:  # shared
            continue
        yield from _part(text, end, edit.start)
        if edit.guard is not None:
            yield from edit.guard.nodes_at(max(0, text.offset) + edit.position, edit.alias, only=edit.only)
        end = edit.end
    yield from _part(text, end, len(text.sql))


def _part(text: Text, start: int, end: int) -> Iterator[Text]:
    if start < end:
        yield Text(text.sql[start:end], text.offset + start if text.offset >= 0 else -1)


def _segment(rendered: RenderedText, start: int, end: int) -> int:
    segment = rendered.segment(start)
    if segment.text is None or end > segment.start + len(segment.text.sql):
        fix = "write it in one piece, without a comment or a tag in it"
        raise Refused(start, "the name of this table is in several pieces", fix)
    return segment.start


def _start_of_only(use: TableUse, reading: Reading) -> int:
    before = [token for token in reading.masked.tokens if token.start < use.start]
    return before[-1].start
