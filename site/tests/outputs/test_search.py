"""The search index, read as a browser reads it."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site.outputs.search_index import SearchIndex
from tenantry_site.outputs.search_page import SECTIONS, SearchPart, search_parts
from tenantry_site.page import Page
from tests.outputs.pages import page
from tests.outputs.reading import Index

Parts = dict[str, tuple[SearchPart, ...]]


def index(*pages: Page, labels: dict[str, str] | None = None) -> Index:
    made = SearchIndex()
    made.fill({each.path: search_parts(each) for each in pages}, labels or {})
    return Index(dict(made.files()))


def test_title_before_heading_before_text() -> None:
    """Red when a word counts the same wherever it stands."""
    found = index(
        page("text", ("", "how to rotate a token"), title="A"),
        page("heading", ("", "nothing"), ("Rotate", "it")),
        page("title", ("", "nothing here"), title="Rotate a token"),
    ).find("rotate")
    assert [each[0] for each in found] == ["title", "heading", "text"]
    assert found[1][1] == "Rotate"


def test_a_result_leads_to_the_section() -> None:
    """Red when the section is that of the first time instead of the most times."""
    found = index(page("x", ("", "cache"), ("Store", "cache cache cache"), ("End", "cache"))).find("cache")
    assert found[0][:2] == ("x", "Store")


def test_a_long_page_is_in_parts() -> None:
    """Red when a section after the first fifteen cannot be led to."""
    many = page("long", ("", "intro"), *((f"Part {number}", f"word{number}") for number in range(40)))
    made = index(many)
    assert made.head["count"] == 3
    assert [made.find(f"word{number}")[0][1] for number in (0, SECTIONS, 39)] == ["Part 0", "Part 15", "Part 39"]


def test_a_page_that_asks_not_to_be_found_is_not() -> None:
    """Red when noindex is not honoured."""
    assert index(page("secret", ("", "treasure"), noindex=True), page("x", ("", "y"))).find("treasure") == []


def test_code_by_parts_and_whole() -> None:
    """Red when names of code are cut only, or not at all."""
    made = index(page("x", ("", "send USER_GROUP_TOKEN to /api/user")))
    for word in ("user", "group", "token", "userGroupToken", "USER_GROUP_TOKEN", "api"):
        assert made.find(word), word


def test_ids_are_kept() -> None:
    """Red when an id that is not made of the title is lost."""
    plain = page("x", ("", "y"), ("Überblick", "cosmos"))
    made = index(plain, labels={"x": "Guides"})
    assert made.find("cosmos")[0][1] == "Überblick"


def words_of(seed: int, count: int) -> str:
    dice = random.Random(seed)
    return " ".join(f"w{int(dice.paretovariate(0.4)) % 6000}" for _ in range(count))


def synthetic(count: int) -> list[Page]:
    return [
        page(
            f"guides/page-{number}",
            *((f"Heading {number} {at}" if at else "", words_of(number * 9 + at, 60)) for at in range(6)),
        )
        for number in range(count)
    ]


def test_a_query_loads_little_of_a_large_site() -> None:
    """500 pages: at most 50 KB for a word with its ten best results. Red when a file of words grows to 40 KB."""
    pages = synthetic(500)
    made = index(*pages)
    text = sum(len(section.text) for each in pages for section in each.sections)
    assert sum(map(len, made.files.values())) < text / 3  # of words drawn by lot; real text repeats itself more
    lines = made.lines("w77")
    assert "w77" in lines
    for part in range(0, 500, 50):
        made._load(f"search/{made.head['parts'][part // made.head['each']]}")
    assert sum(made.loaded.values()) < 50_000
    assert max(map(len, made.files.values())) < 12_000


def test_a_word_of_every_page_costs_nothing() -> None:
    """In a large site it is kept where it stands out. Red when every place of it is listed."""
    pages = [page(f"p{number}", ("", f"the word{number} of the page")) for number in range(100)]
    pages.append(page("best", ("", "x"), title="The the"))
    made = index(*pages)
    assert made.lines("the")["the"][0]
    assert [each[0] for each in made.find("the")] == ["best"]
    few = index(*pages[:20])
    assert len(few.find("the")) == 20


EDITS = st.lists(
    st.tuples(st.integers(0, 5), st.lists(st.sampled_from(["ant", "bee", "cat", "dog", "ant_bee"]), max_size=6)),
    min_size=1,
    max_size=6,
)


@given(EDITS)
@settings(max_examples=examples(60))
def test_an_index_that_was_changed_is_as_a_new_one(edits: list[tuple[int, list[str]]]) -> None:
    """Red when a word that left a page is still listed there, or a kept line is stale."""
    pages = {f"p{number}": page(f"p{number}", ("", "ant dog"), ("More", "bee")) for number in range(6)}
    live = SearchIndex()
    parts: Parts = {path: search_parts(each) for path, each in pages.items()}
    live.fill(parts, {})
    dict(live.files())
    for number, found in edits:
        path = f"p{number}"
        pages[path] = page(path, ("", " ".join(found)), ("More", "cat"))
        parts = {**parts, path: search_parts(pages[path])}
        live.fill(parts, {})
    fresh = SearchIndex()
    fresh.fill({path: search_parts(each) for path, each in pages.items()}, {})
    assert dict(live.files()) == dict(fresh.files())


def test_nothing_changed_is_reported() -> None:
    """Red when an index that is as it was is written again."""
    made = SearchIndex()
    parts = {"x": search_parts(page("x", ("", "y")))}
    assert made.fill(parts, {})
    assert not made.fill(dict(parts), {})
    assert made.fill(parts, {"x": "Guides"})
