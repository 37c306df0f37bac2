"""The order of the pages, what they are called, and who their neighbours are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.corpus import CORPUS, needs_corpus
from engines.hypothesis_profile import examples
from tenantry_site.config import loads
from tenantry_site.navigation import ExpandedGroup, GroupEntry, Navigation, PageEntry
from tenantry_site.navigation.tree import method_of
from tenantry_site.page import FrontMatter, title_of_path
from tests.navigation.site import named, navigation, paths

GROUPS = [
    {"group": "Start", "pages": ["welcome", "/install.mdx", "missing", "welcome"]},
    {"group": "Deep", "pages": ["a", {"group": "Inner", "icon": "key", "pages": ["b", {"group": "", "pages": ["c"]}]}]},
    {"group": "Empty", "pages": ["gone"]},
]
HEADS = {path: FrontMatter(title=path.title()) for path in ("welcome", "install", "a", "b", "c", "hidden")}


def site(**heads: FrontMatter) -> Navigation:
    given = navigation(GROUPS, HEADS | heads)
    return Navigation(given._config, HEADS | heads)


def test_pages_come_in_the_order_of_the_file() -> None:
    """Each once, normalised, without what does not exist."""
    assert site().order == ("welcome", "install", "a", "b", "c")
    assert site().unlisted == ("hidden",)
    assert site().home == "welcome"
    assert site(index=FrontMatter()).home == "index"


def test_the_neighbours_of_a_page() -> None:
    """Previous and next go through the groups. Red when a page that is listed twice is its own neighbour."""
    view = site().view("b")
    assert (paths(view.previous), paths(view.next)) == (["a"], ["c"])
    assert [branch.title for branch in view.trail] == ["Deep", "Inner"]
    assert site().view("welcome").previous == ()
    assert paths(site().view("welcome").next) == ["install"]
    assert site().view("c").next == ()


def test_a_page_that_is_not_listed_is_reachable() -> None:
    """It has no neighbours, and the sidebar of its part."""
    view = site().view("hidden")
    assert (view.listed, view.previous, view.next, view.trail) == (False, (), (), ())
    assert len(site().sidebar(view.scope).nodes("hidden")) == 2


def test_groups_without_pages_are_left_out_and_nested_ones_stay() -> None:
    """A label may be empty; icons stay."""
    drawn = site().sidebar(site().view("a").scope).nodes("a")
    assert [node.branch.title for node in drawn if isinstance(node, ExpandedGroup)] == ["Start", "Deep"]
    deep = drawn[1]
    assert isinstance(deep, ExpandedGroup)
    inner = deep.nodes[1]
    assert isinstance(inner, ExpandedGroup)
    assert (inner.branch.title, inner.branch.icon) == ("Inner", "key")
    assert isinstance(inner.nodes[1], ExpandedGroup)


def test_a_reference_to_a_folder_means_its_index() -> None:
    """``guides`` is ``guides/index`` where there is no page ``guides``, and ``/`` is ``index``."""
    heads = {"guides/index": FrontMatter(), "index": FrontMatter()}
    made = Navigation(navigation([{"group": "G", "pages": ["/", "guides", "../out"]}])._config, heads)
    assert made.order == ("index", "guides/index")


@pytest.mark.parametrize(
    ("head", "title", "method"),
    [
        (FrontMatter(title="Long", sidebar_title="Short"), "Short", ""),
        (FrontMatter(title="Long"), "Long", ""),
        (FrontMatter(), "Get users", ""),
        (FrontMatter(api="get /users"), "Get users", "GET"),
        (FrontMatter(openapi="v2.json POST /users"), "Get users", "POST"),
        (FrontMatter(api="/users"), "Get users", ""),
        (FrontMatter(api="GET /users", hide_api_marker=True), "Get users", ""),
    ],
)
def test_what_an_entry_means(head: FrontMatter, title: str, method: str) -> None:
    """sidebarTitle before title before the file's name; the method of an API page unless it is hidden."""
    made = navigation([{"group": "G", "pages": ["api/get-users"]}], {"api/get-users": head})
    (group,) = made.sidebar(made.view("api/get-users").scope).nodes("api/get-users")
    assert isinstance(group, ExpandedGroup)
    (page_entry,) = group.nodes
    assert isinstance(page_entry, PageEntry)
    assert (page_entry.title, page_entry.method) == (title, method)


