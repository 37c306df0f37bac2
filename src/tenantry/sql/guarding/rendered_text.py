"""RenderedText: the SQL of a tree for one combination of clauses and branches, with the origin of each character."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

from tenantry.sql.syntax_tree import Clause, Concat, InList, Node, Switch, Text, Value, walk

PLACEHOLDER = "1"
"""The SQL that takes the place of each placeholder, so that the SQL can be parsed."""

Decide: TypeAlias = Callable[[Clause | Switch | InList], int]
"""Decides how a node is rendered. Returns a branch's number for a Switch, 1 (include) or 0 (drop) for a Clause, and any
number for a list."""


class RenderedPart(NamedTuple):
    start: int
    text: Text | None
    """The node from which this part was rendered; None for a placeholder, and for a space between nodes."""
    offset: int
    """Offset of the part's first character in the template."""


@dataclass(slots=True)
class RenderedText:
    sql: str = ""
    segments: list[RenderedPart] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    def segment(self, position: int) -> RenderedPart:
        return self.segments[max(0, bisect_right(self._starts, position) - 1)]

    def offset(self, position: int) -> int:
        """Convert a position in ``sql`` to an offset in the template."""
        if not self.segments:  # a template without SQL
            return 0
        found = self.segment(position)
        exact = found.text is not None and not found.text.of_guard and found.text.offset >= 0
        return found.offset + (position - found.start if exact else 0)

    def is_of_guard(self, position: int) -> bool:
        text = self.segment(position).text
        return text is not None and text.of_guard

    def is_of_condition(self, position: int) -> bool:
        text = self.segment(position).text
        return text is not None and text.of_condition


def render(nodes: Sequence[Node], decide: Decide, placeholder: str = PLACEHOLDER) -> RenderedText:
    """Return the SQL with the clauses and branches that ``decide`` chooses. Each list is rendered with one item."""
    rendered = RenderedText()
    parts: list[str] = []
    length = 0
    for part, text, offset in _parts(nodes, decide, 0, placeholder):
        rendered.segments.append(RenderedPart(length, text, offset))
        rendered._starts.append(length)
        parts.append(part)
        length += len(part)
    rendered.sql = "".join(parts)
    return rendered


def _parts(
    nodes: Sequence[Node], decide: Decide, offset: int, placeholder: str = PLACEHOLDER
) -> Iterator[tuple[str, Text | None, int]]:
    for node in nodes:
        if isinstance(node, Text):
            offset = node.offset if node.offset >= 0 else offset
            yield node.sql, node, offset
        elif isinstance(node, Clause):
            included = decide(node)
            yield node.opening if included else node.dropped, None, node.offset
            if included:
                yield from _parts(node.children, decide, node.offset, placeholder)
                yield node.closing, None, node.offset
            else:
                _skip(node.children, decide)
        elif isinstance(node, Switch):
            chosen, offset = decide(node), node.reference.offset
            for number, branch in enumerate(node.branches):
                if number == chosen:
                    yield from _parts(branch, decide, offset, placeholder)
                else:
                    _skip(branch, decide)
        elif isinstance(node, InList):
            decide(node)
            yield f"{node.operator} ({placeholder})", None, node.reference.offset
        else:
            yield placeholder, None, _offset(node, offset)


def _skip(nodes: Sequence[Node], decide: Decide) -> None:
    # Calls `decide` for dropped SQL too, because a Renderer's key has numbers for it.
    for _ in _parts(nodes, decide, 0):
        pass


def _offset(node: Value | Concat, before: int) -> int:
    if isinstance(node, Value):
        return node.reference.offset
    return next((each.offset for each in node.parts if not isinstance(each, str)), before)


# --- combinations that contain everything at least once ---------------------------------------------------------------

_Choices: TypeAlias = dict[int, int]  # id of a Switch → number of a branch
_FEW: Final = 8
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\s+(?:asc|desc))?", re.IGNORECASE)


def combinations(nodes: Sequence[Node], *, every: bool) -> Iterator[Decide]:
    """Yield Decide functions that include every clause and, together, choose every branch. If there are clauses, the
    last function drops them all.

    Without ``every``, some branches are left out: all but the longest of those that a filter wrote around a column,
    and all but the first of many plain names.
    """
    choices = _choices(nodes, every=every) or [{}]
    yield from (_decide(each, included=1) for each in choices)
    if any(isinstance(node, Clause) for node, _ in walk(nodes)):
        yield _decide(choices[0], included=0)


def _decide(choices: Mapping[int, int], *, included: int) -> Decide:
    return lambda node: choices.get(id(node), 0) if isinstance(node, Switch) else included


def _choices(nodes: Sequence[Node], *, every: bool) -> list[_Choices]:
    merged: list[_Choices] = []
    for node in nodes:
        found: list[_Choices] = []
        if isinstance(node, Clause):
            found = _choices(node.children, every=every)
        elif isinstance(node, Switch):
            for number in _branches(node, every=every):
                found += [{**each, id(node): number} for each in _choices(node.branches[number], every=every) or [{}]]
        if found:
            pairs = zip_longest(merged, found)
            merged = [{**(one or (merged or [{}])[0]), **(other or found[0])} for one, other in pairs]
    return merged


def _branches(node: Switch, *, every: bool) -> list[int]:
    if node.of_column and not every:
        return [max(range(len(node.branches)), key=lambda number: _length(node.branches[number]))]
    skipped = set() if every else set(_plain_branches(node)[1:])
    return [number for number in range(len(node.branches)) if number not in skipped]


def _length(nodes: Sequence[Node]) -> int:
    return sum(len(node.sql) for node, _ in walk(nodes) if isinstance(node, Text))


def skipped_branches(nodes: Sequence[Node]) -> Iterator[Text]:
    """Of many branches that are plain names, ``combinations`` tries only the first. Yield this name: if it is a
    table, the others may be tables, too."""
    for node, _ in walk(nodes):
        if isinstance(node, Switch):
            first = (node.branches[number][0] for number in _plain_branches(node)[:1])
            yield from (text for text in first if isinstance(text, Text))


def _plain_branches(node: Switch) -> list[int]:
    plain = [number for number, branch in enumerate(node.branches) if _is_plain(branch)]
    return plain if len(plain) > _FEW else []


def _is_plain(branch: Sequence[Node]) -> bool:
    return len(branch) == 1 and isinstance(branch[0], Text) and _PLAIN.fullmatch(branch[0].sql.strip()) is not None
