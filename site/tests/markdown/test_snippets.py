"""Snippets, imports and exports: parts of pages that are shared, and never run."""

from __future__ import annotations

import re

import pytest

from tests.markdown.reading import codes, read

SNIPPETS = {
    "snippets/a.mdx": "---\ntitle: no\n---\nA **bold** {name} [l](/guides/more)\n\n## Head",
    "snippets/word.mdx": "Word",
    "snippets/self.mdx": 'import S from "/snippets/self.mdx"\n\ntext\n\n<S />',
    "snippets/values.mdx": 'export const key = "K"\nexport const list = [1, 2]\nexport const f = () => 1\n',
    "_snippets/old.mdx": "Old",
    "snippets/tab.mdx": '<Tab title="From">x</Tab>',
    "snippets/words.mdx": (
        "export const words = {\n  title: 'To begin',\n  // made of a name\n  make: (name) => `Make ${name}, {now}`,\n"
        '  "last one": ["a", `b`],\n  deep: { er: 1, no: f(x, "}") },\n  end: "End",\n}\n'
    ),
    "snippets/bad.mdx": "---\ntitle: x\n---\n\n<Note>",
}


def page(text: str) -> tuple[str, list[str]]:
    found = read(text, snippets=SNIPPETS)
    return " ".join(found.html.split()), codes(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'import A from "/snippets/a.mdx"\n\n<A name="N" />',
            '<p>A <strong>bold</strong> N <a href="more.html">l</a></p> <h2 id="head">',
        ),
        ("import A from '../snippets/a.mdx';\n\n<A name={1} />", "bold</strong> 1"),
        ('import W from "/snippets/word.mdx"\n\nA <W /> here', "<p>A Word here</p>"),
        ('import W from "/snippets/word.mdx"\n\n- <W />\n- x', "<ul> <li><p>Word</p> </li>"),
        ('<Snippet file="word.mdx" />', "<p>Word</p>"),
        ('<Snippet file="old.mdx" />', "<p>Old</p>"),
        ('<Snippet file="/snippets/word.mdx"></Snippet>', "<p>Word</p>"),
        ("<Snippet file={'word'} />", "<p>Word</p>"),
        ('import { key } from "/snippets/values.mdx"\n\n{key}!', "<p>K!</p>"),
        ('import { key as k, list } from "/snippets/values.mdx"\n\n{k} {list}', "<p>K [1, 2]</p>"),
        ('export const v = "1"\n\nv{v} `{v}`', "<p>v1 <code>{v}</code></p>"),
        ('export const x = {\n  a: "1"\n}\n\ntext', "<p>text</p>"),
        ('import React from "react"\nimport "./x.css"\n\ntext', "<p>text</p>"),
        (
            "Import taxes are high.\n\nimport duties are, too.",
            "<p>Import taxes are high.</p> <p>import duties are, too.</p>",
        ),
    ],
)
def test_used(text: str, expected: str) -> None:
    """Red when a snippet or a constant does not arrive in the page."""
    html, reported = page(text)
    assert expected in html
    assert reported == []


def test_parts_of_components() -> None:
    """Red when a snippet in tabs is no tab of theirs."""
    html, reported = page('import T from "/snippets/tab.mdx"\n\n<Tabs>\n<T />\n<Tab title="Own">y</Tab>\n</Tabs>')
    assert reported == []
    assert html.count('class="tab"') == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('<Snippet file="none.mdx" />kept', "PAGE010"),
        ('import N from "/snippets/none.mdx"\n\n<N>kept</N>', "PAGE010"),
        ('import { Box } from "@/components/box"\n\n<Box>kept</Box>', "PAGE006"),
        ("export const f = () => {\n\n  return <b>gone</b>\n}\n\nkept", "PAGE009"),
        ('<Snippet file="self.mdx" />kept', "PAGE011"),
    ],
)
def test_mistakes(text: str, code: str) -> None:
    """Red when code is run or shown, or a missing snippet is not spoken of."""
    html, reported = page(text)
    assert reported == [code]
    assert "gone" not in html
    assert "kept" in html


