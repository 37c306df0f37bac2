"""Tags, attributes and literals."""

from __future__ import annotations

import pytest

from tenantry_site.markdown.jsx import Tag, TagScanner
from tenantry_site.markdown.literals import NotLiteral, literal
from tenantry_site.page import AttributeValue


def tag(text: str) -> Tag | None:
    return TagScanner(len(text), {"known": "K"}).tag(text, 0, len(text))


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ('<A b="c">', {"b": "c"}),
        ("<A b='c'>", {"b": "c"}),
        ("<A b>", {"b": True}),
        ("<A b={true}>", {"b": True}),
        ("<A b={2}>", {"b": 2}),
        ("<A b={-1.5}>", {"b": -1.5}),
        ('<A b={"c"}>', {"b": "c"}),
        ("<A b={`c`}>", {"b": "c"}),
        ("<A b={[1, 'x',]}>", {"b": [1, "x"]}),
        ("<A b={{a: 1, 'c-d': [true]}}>", {"b": {"a": 1, "c-d": [True]}}),
        ('<A b="x > y">', {"b": "x > y"}),
        ("<A\n  b = 'c'\n  d\n>", {"b": "c", "d": True}),
        ("<A b={known}>", {"b": "K"}),
        ('<A b="&lt;&amp;&quot;">', {"b": '<&"'}),
        ("<A b=c>", {"b": "c"}),
        ("<A b={null}>", {"b": None}),
        ("<A data-b='c' aria-label='d'>", {"data-b": "c", "aria-label": "d"}),
        ("<A b=''>", {"b": ""}),
        ("<A b={ /* x */ 'c' }>", {"b": "c"}),
        ("<A b={`two\nlines`}>", {"b": "two\nlines"}),
        (r"<A b={'\u00e9\n'}>", {"b": "é\n"}),
        (r"<A b={'\ud800'}>", {"b": "\ufffd"}),
        ("<A b={0x10}>", {"b": 16}),
        ('<A b="c"d="e" f>', {"b": "c", "d": "e", "f": True}),
        ("<A b='c'd>", {"b": "c", "d": True}),
        ("<A b=\"c\"d={2}e='f'g>", {"b": "c", "d": 2, "e": "f", "g": True}),
        ('<A b={[1]}d="e"/>', {"b": [1], "d": "e"}),
        ("<A b={{a: 1}}d>", {"b": {"a": 1}, "d": True}),
        ('<A b=""d="">', {"b": "", "d": ""}),
        ('<A\n\tb="c"\nd="e"f="g"\n>', {"b": "c", "d": "e", "f": "g"}),
    ],
)
def test_attributes(text: str, attributes: dict[str, AttributeValue]) -> None:
    """Red when an attribute is read wrongly. HTML and JSX need no space behind a quotation mark or brace."""
    found = tag(text)
    assert found is not None
    assert dict(found.attributes) == attributes
    assert (found.end, found.expressions) == (len(text), ())


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "a.b",
        "() => 1",
        "a + b",
        "`${x}`",
        "<b>x</b>",
        "f()",
        "1 + 1",
        "[x]",
        "{a: x}",
        "...x",
        "new Date()",
        "/x/",
        "!x",
        "{...x}",
    ],
)
def test_expressions_are_no_values(expression: str) -> None:
    """Red when something is evaluated."""
    with pytest.raises(NotLiteral):
        literal(expression, {})
    found = tag(f"<A b={{{expression}}} c='d'>")
    assert found is not None
    assert found.attributes == {"b": None, "c": "d"}
    assert found.expressions == ("b",)


@pytest.mark.parametrize(
    "text", ["<", "<>", "< a>", "<1>", "<a b", '<a b="', "<a b={", "<a b={'}", "<a,b>", "<a b=>", "</a b>", "<a\x00>"]
)
def test_no_tag(text: str) -> None:
    """Red when prose is taken for a tag."""
    assert tag(text) is None


def test_kinds() -> None:
    """Red when a closing or self-closing tag is taken for another."""
    assert tag("</A>") == Tag("A", {}, True, False, 4)
    assert tag("<A/>") == Tag("A", {}, False, True, 4)
    assert tag("<A />") == Tag("A", {}, False, True, 5)
    assert tag("<A.B-c_d:e>") == Tag("A.B-c_d:e", {}, False, False, 11)


def test_literals_end_somewhere() -> None:
    """Red when nesting exhausts the stack."""
    with pytest.raises(NotLiteral):
        literal("[" * 5000, {})
    with pytest.raises(NotLiteral):
        literal("[" * 50 + "]" * 50, {})
