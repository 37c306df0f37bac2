"""Whether every link leads somewhere."""

from __future__ import annotations

from tenantry_site.addresses import Addresses
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.outputs.links import check, page_links
from tenantry_site.page import Page
from tenantry_site.suggestions import PathSuggestions
from tests.outputs.pages import page


def reported(*pages: Page, files: tuple[str, ...] = (), moved: tuple[str, ...] = ()) -> list[Diagnostic]:
    addresses = Addresses([each.path for each in pages], files)
    kept = [page_links(each, addresses) for each in pages]
    return list(check(kept, addresses, "index", lambda path: path in moved))


def test_links_that_lead_somewhere_are_passed_over() -> None:
    """Red when a file, a folder's index, a heading, the top, or an old address is called missing."""
    targets = ("./b", "/guides/b.mdx", "/guides", "b#Deep-down".lower(), "#here", "#top", "../logo.svg", "/old", "?a=1")
    here = page("guides/a", ("Here", ""), links=targets)
    there = page("guides/b", ("Deep down", ""))
    assert reported(here, there, page("guides/index"), page("index"), files=("logo.svg",), moved=("old",)) == []


def test_a_path_without_a_slash_may_be_one_from_the_root() -> None:
    """What the page's folder has comes first. Red when links that authors write so are called missing."""
    links = ("guides/b", "a.png", "c#here", "./guides/b")
    places = [page("guides/b"), page("c", ("Here", "")), page("start/c", ("Here", ""))]
    found = reported(page("start/a", links=links), *places, files=("a.png",))
    assert [each.line for each in found] == [4]
    addresses = Addresses([each.path for each in places], ())
    assert addresses.resolve("start/a", "c").path == "start/c"
    assert addresses.resolve("start/a", "guides/b").href == "../guides/b.html"


def test_a_link_to_a_folder_is_resolved_to_its_page() -> None:
    """Red when the nearest name is taken, or none."""
    places = [page(f"guides/roles/{name}") for name in ("assign", "overview")]
    (found,) = reported(page("start/a", links=("guides/roles",)), *places)
    assert "/guides/roles/overview?" in found.fix


def test_a_missing_page_is_reported_with_position_and_fix() -> None:
    """Red when the line or the nearest page is lost."""
    found = reported(page("a", links=("/x", "/guides/getting_started")), page("start/getting-started"))
    assert [(each.code, each.path, each.line) for each in found] == [("LINK001", "a.mdx", 1), ("LINK001", "a.mdx", 2)]
    assert "start/getting-started" in found[1].fix


def test_a_missing_heading_is_reported() -> None:
    """Red when fragments are not looked at, or ids within an attribute's value count."""
    there = page("b", ("Set up", ""))
    found = reported(page("a", links=("b#setup", "b#set-up", "b#x")), there)
    assert [(each.code, each.line) for each in found] == [("LINK002", 1), ("LINK002", 3)]
    assert "#set-up" in found[0].fix


def test_a_link_out_of_the_folder_is_reported() -> None:
    """Red when it is called a missing page."""
    assert [each.code for each in reported(page("a", links=("../../etc/passwd",)))] == ["LINK003"]


def test_the_first_page_is_the_root() -> None:
    """Red when /#x is not looked for on the first page."""
    for home in ("index", "start"):
        here = page(home, ("Here", ""), links=("/#here", "/#there"))
        addresses = Addresses([home], ())
        assert [each.line for each in check([page_links(here, addresses)], addresses, home)] == [2]


def test_a_folder_in_common_makes_no_neighbours() -> None:
    """Red when the first file of a long folder is proposed for any other."""
    near = PathSuggestions(
        ["introduction/tutorials/prompts/test-variables.png", "introduction/tutorials/prompts/commits.png"]
    )
    assert near.find("introduction/tutorials/prompts/new-modal.png") is None
    assert near.find("introduction/tutorials/prompts/commit.png") == "introduction/tutorials/prompts/commits.png"


def test_many_broken_links_are_reported_quickly() -> None:
    """Red when each of them is compared with every page letter by letter."""
    near = PathSuggestions(["guides/alphabet"])
    assert near.find("guides/alphabte") == "guides/alphabet"
    for number in range(50):
        assert near.find(f"x{number}") is None
    assert near.find("guides/alphbaet") is None  # it no longer looks
    assert near.find("guides/alphabte") == "guides/alphabet"
    assert near.find("old/Alphabet.mdx") == "guides/alphabet"
