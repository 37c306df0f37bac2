"""HTML is made in one way: a template of ``templates/``, by the name of what it shows. What Python writes instead is on
a list, with its reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from tenantry_site.templating import render_template

SOURCE = Path(str(files("tenantry_site")))
TEMPLATES = SOURCE / "templates"

BY_ELEMENT = "tokens of the parser, hundreds on a page: an element's ends are written at different times (decision 36)"
FINDS = "looks for it in HTML that is finished"
IN_PYTHON = {
    "app/application.py:SiteApp": FINDS,
    "components/icons.py": "an author's own SVG: it is cleaned, and its opening tag written again",
    "components/registry.py:unknown_link": FINDS,
    "markdown/block_renderer.py": BY_ELEMENT,
    "markdown/code_blocks.py:_span": "each token of highlighted code, thousands on a page",
    "markdown/html_buffer.py": BY_ELEMENT,
    "markdown/inline_renderer.py": BY_ELEMENT,
    "markdown/raw_html.py": BY_ELEMENT,
    "reference/html/page.py:_EXAMPLE": FINDS,
    "theme/layout.py:Layout": "marks the open page in a sidebar that many pages share",
}

TAG = re.compile(r"</?[a-z][a-z0-9]*(?:[\s>/\"']|$)")


QUOTED = re.compile(r'"[a-z_/.]+"')


def html_in(source: str) -> Iterator[tuple[str, int]]:
    """Where a text with a tag stands, or ``Markup`` is formatted: the outermost name around it, and the line.

    Docstrings and regular expressions write no HTML.
    """
    for statement in ast.parse(source).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
        owner = getattr(statement, "name", "") or next((one.id for one in targets if isinstance(one, ast.Name)), "")
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called.startswith("re."):
                    continue
                formatted = re.match(r"Markup\(.+\)\.format$", called, re.DOTALL)
                if formatted or (called == "Markup" and any(isinstance(each, ast.JoinedStr) for each in node.args)):
                    yield owner, node.lineno
            if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
                text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                if TAG.search(text):
                    yield owner, node.lineno
            waiting += ast.iter_child_nodes(node)


def test_html_is_made_by_templates() -> None:
    """Red when a function puts HTML together by itself, and when the list names one that does not any more."""
    found = {
        (name if name in IN_PYTHON else f"{name}:{owner}"): line
        for path in sorted(SOURCE.rglob("*.py"))
        for name in [path.relative_to(SOURCE).as_posix()]
        for owner, line in html_in(path.read_text("utf-8"))
    }
    assert {name: f"line {line}: make it a template" for name, line in found.items() if name not in IN_PYTHON} == {}
    assert IN_PYTHON.keys() - found.keys() == set(), "no HTML there any more: take it off the list"


@pytest.mark.parametrize(
    "source",
    [
        "def card(title):\n    return f'<p class=\"card\">{title}</p>'",
        "CARD = Markup('<p>{}</p>')",
        "CARD: Final = '<p>%s</p>'",
        "def card(title):\n    return b''.join([b'<p>', title, b'</p>'])",
        "def card(title):\n    return Markup(f'{title}')",
        "def card(title):\n    return Markup(FRAME).format(title)",
    ],
)
def test_the_rule_can_fail(source: str) -> None:
    """Each way to make HTML without a template is found."""
    assert list(html_in(source))


@pytest.mark.parametrize(
    "source",
    [
        'def card():\n    """``<p>`` of a card."""',
        "CARD = re.compile('<p>')",
        "def card(name):\n    return f'<{name}> is empty: write <Card title=…>'",
        "def card(title):\n    return render_template('components/card', title=title)",
    ],
)
def test_the_rule_lets_pass(source: str) -> None:
    """What is not HTML."""
    assert not list(html_in(source))


def test_every_template_is_used() -> None:
    """By its name in a module or in another template."""
    texts = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*") if path.suffix in {".py", ".html"})
    names = [path.relative_to(TEMPLATES).as_posix() for path in sorted(TEMPLATES.rglob("*.*"))]
    assert len(names) > 40
    unused = [name for name in names if not {f'"{name}"', f'"{name.removesuffix(".html")}"'} & {*QUOTED.findall(texts)}]
    assert unused == []


def test_values_are_escaped() -> None:
    """In a template of a text, whose lines are joined, as in one of a page."""
    assert render_template("components/cards", columns=2, content="<b>") == '<div class="cards cols-2">&lt;b&gt;</div>'
    assert "<b>" not in render_template("theme/unrendered", text="<b>")
