"""``tenantry edit``, and links for authors of a mounted editor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx2

from tests.cli.conftest import Terminal
from tests.cli.dashboards_server import SOON, serving

HEADERS = {"X-Tenantry-Editor": "1"}


def opened(url: str, code: str) -> httpx2.Response:
    return httpx2.post(f"{url}/-/session", json={"code": code}, headers=HEADERS, timeout=SOON)


def state(url: str, answer: httpx2.Response, path: str = "state") -> httpx2.Response:
    cookie = answer.headers["set-cookie"].partition(";")[0]
    return httpx2.post(f"{url}/-/{path}", json={}, headers=HEADERS | {"Cookie": cookie}, timeout=SOON)


def printed_link(folder: Path) -> re.Match[str]:
    """Its groups: the editor's address, the code, and how the page begins."""
    found = re.search(r"(http://127\.0\.0\.1:\d+/editor)/#code=([\w-]{43})&(\S+)", (folder / "serve.log").read_text())
    assert found is not None
    return found


def test_the_editor_of_a_folder_opens_by_its_link_alone(terminal: Terminal, folder: Path) -> None:
    """As a sample group. Red when a second browser may use the link, and when a page whose name leads to this machine
    is answered."""
    terminal("dashboards", "new", "orders")
    with serving(folder, "--right", "view", command=("edit",)) as address:
        url, code, begin = printed_link(folder).groups()
        assert url == f"{address}/editor"
        assert begin == "environment=sample&group=sample"
        assert httpx2.get(address, timeout=SOON).headers["location"] == "/editor/"
        assert httpx2.get(f"{url}/", timeout=SOON).status_code == 200
        assert httpx2.post(f"{url}/-/state", json={}, headers=HEADERS, timeout=SOON).status_code == 401
        first = opened(url, code)
        found = state(url, first).json()
        assert (found["rights"], found["environments"]) == (["view"], ["sample"])
        assert "@" in found["author"]
        assert opened(url, code).json()["error"]["code"] == "code_used"
        assert httpx2.get(f"{url}/", headers={"Host": "evil.example"}, timeout=SOON).status_code == 400
    assert not (folder / "tenantry.db").exists()


def test_the_editor_begins_with_a_group_of_the_store(ready: Terminal, folder: Path) -> None:
    """Links of the command line open this editor too, with their rights and environments."""
    ready("dashboards", "new", "orders")
    ready("environment", "create", "staging", "--tag", "Testing")
    ready("group", "create", "acme", "--environment", "staging")
    options = ("--group", "acme", "--environment", "staging")
    with serving(folder, *options, command=("edit",)) as address:
        url, _, begin = printed_link(folder).groups()
        assert begin == "environment=staging&group=acme"
        made: dict[str, Any] = ready(
            *("editor", "link", "--author", "ann", "--url", f"{address}/editor/", "--json"),
            *("--right", "unguarded", "--environment", "production"),
        ).json()
        assert (made["author"], made["rights"], made["environments"]) == ("ann", ["unguarded", "view"], ["production"])
        link = re.fullmatch(rf"{url}/#code=([\w-]{{43}})", made["link"])
        assert link is not None
        session = opened(url, link[1])
        found = state(url, session).json()
        assert (found["rights"], found["environments"]) == (["unguarded", "view"], ["production"])
        assert ready("editor", "end", "--author", "ann").out == "1\n"
        assert state(url, session).status_code == 401
    actions = [entry["action"] for entry in ready("audit", "--json").json()]
    assert actions[-3:] == ["editor.link_created", "editor.opened", "editor.sessions_ended"]


def test_wrong_usage_of_the_editor_is_refused(ready: Terminal, folder: Path) -> None:
    """Red when the error of a chosen group, or of the tables of a sample, comes behind a traceback of the server; from
    Python 3.13 on also when the store stays open."""
    ready("dashboards", "new", "orders")
    for command in (("edit", "dashboards", "--port", "0"), ("dashboards", "serve", "dashboards", "--port", "0")):
        unknown = ready(*command, "--group", "nobody", fails=1).err
        assert "nobody" in unknown
        assert "Traceback" not in unknown
        (folder / "a.db").touch()
        untabled = ready(*command, "--source", "sqlite:///a.db", fails=1).err
        assert "tables.yaml lists no tables: list those" in untabled
        assert "Traceback" not in untabled
    ready("edit", "nothing", fails=2)
    ready("edit", "dashboards", "--group", "a", "--source", "sqlite:///a.db", fails=2)
    ready("edit", "dashboards", "--right", "all", fails=2)
    ready("editor", "link", "--author", "", "--url", "https://a.example/editor", fails=2)
    for url in ("/editor", "ftp://a.example/editor", "https://a.example/editor#x"):
        assert "such as https://" in ready("editor", "link", "--author", "ann", "--url", url, fails=2).err
    wrong = ready(
        "editor", "link", "--author", "ann", "--url", "https://a.example/e", "--environment", "nowhere", fails=1
    )
    assert "unknown_environment" in wrong.err