def test_parts_of_constants_are_looked_up() -> None:
    """Whatever would have to be run is left as it is. Red when a function makes the whole object unknown."""
    html, reported = page(
        'import { words } from "/snippets/words.mdx"\n\n## {words.title}\n\n{words["last one"][1]} {words.end} '
        "{words.make(1)}"
        "\n\n<Card title={words.title}>c</Card> {words.none} {words.deep.er}"
    )
    assert '<h2 id="to-begin">To begin' in html
    assert "b End {words.make(1)}" in html
    assert ">To begin</" in html.partition("</h2>")[2]
    assert "{words.none} 1" in html
    assert {*reported} == {"PAGE008"}


def test_a_package_is_code() -> None:
    """Red when what a page imports of a package is called a missing snippet."""
    html, reported = page('import { Chart } from "charts"\n\nkept\n\n<Chart />')
    assert (html, reported) == ("<p>kept</p>", ["PAGE006"])


COMPONENTS = {
    "snippets/c.jsx": """import { useState } from "react"

export const Box = ({ title, href = "/guides/more", children }) => (
  <div className="x">
    {title && <h3>{title}</h3>}
    <a href={`${href}#${title}`}>Go on</a>
    {/* not shown */}
    {children}
  </div>
);

export const Chip = (props) => <b>{props.label} {props.children}</b>

export function Outer({ name }) {
  return (
    <Note><Chip label={name}>in</Chip></Note>
  );
}

export const Again = () => <Again />

export const Live = ({ href }) => {
  const [a, b] = useState(0);
  return <p>{a}</p>
}

export const Listed = ({ items }) => <ul>{items.map((i) => <li>{i}</li>)}</ul>

export default Chip
""",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<Box title="More">\n\nText **here**.\n\n</Box>', '<h3 id="more">More'),
        (
            '<Box title="More">\n\nText **here**.\n\n</Box>',
            '<a href="more.html#More">Go on</a></p> <p>Text <strong>here',
        ),
        ('<Box href="/api" />', '<div><p><a href="../api/index.html">Go on</a></p> </div>'),
        ('A <Chip label="L">x *y*</Chip> b', "<p>A <b>L x <em>y</em></b> b</p>"),
        ('A <Chip label="L" /> b', "<p>A <b>L </b> b</p>"),
        ("- <Chip label={1}>x</Chip>\n- y", "<li><p><b>1 x </b></p>"),
        ('<Outer name="N" />', "<b>N in </b>"),
        ("<Default label='D' />", "<b>D </b>"),
        ('<Own a="1" />', '<div class="callout-content">1 </div>'),
    ],
)
def test_components_in_jsx(text: str, expected: str) -> None:
    """Their attributes and contents are filled in. Red when an imported component is left out with its link."""
    imports = 'import Default, { Box, Chip, Outer } from "/snippets/c.jsx"\n\n'
    own = "export const Own = ({ a }) => (\n  <Tip>{a}</Tip>\n)\n\n"
    page = read(imports + own + text, snippets=COMPONENTS)
    assert expected in " ".join(page.html.split())
    assert codes(page) == []


CHOICES = """export const Plan = ({ name, paid, seats, href }) => (
  <div>
    {paid ? <b>Paid: {name}</b> : (
      <i title={name === "free" ? "no (card)" : "trial"}>Trial</i>
    )}
    {seats === 1 ? "one seat" : seats === 2 ? "two seats" : `${seats} seats`}
    {href ? <a href={href}>More: <b>here</b></a> : null}
    {name !== "free" && <u>upgraded</u>}
    {!paid && "unpaid"}
  </div>
)
export const Dynamic = ({ a, b, children }) => <p>{a > b ? "x" : "y"} {a ? b.length : "n"}</p>
export const Contents = ({ children }) => <p>{children ? "some" : "none"}</p>
"""


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ('<Plan name="free" seats={1} />', '<i title="no (card)">Trial</i> one seat unpaid'),
        (
            '<Plan name="pro" paid seats={2} href="/api" />',
            '<b>Paid: pro</b> two seats <a href="../api/index.html">More: <b>here</b></a> <u>upgraded</u>',
        ),
        ('<Plan name="try" seats="1" />', '<i title="trial">Trial</i> 1 seats <u>upgraded</u> unpaid'),
    ],
)
def test_choices_in_jsx(tag: str, expected: str) -> None:
    """``a ? b : c`` and comparisons with a literal. Red when the component is left out, or when ``===`` converts."""
    page = read(f'import {{ Plan }} from "/c.jsx"\n\n{tag}', snippets={"c.jsx": CHOICES})
    shown = " ".join(page.html.replace("<p>", " ").replace("</p>", " ").split())
    assert shown == f"<div> {expected} </div>"
    assert codes(page) == []


