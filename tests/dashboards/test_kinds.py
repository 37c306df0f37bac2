"""Scope is built in: everything that accepts the passes of viewers names its kind, and refuses other kinds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from tenantry import DataSources, Resolver, UserGroupMiddleware, groups, mint_pass, mount_dashboards, user_group
from tenantry.middleware import TOKEN_HEADER
from tenantry.testing import MemoryStore
from tests.dashboards.served import write_files
from tests.resolver.fake import KEYS, FakeBackend

ROOT = Path(__file__).parents[2]
KINDS = ("app", "dashboard", "mcp", "forward-auth", "editor")
MOUNTS = {("src/tenantry/dashboards/mount.py", "DASHBOARD"): groups.DASHBOARD}
"""Each place that adds a UserGroupMiddleware: its file, the kind as the code names it, and the kind."""
RESOLVES = {
    "src/tenantry/cli/dashboards_serve.py",  # the token of the author, for advice in the terminal
    "src/tenantry/dashboards/embedding/session_cookie.py",  # puts a pass into a cookie; the mount reads its scope
    "src/tenantry/middleware/middleware.py",
    "src/tenantry/middleware/token_watch.py",  # of a connection that the middleware has let in
    "src/tenantry/provisioning/http/introspection.py",  # the answer has the scope
    "src/tenantry/resolver/followed_keys.py",
    "src/tenantry/resolver/resolver.py",
}
"""Each file that finds the group of a token or pass."""


def a_view(resolver: Resolver, folder: Path) -> tuple[Starlette, str]:
    async def view(request: Request) -> Response:
        return PlainTextResponse(user_group(request).name)

    app = Starlette(routes=[Route("/", view, methods=["POST"])])
    app.add_middleware(UserGroupMiddleware, resolver=resolver)
    return app, "/"


def a_dashboard(resolver: Resolver, folder: Path) -> tuple[Starlette, str]:
    app = Starlette()
    write_files(folder, {"dashboards/sales.yaml": "title: Sales\nrows: [{heading: A}]\n"})
    mount_dashboards(app, folder / "dashboards", resolver, DataSources(MemoryStore()))
    return app, "/dashboards/sales/-/panels"


OPENED: dict[str, Callable[[Resolver, Path], tuple[Starlette, str]]] = {"app": a_view, "dashboard": a_dashboard}


@pytest.mark.parametrize("kind", OPENED)
def test_a_pass_opens_its_kind_alone(tmp_path: Path, kind: str) -> None:
    """403 for each other kind. Red if a mount does not name its kind: that of apps is the default."""
    backend = FakeBackend()
    _, token = backend.issue()
    app, path = OPENED[kind](Resolver(backend, keys=KEYS), tmp_path)

    def status(scope: str | None) -> int:
        headers = {TOKEN_HEADER: mint_pass(token.decode(), "ada", scope=scope)}
        return TestClient(app).post(path, json={"definition": True, "live": False}, headers=headers).status_code

    assert {scope: status(scope) for scope in KINDS} == {scope: 200 if scope == kind else 403 for scope in KINDS}
    assert (status(None), status(f"{kind} mcp:orders")) == (200, 200)


def test_every_mount_names_its_kind() -> None:
    """Red for a new mount, also for a second one in a file, until it says which kind it is, and until MOUNTS and OPENED
    have it. Also red for a mount that this test cannot read, as of another name for the class or of a subclass."""
    found, uses = [], []
    for path, node in nodes("UserGroupMiddleware"):
        if isinstance(node, ast.Name | ast.Attribute | ast.alias) and is_middleware(node):
            uses.append(path)
        if isinstance(node, ast.Call) and any(is_middleware(each) for each in (node.func, *node.args[:1])):
            kind = next((ast.unparse(each.value) for each in node.keywords if each.arg == "audience"), None)
            found.append((path, kind))
    assert sorted(found, key=repr) == sorted(MOUNTS, key=repr)
    assert sorted(uses) == sorted([*(path for path, _ in MOUNTS), "src/tenantry/middleware/fastapi.py"])
    assert set(OPENED) == {"app", *MOUNTS.values()}, "test_a_pass_opens_its_kind_alone does not try every kind"


def is_middleware(node: ast.AST) -> bool:
    """Whether the code names the class, or gives it another name."""
    match node:
        case ast.alias(name=name, asname=str(other)):
            return name == "UserGroupMiddleware" != other
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == "UserGroupMiddleware"
    return False


def test_every_reader_of_tokens_is_listed() -> None:
    """Red for another way in, beside the middleware, until RESOLVES says why it may leave out the scope. Red when only
    calls of ``resolve`` are found."""
    found = set()
    for path, node in nodes(".resolve", ".peek", "read_pass"):
        match node:
            case ast.Attribute(value=value, attr="resolve" | "peek") if "resolver" in ast.unparse(value).lower():
                found.add(path)
            case ast.Call(func=ast.Name(id="read_pass") | ast.Attribute(attr="read_pass")):
                found.add(path)
    assert found == RESOLVES


def nodes(*words: str) -> Iterator[tuple[str, ast.AST]]:
    """The syntax of the sources that contain one of these words, each node with the path of its file."""
    for folder in (ROOT / "src", ROOT / "contrib"):
        for path in sorted(folder.rglob("src/**/*.py") if folder.name == "contrib" else folder.rglob("*.py")):
            text = path.read_text("utf-8")
            for node in ast.walk(ast.parse(text)) if any(word in text for word in words) else ():
                yield path.relative_to(ROOT).as_posix(), node
