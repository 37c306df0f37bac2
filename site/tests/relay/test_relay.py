"""What the relay is for: an allowed origin is called as the reader wrote it, within limits."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from tenantry_site.relay import CODES, Relay, dial
from tests.relay.conftest import relay_of
from tests.relay.stage import PUBLIC, Listener, World, post, world

DOCS = Path(__file__).parents[3] / "docs"


def answering(raw: bytes) -> Any:
    async def handle(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    return handle


def whole(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""])
    return head.encode() + body


async def test_a_get_with_a_body_arrives_whole(stage: World) -> None:
    """What a browser cannot send. Red when the body of a GET is dropped."""
    relay = Relay([], [f"http://127.0.0.1:{stage.allowed.port}"], headers=["X-Note"])
    body = '{"user_group_id": "ü"}'
    content = {
        "method": "GET",
        "url": stage.fill("http://127.0.0.1:{allowed}/api/user?a=b%20c&d[]=1"),
        "headers": {"Authorization": "Token t0ken", "Content-Type": "application/json", "X-Note": "gr\u00fcn"},
        "body": body,
    }

    answer = await post(relay, content)

    assert answer.status == 200
    assert answer.content["status"] == 200
    assert json.loads(answer.content["body"]) == {"ok": True}
    assert (answer.content["encoding"], answer.content["truncated"]) == ("text", False)
    assert isinstance(answer.content["milliseconds"], int)
    assert answer.headers["cache-control"] == "no-store"
    head, _, sent = stage.allowed.requests[0].partition(b"\r\n\r\n")
    assert head.splitlines()[0] == b"GET /api/user?a=b%20c&d[]=1 HTTP/1.1"
    assert f"host: 127.0.0.1:{stage.allowed.port}".encode() in head.lower()
    assert b"authorization: token t0ken" in head.lower()
    assert "X-Note: gr\u00fcn".encode("latin-1") in head
    assert sent == body.encode()


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "get"])
async def test_methods(method: str, stage: World, relay: Relay) -> None:
    answer = await post(relay, {"method": method, "url": stage.fill("http://127.0.0.1:{allowed}/")})

    assert answer.content["status"] == 200
    assert stage.allowed.requests[0].startswith(method.upper().encode() + b" / HTTP/1.1\r\n")
    assert answer.content["body"] == ("" if method == "HEAD" else '{"ok": true}')


async def test_a_public_name_is_reached_at_the_address_that_was_checked(stage: World, relay: Relay) -> None:
    stage.names["api.allowed.test"] = [[PUBLIC]]

    answer = await post(relay, {"url": stage.fill("HTTP://API.Allowed.Test:{canary}/")})

    assert answer.content["status"] == 200
    assert stage.internet.accepts == 1
    assert b"Host: api.allowed.test:" in stage.internet.requests[0]


async def test_the_next_address_is_tried() -> None:
    async with world() as stage:
        stage.names["inside.test"] = [["::1", "127.0.0.1"]]
        relay = Relay([], [f"http://inside.test:{stage.allowed.port}"], resolve=stage.resolve)
        assert (await post(relay, {"url": stage.fill("http://inside.test:{allowed}/")})).content["status"] == 200


async def test_what_connection_names_is_not_shown() -> None:
    """RFC 9110 section 7.6.1. Red when the answer's ``Connection`` is not read."""
    async with world(answering(whole(b"hi", "Connection: close, X-Hop", "X-Hop: 1", "X-A: 1"))) as stage:
        answer = await post(relay_of(stage), {"url": stage.fill("http://127.0.0.1:{allowed}/")})
        assert answer.content["headers"] == {"content-length": "2", "x-a": "1"}


async def test_cookies_go_neither_way() -> None:
    """Red when Cookie is sent or Set-Cookie is shown."""
    raw = whole(b"hi", "Set-Cookie: a=b", "Connection: close", "X-A: 1", "X-A: 2", "Alt-Svc: h3")
    async with world(answering(raw)) as stage:
        url = stage.fill("http://127.0.0.1:{allowed}/")
        answer = await post(relay_of(stage), {"url": url, "headers": {"Cookie": "session=1", "Referer": "http://x/"}})
        assert b"session" not in stage.allowed.requests[0]
        assert b"http://x/" not in stage.allowed.requests[0]
        assert answer.content["headers"] == {"content-length": "2", "x-a": "1, 2"}


BODIES = [
    (b"\xff\xfe\x00", "Content-Type: image/png", None),
    (b"a\x00b", "Content-Type: text/plain", None),
    ("grün".encode(), "Content-Type: text/plain", "grün"),
    ("grün".encode("latin-1"), 'Content-Type: text/plain; charset="ISO-8859-1"', "grün"),
    ("grün".encode("utf-16"), "Content-Type: text/plain; charset=utf-16", None),
    (b"\x1f\x8b\x08", "Content-Encoding: gzip", None),
    (b"plain", "Content-Encoding: br", None),
    (b"uryyb", "Content-Type: text/plain; charset=rot13", None),
]