PRECEDENCE = """export const Both = ({ a, b }) => <div>{a && b === "u" ? <b>Both</b> : <a href="/api">Other</a>}</div>
export const Chain = ({ a, b }) => <div>{a && b && <b>Chain</b>}</div>
export const Or = ({ a }) => <div>{a && <b>A</b> || <b>B</b>}</div>
export const Rest = ({ a }) => <div>{a ? <b>A</b> : <b>B</b> || <b>C</b>}</div>
"""


@pytest.mark.parametrize(
    ("tag", "expected", "reported"),
    [
        ('<Both a="1" b="u" />', "<b>Both</b>", []),
        ('<Both a="1" />', '<a href="../api/index.html">Other</a>', []),
        ('<Both b="u" />', '<a href="../api/index.html">Other</a>', []),
        ('<Chain a="1" b="u" />', "<b>Chain</b>", []),
        ('<Chain b="u" />', "", []),
        ('<Or a="1" />', "", ["PAGE006"]),
        ("<Or />", "", ["PAGE006"]),
        ("<Rest />", "", ["PAGE006"]),
    ],
)
def test_choices_with_several_operators(tag: str, expected: str, reported: list[str]) -> None:
    """``&&`` binds its two sides before ``?`` and ``||`` do. Red when the rest after ``&&`` is one operand: the link of
    a choice vanished without a report, and ``||`` was shown as text."""
    page = read(f'import {{ Both, Chain, Or, Rest }} from "/c.jsx"\n\n{tag} kept', snippets={"c.jsx": PRECEDENCE})
    assert codes(page) == reported
    assert expected in page.html
    assert "kept" in page.html
    assert "||" not in page.html
    assert len(re.findall("<[ab][ >]", page.html)) == bool(expected)


@pytest.mark.parametrize(
    ("expression", "attributes", "expected"),
    [
        ("{a == 1 ? 'one' : 'many'}", "a={1}", "one"),
        ("{a == 1 ? 'one' : 'many'}", 'a="1"', None),
        ("{a != 1 && 'other'}", "a", None),
        ("{a === 1 ? 'one' : 'many'}", 'a="1"', "many"),
        ("{a === 1 ? 'one' : 'many'}", "a", "many"),
        ("{a === null ? 'null' : 'not'}", "", "not"),
        ("{a !== null && 'shown'}", "", "shown"),
        ("{a === undefined ? 'none' : 'some'}", "", "none"),
        ("{a === undefined ? 'none' : 'some'}", 'a=""', "some"),
        ("{a === undefined ? 'none' : 'some'}", "a={undefined}", None),
        ("{a == null ? 'none' : 'some'}", "a={undefined}", "none"),
        ("{a != null && 'shown'}", "", ""),
        ("{d === null ? 'null' : 'not'}", "", "not"),
        ("{e ? 'yes' : 'no'}", "", None),
        ("{e ? 'yes' : 'no'}", "e={1}", "yes"),
        ("{a && 'shown'}", "a={[]}", "shown"),
        ("{a && 'shown'}", "a={{}}", "shown"),
        ("{!a ? 'none' : 'some'}", "a={[]}", "some"),
        ("{a == 1 && 'shown'}", "a={[1]}", None),
        ("{a && 'shown'}", "a={0}", "0"),
        ("{a && 'shown'}", 'a="0"', "shown"),
        ("{a && b && 'shown'}", "a={1} b={0}", "0"),
        ("{a ? 'some' : 'none'}", "a={0}", "none"),
        ("{a && 'shown'}", "a={count()}", None),
        ("{a ? 'some' : 'none'}", "{...rest}", None),
        ("{b && 'shown'}", "a={count()} b", "shown"),
        ("{props.a === undefined ? 'none' : 'some'}", "", "none"),
        ("{props.a ? 'some' : 'none'}", "a={count()}", None),
    ],
)
def test_conditions_hold_as_in_javascript(expression: str, attributes: str, expected: str | None) -> None:
    """None: the condition is not evaluated, and this is reported. Red where Python decides: ``1 == "1"`` was false, a
    missing attribute was ``null``, an empty list was false, 0 was not shown, and an expression as value was false."""
    parameters = "props" if "props" in expression else '{ a, b, d = "x", e = f() }'
    code = f"export const X = ({parameters}) => <p>{expression}</p>\n"
    page = read(f'import {{ X }} from "/c.jsx"\n\n<X {attributes} />', snippets={"c.jsx": code})
    assert re.sub(r"</?p>|\n", "", page.html) == (expected or "")
    assert codes(page) == (["PAGE006"] if expected is None else [])