def test_words_and_methods() -> None:
    """Names of files as people write them."""
    assert title_of_path("a/getting-started") == "Getting started"
    assert title_of_path("API_keys") == "API keys"
    assert title_of_path("guides/index") == "Guides"
    assert title_of_path("-") == "Untitled"
    assert method_of("Delete /x") == "DELETE"
    assert method_of("") == ""


def test_an_entry_that_leads_elsewhere_is_no_neighbour() -> None:
    """``url`` in a page's head. Red when previous or next leads through it."""
    made = site(install=FrontMatter(url="https://elsewhere.example"))
    assert paths(made.view("welcome").next) == ["a"]
    assert paths(made.view("a").previous) == ["welcome"]
    assert site(welcome=FrontMatter(url="https://elsewhere.example")).home == "install"


@needs_corpus
def test_every_real_configuration_has_a_navigation() -> None:
    """70 files: each page has a view, its sidebar has it, and the steps forward go through each part once."""
    seen = 0
    for file in sorted((CORPUS / "site_config").glob("*.json")):
        config, _ = loads(file.read_bytes())
        if config is None:
            continue
        heads = dict.fromkeys(_named(config.navigation), FrontMatter())
        made = Navigation(config, heads)
        for path in made.order:
            view = made.view(path)
            assert view.listed
            assert made.sidebar(view.scope).trail(path), (file.name, path)
            made.tabs(view.scope)
            made.anchors(view.scope)
            made.choices(path)
        steps = sum(len(made.view(path).next) for path in made.order)
        parts = {made.view(path).scope for path in made.order}
        assert config.versions or steps == len(made.order) - len(parts), file.name
        seen += 1
    assert seen > 50


def _named(groups: object) -> list[str]:
    found: list[str] = []
    for member in groups:  # type: ignore[attr-defined]
        found += (
            [member.strip("/").removesuffix(".mdx").removesuffix(".md")]
            if isinstance(member, str)
            else _named(member.pages)
        )
    return [path for path in found if path and ".." not in path]


_PAGES = st.recursive(
    st.sampled_from(["a", "b/c", "/b/d.mdx", "./e", "../out", "b", "x y", "", "https://h.example/p"]),
    lambda inner: st.fixed_dictionaries(
        {"group": st.sampled_from(["", "G"]), "pages": st.lists(inner, max_size=4)},
        optional={"version": st.sampled_from(["v1", "v2", "other"])},
    ),
    max_leaves=12,
)
_GROUPS = st.lists(
    st.fixed_dictionaries({"group": st.text(max_size=3), "pages": st.lists(_PAGES, max_size=4)}), max_size=4
)


@settings(max_examples=examples(120), deadline=None)
@given(_GROUPS, st.sets(st.sampled_from(["a", "b/c", "b/d", "e", "b", "b/index", "index", "h"])), st.data())
def test_any_navigation_has_an_answer_for_every_page(
    groups: list[dict[str, object]], pages: set[str], data: st.DataObject
) -> None:
    """Never an exception, and each step forward has a step back."""
    some = st.sampled_from(["", "v1", "v2", "other"])
    heads = {path: FrontMatter(version=data.draw(some)) for path in sorted(pages)}
    urls = st.sampled_from(["b", "a", "/", "b/c", "https://x.example", ":", "..", ""])
    fields = {
        "tabs": [{"name": "T", "url": data.draw(urls)} for _ in range(2)],
        "anchors": [{"name": "A", "url": data.draw(urls), "version": data.draw(some)}],
        "versions": data.draw(st.sampled_from([[], ["v1"], ["v1", "v2"]])),
    }
    made = Navigation(navigation(groups, **fields)._config, heads)
    assert sorted((*made.order, *made.unlisted)) == sorted(heads)
    for path in heads:
        view = made.view(path)
        made.sidebar(view.scope).nodes(path)
        made.tabs(view.scope)
        made.anchors(view.scope)
        assert len(made.choices(path)) == len(fields["versions"])
        for step in view.next:
            assert step.path != path
            assert path in paths(made.view(step.path).previous) or view.scope != made.view(step.path).scope


def test_a_branch_counts_its_entries() -> None:
    """At any depth."""
    trail = site().view("c").trail
    assert [branch.size for branch in trail] == [3, 2, 1]
    assert all(isinstance(branch, GroupEntry) for branch in trail)
    assert named(GROUPS)[0] == "welcome"
