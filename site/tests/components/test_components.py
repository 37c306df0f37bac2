"""Each component and its attributes, as HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tenantry_site.components import CODES, COMPONENTS, markup
from tenantry_site.page import CodeBlock, Element, Fragment
from tests.components.paper import code, drawn, element
from tests.components.showcase import everything

TWENTY_FIVE = (
    "Card CardGroup Warning Note Accordion AccordionGroup Info Tip CodeGroup Steps Step Tabs Tab Frame ParamField"
    " ResponseField Expandable ResponseExample RequestExample Check Update Icon Snippet Tooltip Callout"
)

VOID = {"br", "img", "hr", "source"}


class Tree(HTMLParser):
    """Whether tags are closed in order, and which attributes there are."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.wrong: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_all_twenty_five_are_there() -> None:
    assert set(TWENTY_FIVE.split()) <= set(COMPONENTS)
    assert {"Columns", "Column", "Danger", "Badge"} <= set(COMPONENTS)


def test_the_whole_page_is_well_formed_and_reports_nothing() -> None:
    """Tags in order, ids once, no style or handler, no diagnostic. Red when two tabs of one title share an id."""
    html, paper = drawn(*everything(), shared=(Fragment("<p>Shared.</p>"),))
    tree = Tree(html)
    assert (tree.open, tree.wrong, paper.notes) == ([], [], [])
    ids = [value for _, name, value in tree.attributes if name == "id"]
    assert len(ids) == len(set(ids)) > 20
    assert {value for _, name, value in tree.attributes if name == "aria-describedby"} <= set(ids)
    assert [name for _, name, _ in tree.attributes if name == "style" or name.startswith("on")] == []
    assert type(COMPONENTS["Note"](element("Note", "x"), paper)) is str  # Markup would escape what it is added to


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
ATTRIBUTES = (
    "title icon href iconType horizontal color img cols defaultOpen description titleSize stepNumber caption body path"
    " query header name type required default optional placeholder deprecated file tip label tags id cta size hint"
    " headline"
)


@pytest.mark.parametrize("name", sorted(COMPONENTS))
@pytest.mark.parametrize(
    "value", [HOSTILE, "javascript:alert(1)", "data:text/html,<script>", [HOSTILE, {HOSTILE: HOSTILE}]]
)
def test_hostile_attributes_stay_text(name: str, value: object) -> None:
    """In every attribute of every component. Red with a Markup() around any of them."""
    hostile = element(name, "Kept words.", **dict.fromkeys(ATTRIBUTES.split(), value))  # type: ignore[arg-type]
    parent = {"Step": "Steps", "Tab": "Tabs"}.get(name)
    html, _ = drawn(element(parent, hostile) if parent else hostile)
    tree = Tree(html)
    assert (tree.open, tree.wrong) == ([], [])
    tags = {tag for tag, _, _ in tree.attributes}
    assert "script" not in tags
    assert [each for each in tree.attributes if each[1].startswith("on") or each[1] == "style"] == []
    addresses = [value for _, name, value in tree.attributes if name in ("href", "src")]
    assert [each for each in addresses if each.lower().startswith(("javascript:", "data:"))] == []
    if name != "Snippet":  # which is its file's
        assert ("Kept words." in html) == (name != "Icon")


@pytest.mark.parametrize("value", [None, True, 3.5, -1, "9" * 5000, [], {}, [None]])
def test_any_value_of_any_attribute_is_bearable(value: object) -> None:
    """Types that no attribute has. Red when a component takes text for granted."""
    for name in sorted(COMPONENTS):
        html, _ = drawn(element(name, "Kept.", **dict.fromkeys(ATTRIBUTES.split(), value)))  # type: ignore[arg-type]
        assert (Tree(html).open, Tree(html).wrong) == ([], []), name


def test_an_empty_component_is_no_error() -> None:
    for name in sorted(COMPONENTS):
        html, paper = drawn(Element(name, {}, (), 7))
        assert (Tree(html).open, Tree(html).wrong) == ([], []), name
        assert all(line == 7 and found in CODES for found, line in ((note[1], note[3]) for note in paper.notes)), name


# --- cards ---