@pytest.mark.parametrize(("body", "header", "text"), BODIES)
async def test_bodies_that_are_not_text_are_given_as_they_are(body: bytes, header: str, text: str | None) -> None:
    """Red when a compressed body is opened: a small one can hold gigabytes."""
    async with world(answering(whole(body, header))) as stage:
        content = (await post(relay_of(stage), {"url": stage.fill("http://127.0.0.1:{allowed}/")})).content
        assert content["encoding"] == ("base64" if text is None else "text")
        assert (base64.b64decode(content["body"]) if text is None else content["body"]) == (text or body)


@pytest.mark.parametrize("length", [99, 100, 101, 5000])
async def test_a_long_body_is_cut_and_marked_as_truncated(length: int) -> None:
    """Red when more than the limit is kept, or when a character that the limit cuts makes text into base64."""
    body = ("é" * length).encode()[:length]
    body = body if length > 100 else b"e" * length
    async with world(answering(whole(body))) as stage:
        relay = Relay([], [stage.fill("http://127.0.0.1:{allowed}")], limit=100)
        content = (await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/")})).content
        assert content["truncated"] == (length > 100)
        assert content["encoding"] == "text"
        assert len(content["body"].encode()) == min(length, 100)


async def test_an_endless_body_is_cut() -> None:
    async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"1000\r\n" + b"e" * 0x1000 + b"\r\n")
            await writer.drain()

    async with world(endless) as stage:
        content = (await post(relay_of(stage), {"url": stage.fill("http://127.0.0.1:{allowed}/")})).content
        assert content["truncated"]
        assert len(content["body"]) == 1024 * 1024


