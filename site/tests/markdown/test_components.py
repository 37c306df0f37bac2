"""Components in Markdown, and Markdown in components: what is a child of what."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import pytest

from tenantry_site.addresses import Addresses
from tenantry_site.markdown import PageReader
from tenantry_site.page import CodeBlock, Component, Element, Page, RenderContext

NAMES = (
    "Card",
    "CardGroup",
    "Note",
    "Warning",
    "Danger",
    "Steps",
    "Step",
    "Tabs",
    "Tab",
    "CodeGroup",
    "Tooltip",
    "Icon",
)


def outline(element: Element, context: RenderContext) -> str:
    """A component as brackets, with its attributes: what the reader of pages hands over."""
    given = "".join(f" {name}={escape(repr(value))}" for name, value in element.attributes.items())
    codes = "".join(f"({child.language}:{child.title})" for child in element.children if isinstance(child, CodeBlock))
    return f"[{element.name}{given}{'!' if element.inline else ''}:{context.render(element.children)}{codes}]"


STUBS: Mapping[str, Component] = dict.fromkeys(NAMES, outline)


def read(text: str, source: str = "x.mdx") -> Page:
    return PageReader(Addresses(["x"], []), {}, components=STUBS).read(source, text)


def html(text: str, source: str = "x.mdx") -> str:
    return " ".join(read(text, source).html.split()).replace("> <", "><").replace(" ]", "]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<Note>\n\nText *x*\n\n</Note>", "[Note:<p>Text <em>x</em></p>]"),
        ("<Note>\n  Text\n</Note>", "[Note:<p>Text</p>]"),
        ("<Note>Text</Note>", "[Note:Text]"),
        ("<Note>\n        Deep\n</Note>", "[Note:<p>Deep</p>]"),
        ("<Note>One\n\nTwo</Note>", "[Note:<p>One</p><p>Two</p>]"),
        ("before\n<Note>\nText\n</Note>\nafter", "<p>before</p> [Note:<p>Text</p>]<p>after</p>"),
        ("before <Note>in</Note> after", "<p>before </p> [Note!:in]<p> after</p>"),
        ("a <Tooltip tip='x'>b *c*</Tooltip> d", "<p>a [Tooltip tip=&#x27;x&#x27;!:b <em>c</em>] d</p>"),
        ("<Icon icon='x' /> text", "<p>[Icon icon=&#x27;x&#x27;!:] text</p>"),
        ("- a\n  <Note>\n  b\n  </Note>\n- c", "<ul><li>a [Note:b]</li><li>c </li></ul>"),
        ("- a <Note>b</Note>", "<ul><li>a [Note!:b]</li></ul>"),
        ("<Note>\n- a\n- b\n</Note>", "[Note:<ul><li>a </li><li>b </li></ul>]"),
        ("<Note>\n- a\n  </Note>\n\nb", "[Note:<ul><li>a </li></ul>]<p>b</p>"),
        ("> <Note>\n> a\n> </Note>", "<blockquote> [Note:<p>a</p>]</blockquote>"),
        ("<Steps><Step>a</Step><Step>b</Step></Steps>", "[Steps:[Step:a][Step:b]]"),
        ("<Card title='a' /> <Card title='b' />", "[Card title=&#x27;a&#x27;:][Card title=&#x27;b&#x27;:]"),
        (
            "<Card\n  title='a > b'\n  icon='c'\n>\n\nText\n</Card>",
            "[Card title=&#x27;a &gt; b&#x27; icon=&#x27;c&#x27;:<p>Text</p>]",
        ),
        ("# <Icon icon='x' /> Title\n\ntext", '<span id="title"></span><p>text</p>'),
        ("<Note>{/* gone */}kept<!-- gone --></Note>", "[Note:kept]"),
        ("{/* over\n\nlines */}\n\ntext", "<p>text</p>"),
        ("a <!-- b --> c", "<p>a c</p>"),
        ("<!--\n\n# no\n\n-->\ntext", "<p>text</p>"),
        ("> [!WARNING]\n> a\n>\n> b", "[Warning:<p>a</p><p>b</p>]"),
        ("> [!CAUTION]\n> a", "[Danger:<p>a</p>]"),
        ("> [!OTHER]\n> a", "<blockquote><p>[!OTHER] a</p></blockquote>"),
        ("<CodeGroup>\n```js A\na\n```\n```py\nb\n```\n</CodeGroup>", "(js:A)(py:)"),
        ("<Note>\n    ```js\n    a\n      b\n    ```\n</Note>", "<code>a\n b</code>"),
        ("<Note>\nText:\n    - a\n    - b\n</Note>", "[Note:<p>Text:</p><ul><li>a </li><li>b </li></ul>]"),
        ("`<Note>` and ``{x}``", "<p><code>&lt;Note&gt;</code> and <code>{x}</code></p>"),
        ("```\n<Note>\n```", "&lt;Note&gt;</code>"),
        ("|a|\n|-|\n|<Tooltip tip='x'>t</Tooltip>|", "<td>[Tooltip tip=&#x27;x&#x27;!:t]</td>"),
        ("\\<Note> \\{x}", "<p>&lt;Note&gt; {x}</p>"),
        ("<><Note>a</Note></>", "[Note:a]"),
    ],
)
def test_structure(text: str, expected: str) -> None:
    """Red when a child is lost, doubled, indented into code, or put into the wrong parent."""
    assert " ".join(expected.split()) in html(text)


def test_at_any_depth() -> None:
    """Red when lists in steps in cards in tabs lose a level."""
    text = """