def test_a_card_is_one_link_and_may_hold_others() -> None:
    """The title is the link; a link in a link would be torn apart by the browser. Red with <a> around the card."""
    inner = Fragment('<p>See <a href="x.html">x</a></p>')
    html, _ = drawn(element("Card", inner, title="**Go** [there](start)", href="/guides/other", icon="rocket"))
    assert '<a class="card-link" href="guides/other.html"><strong>Go</strong> there</a>' in html
    assert html.count("<a ") == 2
    assert "icon-duotone" in html


def test_a_card_has_picture_icon_type_colour_and_direction() -> None:
    html, paper = drawn(
        element("Card", title="x", img="/images/one.png", icon="bell", iconType="thin", color="#f00", horizontal=True)
    )
    assert '<div class="card card-horizontal">' in html
    assert '<img class="card-image" src="images/one.png" alt="" loading="lazy">' in html
    assert 'class="mark tint-red"><svg class="icon icon-thin"' in html
    assert paper.notes == []


def test_an_icon_may_be_a_picture_of_the_site_and_of_no_other() -> None:
    html, _ = drawn(element("Card", title="x", icon="/images/one.png"))
    assert '<img class="icon" src="images/one.png" alt=""' in html
    html, _ = drawn(element("Card", title="x", icon="https://elsewhere.test/one.svg"))
    assert "<img" not in html


def test_a_card_without_a_title_is_a_link_with_a_label() -> None:
    """And one with an unsafe target is shown without a link. Red when the address is shown as the title."""
    html, paper = drawn(element("Card", Fragment("<p>More <b>words</b> &amp; ships.</p>"), href="start"))
    assert '<a class="card-link" href="start.html" aria-label="More words &amp; ships."></a>' in html
    assert paper.codes == ["PAGE052"]
    html, _ = drawn(element("Card", href="start"))
    assert 'aria-label="start"></a>' in html
    html, paper = drawn(element("Card", "Words.", title="x", href="JavaScript:alert(1)"))
    assert "<a " not in html
    assert "Words." in html
    assert paper.codes == ["PAGE014"]
    assert paper.notes[0][3] == 7


@pytest.mark.parametrize(
    ("cols", "shown", "noted"), [(1, 1, 0), ("3", 3, 0), (4, 4, 0), (9, 4, 1), (0, 2, 1), ("two", 2, 1)]
)
def test_columns(cols: int | str, shown: int, noted: int) -> None:
    html, paper = drawn(element("CardGroup", element("Card", title="x"), cols=cols))
    assert f'<div class="cards cols-{shown}">' in html
    assert paper.codes == ["PAGE053"] * noted


# --- callouts ---


@pytest.mark.parametrize("name", ["Note", "Info", "Tip", "Check", "Warning", "Danger"])
def test_a_callout_has_an_icon_and_a_word(name: str) -> None:
    """Not a colour alone."""
    html, _ = drawn(element(name, "Words."))
    assert f'<div class="callout callout-{name.lower()}" role="note">' in html
    assert f'<span class="callout-word">{name}</span>' in html
    assert "<svg" in html


def test_a_callout_of_one_s_own() -> None:
    html, paper = drawn(element("Callout", "Words.", icon="key", iconType="solid", color="#FFC107"))
    assert 'class="callout callout-own tint-orange"' in html
    assert "icon-solid" in html
    html, _ = drawn(element("Callout", "Words.", type="error"))
    assert "callout-danger" in html
    assert paper.notes == []
    _, paper = drawn(element("Callout", "Words.", type="nonsense", color="rgb(1,2,3)"))
    assert paper.codes == ["PAGE053", "PAGE053"]


@pytest.mark.parametrize(
    ("color", "name"),
    [("#f00", "red"), ("ff8800", "orange"), ("#16A34A", "green"), ("#0ea5b7", "teal"), ("#2f5bd8ff", "blue"),
     ("#7c3aed", "violet"), ("#e879f9", "pink"), ("#888", "grey"), ("#000", "grey"), ("Purple", "violet"),
     ("#12", None), ("url(x)", None), ("", None), ("red;}", None)],
)  # fmt: skip
def test_a_colour_becomes_one_of_eight(color: str, name: str | None) -> None:
    assert markup.nearest_color(color) == name


# --- accordions ---


