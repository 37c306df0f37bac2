"""``tenantry demo`` as a newcomer starts it: one process, real data, addresses to open."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

ADDRESS = re.compile(r"(?P<name>\w[\w ]*?) +(?P<address>http://127\.0\.0\.1:\d+/\?USER_GROUP_TOKEN=\S+)")


@dataclass
class Started:
    """A running demo and what it printed."""

    text: str

    @property
    def url(self) -> str:
        return self.addresses["nobody"].split("/?")[0]

    @property
    def addresses(self) -> dict[str, str]:
        return {match["name"]: match["address"] for match in ADDRESS.finditer(self.text)}

    @property
    def api_token(self) -> str:
        match = re.search(r"Authorization: Token (\w+)", self.text)
        assert match is not None
        return match[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's folder; empty at first."""
    return tmp_path_factory.mktemp("demo")


def _start(folder: Path) -> Iterator[Started]:
    command = [sys.executable, "-W", "error", "-m", "tenantry", "demo", "--folder", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("Ctrl-C"):
            break
    text = "".join(lines)
    assert ADDRESS.search(text), text
    yield Started(text)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert out == ""
    assert "USER_GROUP_TOKEN=ugt" not in err, "the log shows no token"
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def demo(folder: Path) -> Iterator[Started]:
    """The demo, started once for this module."""
    yield from _start(folder)


def _open(address: str) -> str:
    with httpx2.Client(follow_redirects=True, timeout=120) as browser:
        answer = browser.get(address)
        assert answer.status_code == 200, answer.text
        assert "USER_GROUP_TOKEN" not in str(answer.url)
        return answer.text


def test_three_customers_see_three_dashboards(demo: Started) -> None:
    """Same address, same code; the number of flights is the airline's own."""
    flights = {}
    for name, address in demo.addresses.items():
        if name != "nobody":
            page = _open(address)
            assert name in page
            flights[name] = re.search(r'<dd class="value"><data value="(\d+)"', page)[1]  # type: ignore[index]  # a match
    assert set(flights) == {"United Air Lines", "JetBlue Airways", "Hawaiian Airlines"}
    assert len(set(flights.values())) == 3


def test_a_token_that_was_never_given_out_is_refused(demo: Started) -> None:
    """It is signed with the demo's own key, and still opens nothing: the store does not know it."""
    answer = httpx2.get(demo.addresses["nobody"], timeout=120)
    assert answer.status_code == 401


def test_rotating_over_http_cuts_off_one_customer_at_once(demo: Started) -> None:
    """The dashboards' resolver sees the write when it returns. Red when the writer leaves the version as it is."""
    headers = {"Authorization": f"Token {demo.api_token}"}
    with httpx2.Client(base_url=demo.url, headers=headers, timeout=120) as api:
        hawaiian = api.request("GET", "/api/user", json={"user_group_id": "HA"}).json()["user_group"]["token"]
        assert demo.addresses["Hawaiian Airlines"].endswith(hawaiian)
        _open(demo.addresses["Hawaiian Airlines"])
        rotated = api.post("/api/user", json={"current_token": hawaiian}).json()["user_group"]["token"]
        assert httpx2.get(demo.addresses["Hawaiian Airlines"], timeout=120).status_code == 401
        _open(demo.addresses["Hawaiian Airlines"].replace(hawaiian, rotated))
        _open(demo.addresses["United Air Lines"])


def test_the_second_start_keeps_the_groups(demo: Started, folder: Path) -> None:
    """The same tokens as before, a new API token, and the rotation of the test above still holds. The audit trail tells
    who made all this. Red when the demo writes without a name."""
    again = _start(folder)
    second = next(again)
    try:
        assert second.addresses["United Air Lines"].split("=")[1] == demo.addresses["United Air Lines"].split("=")[1]
        assert second.api_token != demo.api_token
        _open(second.addresses["Hawaiian Airlines"])
        old = httpx2.request(
            "QUERY", f"{second.url}/api/user", headers={"Authorization": f"Token {demo.api_token}"}, timeout=120
        )
        assert old.status_code == 401
        assert {author.partition(" (")[0] for author in _authors(folder)} == {"tenantry demo", "api token 1"}
    finally:
        next(again, None)


def _authors(folder: Path) -> set[str]:
    """Who is in the audit trail."""
    with closing(sqlite3.connect(folder / "tenantry.db")) as store:
        return {author for (author,) in store.execute("select author from audit")}
