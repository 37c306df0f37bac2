"""No sample gets or creates a group while a page is served: that undoes a rotation and a deletion.

A sample is a Python block of the README or of docs/, an example, or the demo; a page is served by a function that takes
a request or a websocket, or that a route decorates, and by all that it calls in the same sample. In JavaScript and HTML
it is ``getToken``. Red for each of BROKEN where the scan looks at less.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from tests.docs.test_documents import DOCUMENTS

ROOT = Path(__file__).parents[2]
CREATES = frozenset({"get_or_create", "upsert", "upsert_many", "write_many"})
"""Calls that may make a group."""
ROUTES = frozenset({"api_route", "delete", "get", "patch", "post", "put", "route", "websocket", "websocket_route"})
REQUESTS = frozenset({"HTTPConnection", "Request", "WebSocket"})
PATH = "/api/user"
SCRIPTS = ("html", "javascript", "js", "jsx", "ts", "tsx", "typescript")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def serves(function: Function) -> bool:
    """Whether a page calls it."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    for argument in arguments:
        annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
        if argument.arg in {"request", "websocket"} or annotation.rpartition(".")[2] in REQUESTS:
            return True
    decorators = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    return any(isinstance(each, ast.Attribute) and each.attr in ROUTES for each in decorators)


def makes_groups(source: str) -> list[str]:
    """The functions of a sample that serve a page and may make a group."""
    functions = {each.name: each for each in ast.walk(ast.parse(source)) if isinstance(each, Function)}

    def creates(function: Function, seen: frozenset[str]) -> bool:
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr in CREATES:
                return True
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and PATH in node.value:
                return node is not _docstring(function)
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                called = functions.get(name)
                if called is not None and name not in seen and creates(called, seen | {name}):
                    return True
        return False

    return [name for name, each in functions.items() if serves(each) and creates(each, frozenset({name}))]


def _docstring(function: Function) -> ast.AST | None:
    first = function.body[0]
    return first.value if isinstance(first, ast.Expr) else None


def script_makes_groups(source: str) -> bool:
    """Whether a ``getToken`` of a script asks for ``/api/user``: it, or a function of the script that it may call."""
    return "getToken" in source and PATH in re.sub(r"//[^\n]*|/\*.*?\*/|<!--.*?-->", "", source, flags=re.DOTALL)


def samples() -> Iterator[tuple[str, str, bool]]:
    """The name of each sample, its text, and whether it is Python."""
    for document in DOCUMENTS:
        found, name = blocks(document), str(document.relative_to(ROOT))
        yield name, "\n".join(each.text for each in found if each.language == "python"), True
        for each in found:
            if each.language in SCRIPTS:
                yield f"{name}:{each.line}", each.text, False
    for file in sorted([*ROOT.glob("examples/**/*.py"), *ROOT.glob("src/tenantry/demo/**/*.py")]):
        yield str(file.relative_to(ROOT)), file.read_text("utf-8"), True
    for file in sorted([*ROOT.glob("src/tenantry/demo/**/*.js"), *ROOT.glob("src/tenantry/demo/**/*.html")]):
        yield str(file.relative_to(ROOT)), file.read_text("utf-8"), False


def test_no_sample_makes_a_group_for_a_page() -> None:
    """See above."""
    found = [name for name, text, is_python in samples() if (makes_groups if is_python else script_makes_groups)(text)]
    assert found == []


BROKEN = [
    "async def token(request):\n    return (await provisioner.get_or_create(production, draft)).token",
    "@app.get('/token')\ndef token() -> str:\n    return client.get_or_create('acme').token",
    "def live():\n    return client.get_or_create('acme')\n\n@app.post('/t')\ndef token():\n    return live().token",
    """class Host:
    async def token(self, asked: Request):
        return await self.live()

    async def live(self):
        return await self.http.post("https://x.example/api/user", json={})
""",
]


@pytest.mark.parametrize("source", BROKEN)
def test_a_sample_that_makes_groups_is_found(source: str) -> None:
    """By its own call, by a call of what it calls, and by the address."""
    assert makes_groups(source)


def test_a_script_that_makes_groups_is_found() -> None:
    """Not where only a comment names the address."""
    assert script_makes_groups('frame.getToken = async () => (await fetch("/api/user")).text();')
    assert not script_makes_groups('// not /api/user\nframe.getToken = () => fetch("/token");')


def test_the_samples_are_found() -> None:
    """Red when nothing is scanned."""
    names = {name.partition(":")[0] for name, _, _ in samples()}
    assert {"README.md", "docs/tutorial.md", "docs/embedding.md", "examples/mount_fastapi.py"} <= names
    assert {"src/tenantry/demo/product.py", "src/tenantry/demo/product/product.js"} <= names