def test_an_accordion_is_details_with_an_id_of_its_title() -> None:
    html, paper = drawn(
        element("Accordion", "Words.", title="How *to*?", description="Says **more**", icon="book", defaultOpen=True),
        element("Accordion", "Words.", title="How *to*?", defaultOpen="false"),
    )
    assert '<details class="accordion" id="how-to" open><summary>' in html
    assert '<details class="accordion" id="how-to-2"><summary>' in html
    assert '<span class="summary-description">Says <strong>more</strong></span>' in html
    assert paper.notes == []
    html, paper = drawn(element("Expandable", "Words.", defaultOpen=True))
    assert '<details class="expandable" id="details" open>' in html
    assert paper.codes == ["PAGE052"]


# --- tabs ---


def test_tabs_are_links_and_sections_until_a_script_comes() -> None:
    html, paper = drawn(
        element("Tabs", element("Tab", "One.", title="**npm**", icon="npm"), element("Tab", "Two.", title="npm"))
    )
    assert re.findall(r'<a class="tab-link" href="#([\w-]+)">', html) == ["npm", "npm-2"]
    assert re.findall(r'<div class="tab" id="([\w-]+)" data-tab="(\w+)">', html) == [("npm", "npm"), ("npm-2", "npm")]
    assert " hidden" not in html
    assert paper.notes == []


def test_a_code_group_is_named_by_titles_then_languages() -> None:
    html, paper = drawn(
        element("CodeGroup", code("a", "bash", "A & B"), code("b", "python"), Fragment("\n"), code("c"))
    )
    assert re.findall(r'<a class="tab-link" href="#[\w-]+">(.*?)</a>', html) == ["A &amp; B", "python", "Code 3"]
    assert html.count('<p class="tab-title">') == 2  # a title is shown by its block already
    assert paper.notes == []
    html, _ = drawn(element("CodeGroup", code("a", "bash")))
    assert "tab" not in html.replace("tabindex", "")


def test_examples_are_code_groups_with_words() -> None:
    html, _ = drawn(element("RequestExample", code("a", "bash", "cURL"), code("b", "python")))
    assert '<p class="example-title">Request example</p>' in html
    assert html.count("tab-link") == 2
    html, _ = drawn(element("ResponseExample", code("{}", "json", "200")))
    assert '<p class="example-title">Response example</p><figure' in html


def test_tabs_out_of_a_snippet() -> None:
    html, paper = drawn(element("Tabs", element("Snippet", file="s")), s=(element("Tab", "One.", title="A"),))
    assert 'data-tab="a"' in html
    assert paper.notes == []


# --- steps, fields, the rest ---


def test_steps_are_an_ordered_list() -> None:
    html, paper = drawn(
        element("Steps", element("Step", "1", title="A"), element("Step", "2", title="B", stepNumber="7"),
                element("Step", "3", title="C", icon="play", titleSize="h2"), titleSize="h3"),
    )  # fmt: skip
    assert re.findall(r'<li class="step" id="(\w+)" value="(\d+)">', html) == [("a", "1"), ("b", "7"), ("c", "8")]
    assert re.findall(r'<span class="step-number" aria-hidden="true">(\d+)</span>', html) == ["1", "7"]
    assert '<h3 class="step-title">A</h3>' in html
    assert '<h2 class="step-title">C</h2>' in html
    assert paper.notes == []
    html, paper = drawn(element("Steps", element("Step", "1", title="A", stepNumber="many", titleSize="script")))
    assert '<p class="step-title">A</p>' in html
    assert paper.codes == ["PAGE053", "PAGE053"]


def test_a_field_shows_all_that_it_was_given() -> None:
    html, paper = drawn(
        element(
            "ParamField",
            "Words.",
            path="user id",
            type="string<uuid>",
            required=True,
            default={"a": [1]},
            placeholder="x",
        ),
        element("ParamField", "Words.", header="X-Old", deprecated=True, optional=True, default=False),
        element("ResponseField", "Words.", name="token", type="string", required="true"),
    )
    text = re.sub(r"<[^>]+>", "|", html)
    assert re.sub(r"[\s|]+", " ", text).strip() == (
        "user id string&lt;uuid&gt; path required default: {&#34;a&#34;: [1]} example: x Words. "
        "X-Old header optional deprecated default: false Words. token string required Words."
    )
    assert '<a class="field-name" href="#param-user-id">' in html
    assert '<a class="field-name" href="#response-token">' in html
    assert paper.notes == []
    _, paper = drawn(element("ParamField", "Words.", type="string"))
    assert paper.codes == ["PAGE052"]