@pytest.mark.parametrize("tag", ["<Dynamic a={1} b={2} />", "<Contents>x</Contents>"])
def test_choices_that_would_have_to_be_run(tag: str) -> None:
    page = read(f'import {{ Dynamic, Contents }} from "/c.jsx"\n\n{tag} kept', snippets={"c.jsx": CHOICES})
    assert "kept" in page.html
    assert codes(page) == ["PAGE006"]


def test_components_that_would_have_to_be_run() -> None:
    """Their contents stay in the line, with their link, and each use is reported. Red when the link vanishes."""
    page = read(
        'import { Live, Listed } from "/snippets/c.jsx"\n\n'
        'See <Live href="/guides/more">this</Live> and <Listed items={[1]}>that</Listed> one, <Live href="/api" />.',
        snippets=COMPONENTS,
    )
    assert page.html == (
        '<p>See <a href="more.html">this</a> and that one, <a href="../api/index.html">/api</a>.</p>\n'
    )
    assert codes(page) == ["PAGE006"] * 2  # the two uses of one name on one line are one diagnostic


def test_hostile_components_cost_little() -> None:
    """Red when nested conditions end the build, and when each definition is searched to the end of the file."""
    deep = "export const Deep = ({ a }) => " + "<b>{a && " * 900 + "<i>x</i>" + "}</b>" * 900
    chain = "export const Chain = ({ a }) => <b>{" + "a ? (<i>x</i>) : " * 900 + "(" * 900 + "}</b>"
    many = "export function A(x:\n" * 20_000
    page = read(
        'import { Deep } from "/d.jsx"\nimport { Chain } from "/n.jsx"\nimport { A } from "/m.jsx"\n\n'
        "<Deep a />kept <A /> <Chain />",
        snippets={"d.jsx": deep, "n.jsx": chain, "m.jsx": many},
    )
    assert "kept" in page.html
    assert {*codes(page)} == {"PAGE006"}


def test_a_component_of_itself_ends() -> None:
    page = read('import { Again } from "/snippets/c.jsx"\n\n<Again />\n\nkept', snippets=COMPONENTS)
    assert page.html == "<p>kept</p>\n"
    assert codes(page) == ["PAGE011"]


def test_a_snippet_of_itself_is_drawn_once() -> None:
    """Red when only the number of snippets within snippets ends it."""
    html, _ = page('<Snippet file="self.mdx" />')
    assert html == "<p>text</p>"


def test_footnotes_of_a_page_and_its_snippets_are_apart() -> None:
    """Red when each text counts its ids from 1."""
    note = {"snippets/note.mdx": "a[^1]\n\n[^1]: Shared\n"}
    part = '<Snippet file="note.mdx" />\n\n'
    html = read(f"{part}b[^1]\n\n{part}[^1]: Own\n", snippets=note).html
    found = re.findall(' id="([^"]+)"', html)
    assert len(found) == len({*found}) == 6
    assert {*re.findall('href="#([^"]+)"', html)} == {*found}


def test_mistakes_in_snippets_have_their_own_position() -> None:
    """Red when the page is blamed for the snippet."""
    (note,) = read('<Snippet file="bad.mdx" />', snippets=SNIPPETS).diagnostics
    assert (note.path, note.line, note.code) == ("snippets/bad.mdx", 5, "PAGE004")


def test_snippets_cannot_grow_without_end() -> None:
    """Red when ten snippets of ten snippets each are a thousand million."""
    many = {f"snippets/{n}.mdx": f'<Snippet file="{n + 1}.mdx" />\n\n' * 10 for n in range(9)} | {
        "snippets/9.mdx": "end"
    }
    found = read('<Snippet file="0.mdx" />', snippets=many)
    assert len(found.html) < 100_000
    assert "PAGE011" in codes(found)
