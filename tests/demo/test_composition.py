"""``tenantry demo`` as a newcomer starts it, and once more: real data, addresses to open."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from engines.ports import free_port
from tests.demo.stage import put_flights

pytestmark = pytest.mark.slow

PRODUCT = re.compile(r"^ +(http://127\.0\.0\.1:\d+)$", re.MULTILINE)
FRAME = "/dashboards/overview/-/panels"


@dataclass
class Started:
    """A running demo and what it printed."""

    text: str

    @property
    def url(self) -> str:
        return re.findall(r"(http://127\.0\.0\.1:\d+)/docs/", self.text)[0]

    @property
    def product(self) -> str:
        return PRODUCT.findall(self.text)[0]

    @property
    def api_token(self) -> str:
        match = re.search(r"Authorization: Token (\w+)", self.text)
        assert match is not None
        return match[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's folder, with its data only: the tutorial makes them (tests/docs/test_documents.py)."""
    made = tmp_path_factory.mktemp("demo")
    put_flights(made, tmp_path_factory)
    return made


def _start(folder: Path, *words: str, **environment: str) -> Iterator[Started]:
    command = [sys.executable, "-W", "error", "-m", "tenantry", "demo", "--folder", str(folder), *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=os.environ | environment
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("Ctrl-C"):
            break
    text = "".join(lines)
    try:
        assert PRODUCT.search(text), text
        yield Started(text)
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "")
    assert "ugtc_" not in err, "the log shows no token"
    assert "Traceback" not in err
    # Without `gc.unfreeze`, DuckDB's binding prints some fifty lines about objects that were not freed.
    assert "leaked" not in err


@pytest.fixture(scope="module")
def demo(folder: Path) -> Iterator[Started]:
    """The first start of this module, at the port of the environment: 8000 may be taken."""
    yield from _start(folder, TENANTRY_PORT="0")


@pytest.fixture(scope="module")
def second(demo: Started, folder: Path) -> Iterator[Started]:
    """The second start, while the first demo runs and a customer is cut off. The next port is taken."""
    httpx2.delete(f"{demo.product}/customers/HA/access", timeout=120)
    port = free_port()
    with socket.create_server(("127.0.0.1", port + 1)):
        yield from _start(folder, "--port", str(port))


def test_it_says_what_it_does_before_it_takes_its_time(demo: Started) -> None:
    assert demo.text.startswith("Preparing the demo")
    assert demo.url != "http://127.0.0.1:8000"


def _pass(demo: Started, carrier: str) -> str:
    """What the product's server gives its page."""
    return httpx2.post(f"{demo.product}/customers/{carrier}/pass", timeout=120).text


def _flights(demo: Started, given: str) -> int:
    """The key figure of whoever has this pass or token; 0 where it opens nothing."""
    headers = {"X-User-Group-Token": given}
    answer = httpx2.post(f"{demo.url}{FRAME}", json={"panels": [{"id": "1-1"}]}, headers=headers, timeout=120)
    if answer.status_code == 401:
        return 0
    assert answer.status_code == 200, answer.text
    return int(json.loads(answer.text.splitlines()[0])["rows"][0][0])


def test_three_customers_see_three_dashboards(demo: Started) -> None:
    """Same page, same code; the number of flights is the airline's own."""
    page = httpx2.get(demo.product, timeout=120).text
    assert [name for name in ("United Air Lines", "JetBlue Airways", "Hawaiian Airlines") if name not in page] == []
    found = {carrier: _flights(demo, _pass(demo, carrier)) for carrier in ("UA", "B6", "HA")}
    assert len(set(found.values())) == 3
    assert all(found.values())


def test_the_terminal_names_the_files_of_the_editor(demo: Started) -> None:
    """Red when it names the folder of the data."""
    (named,) = re.findall(r"Its files: (.+)", demo.text)
    assert {each.name for each in Path(named).iterdir()} == {"dashboards", "queries", "tables.yaml"}


def test_a_customer_is_cut_off_and_the_others_go_on(demo: Started) -> None:
    """At once, and for as long as its product asks for passes. Red when it is not suspended."""
    before, other = _pass(demo, "HA"), _pass(demo, "UA")
    assert httpx2.delete(f"{demo.product}/customers/HA/access", timeout=120).status_code == 204
    assert [_flights(demo, each) for each in (before, _pass(demo, "HA"))] == [0, 0]
    assert _flights(demo, other) > 0
    assert httpx2.put(f"{demo.product}/customers/HA/access", timeout=120).status_code == 204
    assert _flights(demo, before) > 0


def test_rotating_over_http_cuts_off_one_customer_at_once(demo: Started) -> None:
    """The dashboards' resolver sees the write when it returns. Red when the writer leaves the version as it is."""
    headers = {"Authorization": f"Token {demo.api_token}"}
    with httpx2.Client(base_url=demo.url, headers=headers, timeout=120) as api:
        jetblue = api.request("GET", "/api/user", json={"user_group_id": "B6"}).json()["user_group"]["token"]
        assert _flights(demo, jetblue) > 0
        rotated = api.post("/api/user", json={"current_token": jetblue}).json()["user_group"]["token"]
        assert (_flights(demo, jetblue), _flights(demo, rotated) > 0) == (0, True)


def test_the_second_start_keeps_the_groups(demo: Started, second: Started, folder: Path) -> None:
    """The same tokens as before, a new API token, and nobody is cut off any more. The audit trail tells who made all
    this. Red when the demo writes without a name, and when a suspended customer ends the start."""
    of_token = slice(3, 47)  # what a pass shows of its token
    assert _pass(second, "UA")[of_token] == _pass(demo, "UA")[of_token]
    assert _flights(second, _pass(second, "HA")) > 0
    assert second.api_token != demo.api_token
    headers = {"Authorization": f"Token {demo.api_token}"}
    assert httpx2.request("QUERY", f"{second.url}/api/user", headers=headers, timeout=120).status_code == 401
    authors = {author.partition(" (")[0] for author in _authors(folder)}
    assert authors == {"tenantry demo", "the demo's product", "api token 1"}


def test_the_product_is_at_another_port_where_the_next_one_is_taken(second: Started) -> None:
    """It is another origin than Tenantry's, which leads to it. Red when a taken port ends the demo."""
    assert int(second.product.rpartition(":")[2]) != int(second.url.rpartition(":")[2]) + 1
    assert httpx2.get(second.product, timeout=120).status_code == 200
    moved = httpx2.get(second.url, timeout=120)
    assert (moved.status_code, moved.headers["location"]) == (307, second.product)


def _authors(folder: Path) -> set[str]:
    """Who is in the audit trail."""
    with closing(sqlite3.connect(folder / "tenantry.db")) as store:
        return {author for (author,) in store.execute("select author from audit")}


def test_the_printed_command_makes_another_link_and_keeps_the_chain(demo: Started, folder: Path) -> None:
    """Last, because others read who wrote. Red without --keys: the entry had no seal, and ``audit verify`` failed."""
    (line,) = re.findall(r"Another link: tenantry (.+)", demo.text)
    words = shlex.split(line)
    made = _tenantry(folder, *words)
    assert made.stdout.startswith(f"{demo.url}/editor/#code=")
    assert "sealed" not in made.stderr
    _tenantry(folder, "audit", "verify", *words[words.index("--database") :])


def _tenantry(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tenantry", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