async def test_an_endless_head_is_not_read_to_the_end() -> None:
    """Red when a head may be as large as it likes."""
    sent = 0

    async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while not writer.is_closing():
            writer.write(b"X: " + b"e" * 0x1000 + b"\r\n")
            await writer.drain()
            sent += 0x1000

    async with world(endless) as stage:
        relay = Relay([], [stage.fill("http://127.0.0.1:{allowed}")], timeout=60)
        assert (await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/")})).code == "bad_response"
    assert sent < 8 * 1024 * 1024  # what fits into the sockets' own memory


BROKEN = [
    (b"SSH-2.0-OpenSSH_9.6\r\n", "bad_response"),
    (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", "bad_response"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "bad_response"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", "bad_response"),
    (b"HTTP/1.1 200 OK\r\nX: a\rb\x00\r\n\r\n", "bad_response"),
    (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000, "bad_response"),
    (b"HTTP/1.1 100 Continue\r\n\r\n", "bad_response"),
    (b"", "bad_response"),
]


@pytest.mark.parametrize(("raw", "code"), BROKEN)
async def test_what_is_no_response_is_not_shown(raw: bytes, code: str) -> None:
    async with world(answering(raw)) as stage:
        answer = await post(relay_of(stage), {"url": stage.fill("http://127.0.0.1:{allowed}/")})
        assert (answer.status, answer.code) == (502, code)


async def test_nobody_listens(stage: World) -> None:
    spare = Listener("127.0.0.1")
    await spare.start()
    await spare.stop()
    origin = f"http://127.0.0.1:{spare.port}"
    answer = await post(Relay([], [origin]), {"url": origin})
    assert (answer.status, answer.code) == (502, "unreachable")


async def test_one_deadline_holds_for_everything() -> None:
    """A server that sends a byte now and then. Red when the deadline is one of each read."""

    async def trickle(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"e")
            await asyncio.sleep(0.01)

    async with world(trickle) as stage:
        relay = Relay([], [stage.fill("http://127.0.0.1:{allowed}")], timeout=0.2)
        answer = await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/")})
        assert (answer.status, answer.code) == (504, "timed_out")
        assert "0.2 seconds" in answer.content["error"]["message"]


async def test_the_resolver_has_the_same_deadline() -> None:
    async def asleep(name: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    relay = Relay(["http://api.allowed.test"], timeout=0.05, resolve=asleep)
    assert (await post(relay, {"url": "http://api.allowed.test/"})).code == "timed_out"


async def test_too_many_at_once_are_refused_as_busy() -> None:
    """Red when a slot is not given back, or there is no end of them."""
    go, here = asyncio.Event(), asyncio.Semaphore(0)

    async def wait(request: bytes, writer: asyncio.StreamWriter) -> None:
        here.release()
        await go.wait()
        writer.write(whole(b"hi"))

    async with world(wait) as stage:
        relay = Relay([], [stage.fill("http://127.0.0.1:{allowed}")], concurrency=2)
        content = {"url": stage.fill("http://127.0.0.1:{allowed}/")}
        first = [asyncio.create_task(post(relay, content)) for _ in range(2)]
        for _ in first:
            await here.acquire()
        third = await post(relay, content)
        assert (third.status, third.code) == (429, "busy")
        go.set()
        assert [answer.status for answer in await asyncio.gather(*first)] == [200, 200]
        assert (await post(relay, content)).status == 200


async def test_the_system_s_own_resolver_is_asked_by_default() -> None:
    """``localhost`` leads home, and that is refused for an origin that is not private."""
    assert {ip_address(text).is_loopback for text in await dial.resolve("localhost", 80)} == {True}
    assert (await post(Relay(["http://localhost:9"]), {"url": "http://localhost:9/"})).code == "address_refused"
    assert (await post(Relay(["http://none.invalid"]), {"url": "http://none.invalid/"})).code == "name_not_found"


async def test_a_proxy_of_the_environment_is_not_used(stage: World, relay: Relay, monkeypatch: Any) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, stage.fill("http://127.0.0.1:{canary}"))
    assert (await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/")})).status == 200
    assert stage.reached == 0


async def test_nothing_of_a_request_is_logged(stage: World, relay: Relay, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    content = {
        "url": stage.fill("http://127.0.0.1:{allowed}/?key=s3cret"),
        "headers": {"Authorization": "Bearer s3cret"},
        "method": "POST",
        "body": "s3cret",
    }
    assert (await post(relay, content)).status == 200
    await post(relay, {**content, "url": "http://user:s3cret@127.0.0.1/"})
    assert "s3cret" not in caplog.text


# TLS


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return paths


async def test_a_certificate_is_verified_against_the_name(tmp_path: Path) -> None:
    """Self-signed: refused. Of another name: refused. Trusted and of the name: the name is what TLS is names (SNI)."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trusted, key = certificate(tmp_path, "api.allowed.test")
    server.load_cert_chain(trusted, key)
    names: list[str | None] = []
    server.sni_callback = lambda _, name, __: names.append(name)
    ours = ssl.create_default_context(cafile=str(trusted))
    async with world(tls=server) as stage:
        good, other = (stage.fill(f"https://{name}:{{allowed}}") for name in ("api.allowed.test", "other.test"))

        refused = await post(Relay([], [good], resolve=stage.resolve), {"url": good})
        foreign = await post(Relay([], [other], resolve=stage.resolve, tls=ours), {"url": other})
        right = await post(Relay([], [good], resolve=stage.resolve, tls=ours), {"url": good})

        assert (refused.status, refused.code) == (502, "tls_failed")
        assert "certificate" in refused.content["error"]["message"]
        assert foreign.code == "tls_failed"
        assert right.content["status"] == 200
        assert names[-1] == "api.allowed.test"
        assert len(stage.allowed.requests) == 1


async def test_certificates_are_read_when_a_server_shows_one(stage: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """And once for all relays: that takes longer than all else of a start. Red when a relay reads them as it is made,
    and when nobody keeps them."""
    read = []

    def counted() -> ssl.SSLContext:
        read.append(1)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setattr(ssl, "create_default_context", counted)
    dial._system_trust.cache_clear()
    async with _no_tls() as origin:
        relays = [Relay([], [origin, stage.fill("http://127.0.0.1:{allowed}")], timeout=60) for _ in range(2)]
        assert (await post(relays[0], {"url": stage.fill("http://127.0.0.1:{allowed}")})).status == 200
        assert read == []
        for relay in relays:
            assert (await post(relay, {"url": origin})).code == "tls_failed"
    assert read == [1]
    dial._system_trust.cache_clear()


@asynccontextmanager
async def _no_tls() -> AsyncIterator[str]:
    """An https origin of a server that greets in plain text."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n")
        with suppress(OSError):
            await reader.read()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_server_that_speaks_no_tls(stage: World) -> None:
    async with _no_tls() as origin:
        relay = Relay([], [origin], timeout=60)
        assert (await post(relay, {"url": origin})).code == "tls_failed"


async def test_a_server_that_never_answers_in_tls(stage: World) -> None:
    """It waits for more of what it takes for a request in plain text."""
    origin = stage.fill("https://127.0.0.1:{allowed}")
    assert (await post(Relay([], [origin], timeout=0.2), {"url": origin})).code == "timed_out"


async def test_a_private_origin_that_is_an_address_is_taken_as_it_is(stage: World) -> None:
    """An operator who writes an address down means it."""
    relay = Relay([], [stage.fill("http://[::1]:{canary6}")])
    assert (await post(relay, {"url": stage.fill("http://[0:0::1]:{canary6}/")})).status == 200
    assert stage.canary6.accepts == 1


def test_every_code_is_documented() -> None:
    """Red when a code of the relay is missing from its page."""
    text = (DOCS / "site-relay.md").read_text(encoding="utf-8")
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning.status} | {meaning.meaning} |" in text


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"", b"HTTP/1.1 100 \r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    ],
)
async def test_a_response_in_crumbs_leaves_the_others_their_turn(head: bytes, piece: bytes) -> None:
    """Red when all that one read gave is taken apart at once: thousands of parts, and nobody else is served."""

    async def crumbs(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(head + piece * 3000)

    async with world(crumbs) as stage:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        counting = asyncio.create_task(count())
        relay = Relay([], [stage.fill("http://127.0.0.1:{allowed}")], timeout=60)
        assert (await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/")})).code == "bad_response"
        counting.cancel()
        assert turns > 40
