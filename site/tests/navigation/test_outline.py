"""A page weighs the same however many pages there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenantry_site.navigation import CollapsedGroup, ExpandedGroup, Navigation, OmittedEntries, PageEntry, SidebarNode
from tests.navigation.site import navigation


def site(groups: int, each: int) -> Navigation:
    return navigation([{"group": f"G{g}", "pages": [f"g{g}/p{n}" for n in range(each)]} for g in range(groups)])


def draw(made: Navigation, path: str) -> tuple[SidebarNode, ...]:
    return made.sidebar(made.view(path).scope).nodes(path)


def flat(nodes: Iterable[SidebarNode]) -> list[SidebarNode]:
    found: list[SidebarNode] = []
    for node in nodes:
        found += [node, *flat(node.nodes)] if isinstance(node, ExpandedGroup) else [node]
    return found


def key(made: Navigation, path: str) -> Any:
    return made.sidebar(made.view(path).scope).key(path)


def test_a_small_part_is_drawn_whole_and_once() -> None:
    """All its pages share one drawing."""
    made = site(15, 10)
    assert len([node for node in flat(draw(made, "g3/p3")) if isinstance(node, PageEntry)]) == 150
    assert key(made, "g3/p3") == key(made, "g9/p1") is None


def test_a_large_part_unfolds_the_open_group_only() -> None:
    """The others lead to their first page. Red when the budget is ignored."""
    made = site(16, 10)
    drawn = draw(made, "g3/p3")
    opened = [node.branch.title for node in drawn if isinstance(node, ExpandedGroup)]
    folded = [(node.branch.title, node.first.path) for node in drawn if isinstance(node, CollapsedGroup)]
    assert opened == ["G3"]
    assert len(folded) == 15
    assert folded[0] == ("G0", "g0/p0")
    assert key(made, "g3/p3") == key(made, "g3/p4") != key(made, "g4/p0")


def test_a_long_list_is_drawn_around_the_open_page() -> None:
    """With a link to what is before, and to what is after; neighbours share a drawing. Red without the window."""
    made = site(1, 500)
    (group,) = draw(made, "g0/p250")
    assert isinstance(group, ExpandedGroup)
    before, *shown, after = group.nodes
    assert isinstance(before, OmittedEntries)
    assert isinstance(after, OmittedEntries)
    assert (before.count, before.nearest.path, before.earlier) == (230, "g0/p229", True)
    assert (after.count, after.nearest.path, after.earlier) == (170, "g0/p330", False)
    assert [node.path for node in shown if isinstance(node, PageEntry)] == [f"g0/p{n}" for n in range(230, 330)]
    assert key(made, "g0/p240") == key(made, "g0/p319") != key(made, "g0/p320")


def test_the_open_page_is_always_drawn_and_little_else() -> None:
    """In a part of ten pages as in one of thousands."""
    for groups, each in ((2, 5), (8, 20), (3000, 1), (40, 50), (1, 2000)):
        made = site(groups, each)
        for path in made.order[:: max(1, len(made.order) // 23)]:
            drawn = flat(draw(made, path))
            assert path in {node.path for node in drawn if isinstance(node, PageEntry)}
            assert len(drawn) <= 205


def test_every_page_can_be_reached_from_every_other_by_links_of_sidebars() -> None:
    """What is not drawn is behind a link to its nearest page."""
    made = site(3, 300)
    seen, open_ = {"g1/p150"}, ["g1/p150"]
    while open_:
        for node in flat(draw(made, open_.pop())):
            match node:
                case PageEntry():
                    path = node.path
                case CollapsedGroup():
                    path = node.first.path
                case OmittedEntries():
                    path = node.nearest.path
                case _:
                    continue
            if path not in seen:
                seen.add(path)
                open_.append(path)
    assert seen == set(made.order)
