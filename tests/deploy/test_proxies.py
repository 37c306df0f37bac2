"""The nginx, Caddy and HAProxy files of examples/deploy, in servers of Debian's packages, before a real API and app.

One of each for all tests here (engines/reverse_proxies.py puts addresses and certificates in).
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
from websockets.asyncio.client import connect

from engines import reverse_proxies
from engines.reverse_proxies import ReverseProxy
from tenantry.provisioning.http.ndjson_reader import MAX_BULK
from tests.deploy import upstream
from tests.deploy.upstream import Upstream

SECONDS = 60.0


@pytest.fixture(scope="module")
def behind() -> Iterator[Upstream]:
    with upstream.serving() as served:
        yield served


@pytest.fixture(scope="module", params=["nginx", "caddy", "haproxy"])
def proxy(
    request: pytest.FixtureRequest, behind: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReverseProxy]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    with reverse_proxies.running(request.param, folder, tenantry=behind.tenantry, app=behind.app) as running:
        yield running


@pytest.fixture
def http(proxy: ReverseProxy) -> Iterator[httpx2.Client]:
    verified = ssl.create_default_context(cafile=str(proxy.certificate))
    with httpx2.Client(base_url=proxy.url, verify=verified, trust_env=False, timeout=SECONDS) as client:
        yield client


def test_the_prefix_is_taken_off_and_known_to_the_app(
    http: httpx2.Client, behind: Upstream, proxy: ReverseProxy
) -> None:
    """The app sees its own paths below its root path, and makes addresses that lead through the proxy again.

    Red for nginx without the slash at the end of ``proxy_pass``, for Caddy with ``handle`` for ``handle_path``: 404.
    """
    answer = http.get("/analytics/me", headers={"X-User-Group-Token": behind.token})
    assert answer.status_code == 200, proxy.written()
    assert answer.json()["group"] == "acme"
    assert answer.json()["root_path"] == "/analytics"
    assert answer.json()["url"] == f"{proxy.url}/analytics/me"
    assert http.get(answer.json()["url"], headers={"X-User-Group-Token": behind.token}).status_code == 200


def test_provisioning_below_a_prefix(http: httpx2.Client, behind: Upstream, proxy: ReverseProxy) -> None:
    """A GET with a body arrives whole; both slashes are there; metrics are not for the world."""
    called = {"Authorization": f"Token {behind.api_token}", "Content-Type": "application/json"}
    for path in ("/tenantry/api/user", "/tenantry/api/user/"):
        answer = http.request("GET", path, headers=called, content=b'{"user_group_id": "acme"}')
        assert (answer.status_code, answer.json()["success"]) == (200, 1), proxy.written()
    assert http.get("/tenantry/readyz").json()["status"] == "ready"
    assert http.get("/tenantry/metrics").status_code == 403


def test_what_a_client_says_of_itself_is_replaced(http: httpx2.Client, behind: Upstream) -> None:
    """The address, the scheme and the host are the proxy's to say; names with underscores do not reach the app.

    Red for nginx with ``$proxy_add_x_forwarded_for``, which keeps what the client sent.
    """
    lies = {
        "X-Forwarded-For": "6.6.6.6",
        "X-Forwarded-Proto": "gopher",
        "X-Forwarded-Host": "evil.example",
        "Forwarded": "for=6.6.6.6",
        "X-Request-Id": "mine",
    }
    behind.asked.clear()
    answer = http.get("/analytics/me", headers={"X-User-Group-Token": behind.token, **lies})
    assert answer.json()["client"] == "127.0.0.1"  # uvicorn believes a proxy on its own host
    ((_, sent),) = behind.asked
    came = dict(sent)
    assert came["x-forwarded-for"] == "127.0.0.1"
    assert came["x-forwarded-proto"] == "https"
    assert came["x-forwarded-host"] == came["host"] == http.base_url.netloc.decode()
    assert "forwarded" not in came
    assert came["x-request-id"] not in ("", "mine")


async def test_a_websocket(proxy: ReverseProxy, behind: Upstream) -> None:
    """Red for nginx without the Upgrade header: the handshake gets 404.

    By asyncio: the client with threads reads and writes one TLS connection at the same time, which only Python 3.13 and
    newer guard; before, some handshakes are lost.
    """
    verified = ssl.create_default_context(cafile=str(proxy.certificate))
    async with connect(
        f"wss://127.0.0.1:{proxy.port}/analytics/live",
        ssl=verified,
        additional_headers={"X-User-Group-Token": behind.token},
        open_timeout=SECONDS,
        proxy=None,
    ) as opened:
        with anyio.fail_after(SECONDS):
            assert await opened.recv() == "acme"
            await opened.send("there and back")
            assert await opened.recv() == "there and back"


def test_rows_are_sent_as_they_come(http: httpx2.Client, behind: Upstream) -> None:
    """The first line is read before the app has sent the last. Red for nginx without ``proxy_buffering off``."""
    behind.go_on.clear()
    with http.stream("GET", "/analytics/stream", headers={"X-User-Group-Token": behind.token}) as answer:
        pieces = answer.iter_raw()
        assert next(pieces) == b"first\n"
        behind.go_on.set()
        assert b"".join(pieces) == b"last\n"


@pytest.mark.parametrize("first_rows", [0, 1_000])
def test_a_viewer_who_leaves_stops_the_query(proxy: ReverseProxy, behind: Upstream, first_rows: int) -> None:
    """Before the first row, and after a part of the rows. Red for Caddy with ``flush_interval -1``."""
    behind.running.clear()
    behind.stopped.clear()
    verified = ssl.create_default_context(cafile=str(proxy.certificate))
    head = (
        f"GET /analytics/rows?first={first_rows} HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{proxy.port}\r\n"
        f"X-User-Group-Token: {behind.token}\r\n\r\n"
    )
    with (
        socket.create_connection(("127.0.0.1", proxy.port), SECONDS) as plain,
        verified.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(head.encode())
        received = 0
        while received < first_rows * 4_000:
            received += len(connection.recv(1 << 20))
        assert behind.running.wait(SECONDS)
        assert not behind.stopped.is_set()
    assert behind.stopped.wait(SECONDS), proxy.written()


def chunk(line: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(line), line)


def test_lines_of_a_bulk_are_done_while_others_are_sent(
    proxy: ReverseProxy, behind: Upstream, http: httpx2.Client
) -> None:
    """Red for nginx with ``proxy_request_buffering on``: the body is kept until its end, so no group is made."""
    verified = ssl.create_default_context(cafile=str(proxy.certificate))
    called = {"Authorization": f"Token {behind.api_token}"}
    head = (
        "POST /tenantry/api/users/bulk HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{proxy.port}\r\n"
        f"Authorization: Token {behind.api_token}\r\n"
        "Content-Type: application/x-ndjson\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with (
        socket.create_connection(("127.0.0.1", proxy.port), SECONDS) as plain,
        verified.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(head.encode() + chunk(b'{"user_group_id": "first of %s"}\n' % proxy.name.encode()))
        deadline = time.monotonic() + SECONDS
        while (
            http.get("/tenantry/api/users", params={"user_group_id": f"first of {proxy.name}"}, headers=called).json()[
                "user_groups"
            ]
            == []
        ):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        connection.sendall(chunk(b'{"user_group_id": "second"}\n') + b"0\r\n\r\n")
        came = b""
        while b'"summary"' not in came:
            came += connection.recv(10_000)
    assert came.startswith(b"HTTP/1.1 200")
    assert b'"second"' in came


@pytest.mark.parametrize("slash", ["", "/"])
def test_every_line_of_a_large_bulk_is_done(
    http: httpx2.Client, behind: Upstream, proxy: ReverseProxy, slash: str
) -> None:
    """6 MB in chunks, at both addresses that the API has for it. Red without the preference that the answer begins
    after them: nginx stops sending them when it has begun, and Go's server, which is Caddy's, then drops what it has
    not read, some 200 KB over HTTP/1.1. With the slash red where it has the limits of other addresses."""
    name = f"{proxy.name}{slash}"
    lines = [
        json.dumps({"user_group_id": f"{name}{number}", "properties": {"text": "x" * 30_000}}).encode() + b"\n"
        for number in range(200)
    ]
    called = {"Authorization": f"Token {behind.api_token}", "Content-Type": "application/x-ndjson"}
    answer = http.post(f"/tenantry/api/users/bulk{slash}", headers=called, content=iter(lines))
    report = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["user_group"]["provided_id"] for line in report[:-1]] == [f"{name}{n}" for n in range(200)]


def test_the_largest_bulk_may_pass() -> None:
    """The units are the API's: red with ``128MB``, which is 6 MB less in Caddy."""
    assert f"max_size {MAX_BULK >> 20}MiB\n" in (reverse_proxies.FILES / "Caddyfile").read_text("utf-8")
    assert f"if bulk {{ req.body_size gt {MAX_BULK} }}" in (reverse_proxies.FILES / "haproxy.cfg").read_text("utf-8")
    assert f"client_max_body_size {MAX_BULK >> 20}m;\n" in (reverse_proxies.FILES / "nginx.conf").read_text("utf-8")


