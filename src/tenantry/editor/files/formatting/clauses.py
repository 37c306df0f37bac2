from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tenantry.editor.files.formatting.atoms import Atom, Group, Node

LISTS: Final = frozenset({"select", "group", "order", "values", "window", "settings", "returning"})
CONDITIONS: Final = frozenset({"where", "prewhere", "having", "qualify", "join"})
_ALONE: Final = frozenset({"where", "prewhere", "having", "qualify", "window", "limit", "offset", "fetch", "settings"})
_WITH_BY: Final = frozenset({"group", "order"})
_SETS: Final = frozenset({"union", "intersect", "except", "minus"})
_JOINS: Final = frozenset(
    (
        *("join", "natural", "left", "right", "full", "inner", "cross", "outer"),
        *("any", "all", "asof", "semi", "anti", "global", "positional", "straight_join"),
    )
)


def first_atom(node: Node) -> Atom:
    return node.opening if isinstance(node, Group) else node


def clauses(nodes: Sequence[Node]) -> list[tuple[list[Node], list[Node]]]:
    """Return keywords and body of each clause. Comments before the first keyword are a clause without keywords."""
    found: list[tuple[list[Node], list[Node]]] = []
    at = 0
    while at < len(nodes):
        count = _keywords(nodes, at, is_first=all(not keywords for keywords, _ in found))
        if count or not found or _is_clause(nodes[at]):
            found.append((list(nodes[at : at + count]), []))
        if not count:
            found[-1][1].append(nodes[at])
        at += count or 1
    return found


def items(nodes: Sequence[Node]) -> list[list[Node]]:
    """Split at commas. An item ends with its comma, and with any comment after the comma on the same line."""
    found: list[list[Node]] = [[]]
    is_complete = False
    for node in nodes:
        atom = first_atom(node)
        if is_complete and not (atom.is_comment and not atom.begins_line):
            found.append([])
            is_complete = False
        found[-1].append(node)
        is_complete = is_complete or (isinstance(node, Atom) and node.word == ",")
    return found


def conditions(nodes: Sequence[Node]) -> list[list[Node]]:
    """Split before ``and`` and ``or``, and around optional clauses."""
    found: list[list[Node]] = [[]]
    in_between = after_clause = False
    for node in nodes:
        word = first_atom(node).word
        joins = word == "or" or (word == "and" and not in_between)
        if found[-1] and (joins or word == "[[" or after_clause):
            found.append([])
        in_between = word == "between" or (in_between and word != "and")
        after_clause = word == "[["
        found[-1].append(node)
    return found


def alternatives(nodes: Sequence[Node]) -> list[list[Node]]:
    """Split before ``when`` and ``else``."""
    found: list[list[Node]] = [[]]
    for node in nodes:
        if first_atom(node).word in {"when", "else"}:
            found.append([])
        found[-1].append(node)
    return found


def _is_clause(node: Node) -> bool:
    return isinstance(node, Group) and node.opening.word == "[[" and _keywords(node.nodes, 0, is_first=False) > 0


def _keywords(nodes: Sequence[Node], at: int, *, is_first: bool) -> int:
    """Return the number of keywords that begin a clause at this node."""
    words = [first_atom(each).word for each in nodes[at : at + 6]]
    word = words[0] if words else ""
    before = [first_atom(each).word for each in nodes[max(at - 2, 0) : at]]
    if word == "select":
        return 2 if words[1:2] in (["distinct"], ["all"]) else 1
    if word in {"with", "values"}:
        return 1 if is_first else 0
    if word == "from":
        return 0 if before[-1:] == ["distinct"] and before[:1] in (["is"], ["not"]) else 1
    if word in _SETS:
        count = 2 if words[1:2] in (["all"], ["distinct"]) else 1
        return count if words[count : count + 1] and words[count] in {"select", "with", "values", "("} else 0
    if word in _WITH_BY:
        return 2 if words[1:2] == ["by"] else 0
    joins = next((number for number, each in enumerate(words) if each not in _JOINS), len(words))
    if "join" in words[:joins]:
        return words.index("join") + 1
    return 1 if word in _ALONE else 0