<Tabs>
  <Tab title="One">
    <Steps>
      <Step title="First">
        1. Do
           <Card title="c">
             - x
               <Note>
                 deep **text**
               </Note>
           </Card>
        2. Done
        3. Over
      </Step>
    </Steps>
  </Tab>
</Tabs>
"""
    drawn = html(text)
    assert "[Note:deep <strong>text</strong>]" in drawn
    assert (
        drawn.index("[Tabs") < drawn.index("[Tab ") < drawn.index("[Steps") < drawn.index("<ol>") < drawn.index("[Card")
    )
    assert drawn.count("<li>") == 4
    assert drawn.count("[") == drawn.count("]") == 6
    assert read(text).diagnostics == ()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("List<String> and Map<K, V>", "List&lt;String&gt; and Map&lt;K, V&gt;"),
        ("<YOUR_KEY>", "&lt;YOUR_KEY&gt;"),
        ("GET /x/<id>/y", "/x/&lt;id&gt;/y"),
        ("a < b > c", "a &lt; b &gt; c"),
        ("x <- y", "x &lt;- y"),
        ("<your key>", "&lt;your key&gt;"),
        ("a <> b", "a &lt;&gt; b"),
        ("if (a<b) {x}", "if (a&lt;b) {x}"),
        ("${HOME} and {{ x }}", "${HOME} and {{ x }}"),
        ("<3", "&lt;3"),
        ("Vec<u>", "Vec&lt;u&gt;"),
        ("\\frac{1}{2} x_{1}", "\\frac{1}{2} x_{1}"),
    ],
)
def test_what_only_looks_like_a_tag_is_text(text: str, kept: str) -> None:
    """Red when a placeholder, a generic or a comparison disappears."""
    assert kept in read(text).html
    assert not [note for note in read(text).diagnostics if note.code != "PAGE008"]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("text\n\n<Note>\nkept", "PAGE004", 3),
        ("a\n\nkept </Note>", "PAGE005", 3),
        ("<Foo>kept</Foo>", "PAGE006", 1),
        ("<Foo>\n\nkept\n\n</Foo>", "PAGE006", 1),
        ("\n<Card title={x}>kept</Card>", "PAGE007", 2),
        ("kept {x.y}", "PAGE008", 1),
        ("<Note><Card title='a'>kept</Note>", "PAGE004", 1),
        ("<Card {...x}>kept</Card>", "PAGE007", 1),
        ("```\nkept", "PAGE018", 1),
        ("kept\n\n<!-- open", "PAGE020", 3),
        ("<Foo.Bar>kept</Foo.Bar>", "PAGE006", 1),
        ("---\ntitle: x\n---\n\n<Note>\nkept", "PAGE004", 5),
        ("*kept <Note> x*", "PAGE004", 1),
        ("```mermaid\nkept\n```", "PAGE017", 1),
        ("a\n\nkept $$x^2$$", "PAGE021", 3),
        ("a\nb\n$$\nkept\n$$\n\n$$y$$", "PAGE021", 3),
        ("# a\n\n- kept $$", "PAGE021", 3),
        ("| a |\n|---|\n| kept $$x$$ |", "PAGE021", 3),
        ("## kept $$x$$", "PAGE021", 1),
    ],
)
def test_mistakes(text: str, code: str, line: int) -> None:
    """Red when a mistake loses text, or is reported without its line."""
    page = read(text)
    assert "kept" in page.html
    assert [(note.code, note.line) for note in page.diagnostics] == [(code, line)]
    assert page.diagnostics[0].fix
    assert page.diagnostics[0].path == "x.mdx"


def test_expressions_in_text() -> None:
    """Red when a literal is shown in its braces, or an expression is hidden."""
    text = 'export const v = "1.2"\nexport const n = 3\n\n{v} {n} {"lit"} {`t`} {true}| {" "}{v.length} {f(v)}'
    assert html(text) == "<p>1.2 3 lit t | {v.length} {f(v)}</p>"


def test_an_expression_over_lines_is_shown() -> None:
    """Red when a block of code on a page is lost or run."""
    drawn = html("{items.map((x) => (\n\n  <Card title={x} />\n\n))}\n\nafter")
    assert "items.map" in drawn
    assert "&lt;Card title={x} /&gt;" in drawn
    assert "[Card" not in drawn
    assert "<p>after</p>" in drawn


def test_markdown_without_components_is_left_alone() -> None:
    """Red when ``.md`` loses its code by indentation, or braces in it mean something."""
    assert html("a\n\n    code\n", "x.md").endswith("<code>code</code></pre></div>")
    assert html('{"a"} {x} {{ y }}', "x.md") == "<p>{&quot;a&quot;} {x} {{ y }}</p>"
    assert read("{x}", "x.md").diagnostics == ()


def test_a_tag_closes_nothing_from_within_a_table() -> None:
    """Red when a cell's closing tag tears the table apart."""
    page = read("<Note>\n\n|a|\n|-|\n|x</Note>|\n|y|\n\n</Note>")
    assert "<td>y</td></tr>\n</tbody>\n</table></div>\n]" in page.html
    assert [note.code for note in page.diagnostics] == ["PAGE005"]


def test_nesting_ends() -> None:
    """Red when a thousand components within each other exhaust the stack, or lose their text."""
    page = read("<Note>" * 1000 + "kept" + "</Note>" * 1000)
    assert "kept" in page.html
    assert "PAGE016" in [note.code for note in page.diagnostics]
    assert "kept" in read(">" * 1000 + " kept").html
    assert "kept" in read("".join(" " * 2 * i + "- kept\n" for i in range(200))).html


def test_lines_of_elements() -> None:
    """Red when a component blames the wrong line."""
    lines: list[int] = []

    def draw(element: Element, context: RenderContext) -> str:
        lines.append(element.line)
        return ""

    text = "---\ntitle: x\n---\na\n\n<Card />\n\nb\nc <Card /> d"
    PageReader(Addresses(["x"], []), {}, components={"Card": draw}).read("x.mdx", text)
    assert lines == [3, 6]  # in the text below the head


def test_dollars_that_are_no_formula() -> None:
    """In code, escaped, and alone."""
    assert read("`$$` costs $5 or $ 6, \\$\\$ too\n\n```\n$$x$$\n```").diagnostics == ()