def test_a_large_head_ends_at_the_proxy(http: httpx2.Client, behind: Upstream) -> None:
    """Of 7 KB it passes, of 24 KB it does not, and the app is not asked."""
    token = {"X-User-Group-Token": behind.token}
    assert http.get("/analytics/me", headers={**token, "X-Long": "x" * 7_000}).status_code == 200
    behind.asked.clear()
    assert http.get("/analytics/me", headers={**token, "X-Long": "x" * 24_000}).status_code in (400, 431)
    assert behind.asked == []


def test_a_large_body_ends_at_the_proxy(http: httpx2.Client, behind: Upstream) -> None:
    """Of 1 MiB. Caddy has sent the begin of it on by then: the API may be the first to refuse it, or miss its end, and
    Caddy ends the answer in the middle."""
    called = {"Authorization": f"Token {behind.api_token}"}
    try:
        status = http.post("/tenantry/api/user", headers=called, content=b"x" * 1_500_000).status_code
    except (httpx2.RemoteProtocolError, httpx2.NetworkError):  # or the rest is sent after the proxy has closed
        status = 0
    assert status in (413, 502, 0)


def test_the_rates_of_the_page_are_those_of_every_file() -> None:
    """Red for HAProxy with a limit of 60 requests for one second, for any other number in one of the places, and for
    HAProxy with ``http_req_rate``, which also counts refused requests."""
    page = (reverse_proxies.FILES.parents[1] / "docs" / "deploy" / "proxies.md").read_text("utf-8")
    (stated,) = re.findall(r"(\d+) requests a second from one address for provisioning, (\d+) for dashboards", page)
    (at_once,) = re.findall(r"accept what (\d) seconds\s+allow \((\d+) and (\d+) requests\) in one second", page)
    seconds = int(at_once[0])
    rates = [int(rate) for rate in stated]
    assert [int(number) for number in at_once[1:]] == [seconds * rate for rate in rates]

    nginx = (reverse_proxies.FILES / "nginx.conf").read_text("utf-8")
    haproxy = (reverse_proxies.FILES / "haproxy.cfg").read_text("utf-8")
    for zone, backend, rate in zip(("provisioning", "dashboards"), ("tenantry", "app"), rates, strict=True):
        assert f"zone={zone}:10m rate={rate}r/s;" in nginx
        assert f"limit_req zone={zone} burst={(seconds - 1) * rate} nodelay;" in nginx
        lines = haproxy.split(f"\nbackend {backend}\n")[1].split("\nbackend")[0]
        assert f"gpc0_rate({seconds}s)" in lines
        assert f"if {{ sc_gpc0_rate(0) ge {seconds * rate} }}\n  http-request sc-inc-gpc0(0)\n" in lines
        caddy = page.split(f"zone {zone} {{")[1]
        assert re.findall(r"events (\d+)\s+window (\d+)s", caddy)[0] == (str(seconds * rate), str(seconds))


