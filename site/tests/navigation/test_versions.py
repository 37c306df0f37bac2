"""Versions: what each shows, and where choosing one leads."""

from __future__ import annotations

from tenantry_site.navigation import ExpandedGroup, Navigation
from tenantry_site.page import FrontMatter
from tests.navigation.site import navigation, paths

GROUPS = [
    {"group": "Start", "pages": ["start"]},
    {"group": "Use", "version": "v2", "pages": ["v2/use", {"group": "More", "pages": ["v2/only"]}]},
    {"group": "Use", "version": "v1", "pages": ["v1/use", "v1/old"]},
    {"group": "End", "pages": ["end", "late"]},
]
VERSIONS = ["v2", "v1", "v0"]


def site(groups: object = None, **fields: object) -> Navigation:
    heads = {"late": FrontMatter(version="v1")}
    return navigation(groups or GROUPS, heads, **{"versions": VERSIONS, **fields})  # type: ignore[arg-type]


def titles(made: Navigation, path: str) -> list[str]:
    drawn = made.sidebar(made.view(path).scope).nodes(path)
    return [
        f"{node.branch.title} {sorted(node.branch.versions or '')}" for node in drawn if isinstance(node, ExpandedGroup)
    ]


def test_a_version_hides_groups_nested_groups_and_pages() -> None:
    """A page without one is in all. Red when a nested group forgets the version of the group around it."""
    made = site()
    found = {path: made.versions(path) for path in (*made.order, *made.unlisted)}
    assert found == {
        "start": None,
        "v2/use": {0},
        "v2/only": {0},
        "v1/use": {1},
        "v1/old": {1},
        "end": None,
        "late": {1},
    }


def test_the_sidebar_of_a_versioned_page_has_nothing_of_others() -> None:
    """And that of a page in all versions has everything, marked."""
    assert titles(site(), "v2/use") == ["Start []", "Use [0]", "End []"]
    assert titles(site(), "start") == ["Start []", "Use [0]", "Use [1]", "End []"]


def test_the_steps_stay_within_the_version() -> None:
    """A page in all versions has a step for each. Red when the neighbours are those of the file."""
    made = site()
    assert paths(made.view("v2/only").next) == ["end"]
    assert paths(made.view("v1/use").previous) == ["start"]
    assert [(step.path, sorted(step.versions or ())) for step in made.view("start").next] == [
        ("v2/use", [0]),
        ("v1/use", [1]),
        ("end", [2]),
    ]
    assert [(step.path, sorted(step.versions or ())) for step in made.view("end").next] == [("late", [1])]


def test_choosing_a_version_leads_to_the_same_page_or_its_first() -> None:
    """In the order of the file; without a script it is a link."""
    chosen = [(each.name, each.path, each.current, each.stays) for each in site().choices("v2/use")]
    assert chosen == [("v2", "v2/use", True, True), ("v1", "v1/use", False, False), ("v0", "start", False, False)]
    assert [each.path for each in site().choices("v2/only")] == ["v2/only", "v1/use", "start"]


def test_a_page_in_all_versions_shows_the_first_and_can_stay() -> None:
    """Without a script, choosing another leads to what that one begins with."""
    chosen = [(each.path, each.current, each.stays) for each in site().choices("start")]
    assert chosen == [("start", True, True), ("v1/use", False, True), ("start", False, True)]


def test_a_version_may_live_elsewhere() -> None:
    """As an address of its own."""
    made = site(versions=["v2", {"name": "v1", "url": "https://v1.example"}, "v0"])
    old = made.choices("start")[1]
    assert (old.url, old.stays) == ("https://v1.example", False)


def test_a_page_in_two_groups_is_in_the_versions_of_both() -> None:
    """Red when the last place wins."""
    groups = [{"group": name, "version": name, "pages": ["both", f"{name}/own"]} for name in ("v2", "v1")]
    made = site(groups)
    assert made.versions("both") == {0, 1}
    assert [(step.path, sorted(step.versions or ())) for step in made.view("both").next] == [
        ("v2/own", [0]),
        ("v1/own", [1]),
    ]


def test_a_version_within_another_is_never_shown() -> None:
    """The page stays reachable. Red when the inner version wins."""
    groups = [{"group": "A", "version": "v2", "pages": ["x", {"group": "B", "version": "v1", "pages": ["y"]}]}]
    assert site(groups).order == ("x",)
    assert "y" in site(groups).unlisted


def test_a_version_that_is_not_listed_hides_nothing() -> None:
    """It could never be chosen."""
    assert site([{"group": "A", "version": "v9", "pages": ["x"]}]).versions("x") is None


def test_an_anchor_of_a_version() -> None:
    """It is hidden in the others, and its pages are of its version unless they say otherwise."""
    made = site(anchors=[{"name": "Old", "url": "v1", "version": "v1"}, {"name": "End", "url": "end", "version": "v1"}])
    assert [each.name for each in made.anchors(made.view("v2/use").scope)] == ["Documentation"]
    assert [(each.name, each.versions) for each in made.anchors(made.view("start").scope)][1] == ("Old", {1})
    assert made.versions("end") == {1}
    away = site(anchors=[{"name": "Old", "url": "https://old.example", "version": "v1"}])
    assert [each.name for each in away.anchors(away.view("v2/use").scope)] == ["Documentation"]
    assert [each.name for each in away.anchors(away.view("v1/use").scope)] == ["Documentation", "Old"]


def test_a_tab_leads_to_what_the_version_has() -> None:
    """Several targets on a page in all versions, each for its own; none in a version without pages there."""
    made = site(tabs=[{"name": "Two", "url": "v2"}, {"name": "One", "url": "v1"}])
    drawn = {tab.name: [(to.path, to.versions) for to in tab.targets] for tab in made.tabs(made.view("start").scope)}
    assert drawn == {"Documentation": [("start", None)], "Two": [("v2/use", {0})], "One": [("v1/use", {1})]}
    assert [tab.name for tab in made.tabs(made.view("v1/use").scope)] == ["Documentation", "One"]


def test_without_versions_there_is_nothing_to_choose() -> None:
    """The dropdown is for sites with versions only."""
    assert site(versions=[]).choices("start") == ()