def test_frame_update_tooltip_icon_badge() -> None:
    html, paper = drawn(
        element("Frame", Fragment('<img src="x.png" alt="y">'), caption="A **b**", hint="Look"),
        element("Update", "Words.", label="v1.2", description="today", tags=["a", 2]),
        element("Update", "Words.", label="v1.2", tags="b, c"),
        Element("Tooltip", {"tip": "What it **is** [x](start)"}, (Fragment("API"),), 7, inline=True),
        element("Icon", icon="rocket", iconType="thin", size="32", color="green"),
        Element("Badge", {"color": "red"}, (Fragment("new"),), 7, inline=True),
    )
    assert "<figcaption>A <strong>b</strong></figcaption>" in html
    assert '<a href="#v1-2">v1.2</a>' in html
    assert re.findall(r'<li class="update-tag">(\w)</li>', html) == ["a", "2", "b", "c"]
    assert (
        '<span class="tooltip" tabindex="0" aria-describedby="tip">API<span class="tooltip-text" role="tooltip"' in html
    )
    assert "What it <strong>is</strong> x</span>" in html
    assert '<span class="icon-size-6"><span class="mark tint-green"><svg class="icon icon-thin"' in html
    assert '<span class="badge tint-red">new</span>' in html
    assert paper.notes == []


# --- wrong nesting ---


@pytest.mark.parametrize(("name", "parent"), [("Tab", "<Tabs>"), ("Step", "<Steps>")])
def test_a_part_outside_its_whole_is_shown_and_spoken_of(name: str, parent: str) -> None:
    """With its line. Red when the parts are drawn by their whole only."""
    html, paper = drawn(element(name, "Kept words.", title="Title", line=12))
    assert "Kept words." in html
    assert "Title" in html
    assert [(note[1], note[3]) for note in paper.notes] == [("PAGE050", 12)]
    assert parent in paper.notes[0][2]


def test_what_is_between_the_parts_stays() -> None:
    html, paper = drawn(
        element("Steps", "Before.", element("Step", "One.", title="A"), "Between.", element("Step", "Two.", title="B"))
    )
    assert [html.index(each) for each in ("Before.", "One.", "Between.", "Two.")] == sorted(
        html.index(each) for each in ("Before.", "One.", "Between.", "Two.")
    )
    assert paper.codes == ["PAGE051"]
    assert (Tree(html).open, Tree(html).wrong) == ([], [])


def test_an_element_around_the_parts_does_not_tear_the_page() -> None:
    """Its opening tag stands before the parts and its closing tag after them. Red without _whole()."""
    around = (Fragment('<div id="x"><p>Kept</p><br>'), element("Tab", "One.", title="A"), Fragment("</div>\n"))
    html, paper = drawn(element("Tabs", *around))
    assert (Tree(html).open, Tree(html).wrong) == ([], [])
    assert "<p>Kept</p><br>" in html
    html, paper = drawn(element("Tabs", Fragment("<div>"), element("Tab", "One.", title="A"), Fragment("</div>")))
    assert (Tree(html).open, paper.notes) == ([], [])


@pytest.mark.parametrize("name", ["Tabs", "Steps", "CodeGroup", "RequestExample"])
def test_a_whole_without_parts_shows_what_it_has(name: str) -> None:
    html, paper = drawn(element(name, "Kept words."))
    assert "Kept words." in html
    assert paper.codes == ["PAGE054"]


def test_a_title_that_is_an_expression_was_spoken_of_before() -> None:
    """When it was read (PAGE007): once is enough. A place holder is shown."""
    html, paper = drawn(element("Tabs", element("Tab", "One.", title=None)))
    assert "Tab 1" in html
    assert paper.notes == []


def test_code_is_never_drawn_again() -> None:
    """What a block of code has as HTML is written as it is."""
    block = CodeBlock("", "t", "x", "<pre><code>&lt;b&gt;</code></pre>", 1)
    html, _ = drawn(element("CodeGroup", block, block))
    assert html.count(block.html) == 2