@pytest.mark.parametrize("proxy", ["nginx", "haproxy"], indirect=True)
async def test_a_rate_answers_429(proxy: ReverseProxy) -> None:
    """With the time to come back. Caddy's package has no rate limits: the page says what to add.

    Red for nginx without ``limit_req``: nothing but 200.
    """
    verified = ssl.create_default_context(cafile=str(proxy.certificate))
    refused: list[httpx2.Response] = []
    async with httpx2.AsyncClient(base_url=proxy.url, verify=verified, trust_env=False, timeout=SECONDS) as client:

        async def ask() -> None:
            answer = await client.get("/tenantry/healthz")
            if answer.status_code != 200:
                refused.append(answer)

        with anyio.fail_after(SECONDS):
            while not refused:
                async with anyio.create_task_group() as tasks:
                    for _ in range(50):
                        tasks.start_soon(ask)
    assert {answer.status_code for answer in refused} == {429}
    assert refused[0].headers["Retry-After"] == ("1" if proxy.name == "nginx" else "3")
    assert refused[0].json()["error"]["code"] == "too_many_requests"


def test_no_log_holds_a_token(http: httpx2.Client, behind: Upstream, proxy: ReverseProxy) -> None:
    """In the path, the query, a cookie, a header, the Referer; of requests that pass, that are refused and that find no
    app. What is left of a request is enough to find it.

    Red for nginx with ``$request`` or with ``error_log … error``, for Caddy without the filter of either log.
    """
    token = behind.token
    for address, headers in (
        (f"/analytics/embed/{token}/me", {}),
        (f"/analytics/me?USER_GROUP_TOKEN={token}", {}),
        ("/analytics/me", {"X-User-Group-Token": token}),
        ("/analytics/me", {"Authorization": f"UserGroup {token}"}),
        ("/analytics/me", {"Cookie": f"USER_GROUP_TOKEN={token}"}),
        (f"/analytics/nothing/{token}?a={token}", {"Referer": f"https://127.0.0.1/?t={token}"}),
        (f"/elsewhere/{token}?a={token}", {}),
        (f"/tenantry/api/user?token={token}", {"Authorization": f"Token {behind.api_token}"}),
        (f"/analytics/me?USER_GROUP_TOKEN={token}", {"X-Long": "x" * 24_000}),
        (f"/tenantry/{'a/' * 20}{behind.api_token}", {}),
    ):
        http.get(address, headers=headers)
    http.get("/tenantry/the-last-one")
    written = proxy.written_with("the-last-one")
    assert token[10:40] not in written
    assert behind.api_token[8:28] not in written
    records = [json.loads(line) for line in (proxy.folder / "access.log").read_text().splitlines()]
    assert "[cut]" in written
    assert len(records) >= 10
    assert {record.get("status") for record in records} >= {200, 404}


def test_no_log_holds_a_token_when_the_app_is_gone(behind: Upstream, proxy: ReverseProxy, tmp_path: Path) -> None:
    """A proxy says in its own log why it answers 502, beside the request. A second one, with nobody behind it."""
    nobody = f"127.0.0.1:{reverse_proxies.free_port()}"
    token = behind.token
    with reverse_proxies.running(proxy.name, tmp_path, tenantry=nobody, app=nobody) as lonely:
        verified = ssl.create_default_context(cafile=str(lonely.certificate))
        with httpx2.Client(base_url=lonely.url, verify=verified, trust_env=False, timeout=SECONDS) as client:
            answer = client.get(
                f"/analytics/embed/{token}/me?USER_GROUP_TOKEN={token}", headers={"X-User-Group-Token": token}
            )
        assert answer.status_code in (502, 503)
        assert token[10:40] not in lonely.written_with(f'"status":{answer.status_code}')
