"""What the relay takes from a page: from its own pages alone, and nothing that is not the reader's to say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site.relay import CODES, Relay, RelayError, origin_of
from tenantry_site.relay.request import parse_request
from tenantry_site.relay.url import parse_url
from tests.relay.stage import OWN, World, post
from tests.relay.tricks import CONFUSIONS

SENDERS: list[tuple[dict[str, str | None], str]] = [
    ({"x-tenantry-relay": None}, "foreign_request"),
    ({"x-tenantry-relay": "0"}, "foreign_request"),
    ({"content-type": None}, "unsupported_media_type"),
    ({"content-type": "text/plain"}, "unsupported_media_type"),
    ({"content-type": "application/x-www-form-urlencoded"}, "unsupported_media_type"),
    ({"content-type": "text/plain; application/json"}, "unsupported_media_type"),
    ({"sec-fetch-site": "cross-site"}, "foreign_request"),
    ({"sec-fetch-site": "same-site"}, "foreign_request"),
    ({"origin": "https://evil.example"}, "foreign_request"),
    ({"origin": "null"}, "foreign_request"),
    ({"origin": "https://docs.example.evil.example"}, "foreign_request"),
    ({"origin": "https://docs.example:444"}, "foreign_request"),
    ({"origin": "http://[docs.example"}, "foreign_request"),
    ({"origin": ""}, "foreign_request"),
    ({"host": None}, "foreign_request"),
    ({"host": "", "origin": "null"}, "foreign_request"),
]


@pytest.mark.parametrize(("headers", "code"), SENDERS)
async def test_a_page_of_another_origin_is_refused(
    headers: dict[str, str | None], code: str, stage: World, relay: Relay
) -> None:
    """Red when the check that the row is about is missing."""
    sent = {name: value for name, value in {**OWN, **headers}.items() if value is not None}
    answer = await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/")}, headers=sent)
    assert (answer.code, answer.status) == (code, CODES[code].status)
    assert stage.allowed.accepts == 0


OWN_PAGES: list[dict[str, str]] = [
    {"origin": "https://docs.example", "sec-fetch-site": "same-origin"},
    {"origin": "http://docs.example:80"},
    {"origin": "https://docs.example", "host": "docs.example:443"},
    {"origin": "http://[::1]:8000", "host": "[::1]:8000"},
    {"sec-fetch-site": "none", "content-type": "application/json; charset=utf-8"},
]


@pytest.mark.parametrize("headers", OWN_PAGES)
async def test_a_page_of_its_own_origin_is_served(headers: dict[str, str], stage: World, relay: Relay) -> None:
    answer = await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/")}, headers={**OWN, **headers})
    assert answer.status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "HEAD"])
async def test_the_relay_itself_takes_post_alone(method: str, relay: Relay) -> None:
    answer = await post(relay, {}, method=method)
    assert (answer.status, answer.code, answer.headers["allow"]) == (405, "method_not_allowed", "POST")
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_the_names_of_the_docs_can_be_fixed(stage: World) -> None:
    """Red when a name that leads to the docs from elsewhere can use the relay (DNS rebinding of the docs)."""
    origin = stage.fill("http://127.0.0.1:{allowed}")
    relay = Relay([], [origin], hosts=["Docs.example", "[::1]"])
    for host, status in {"docs.example": 200, "docs.example:8000": 200, "[::1]:80": 200, "evil.example": 403}.items():
        assert (await post(relay, {"url": origin}, headers={**OWN, "host": host})).status == status


HEADERS: list[dict[str, Any]] = [
    {"Host": "127.0.0.1"},
    {"host": "evil.example"},
    {"Content-Length": "0"},
    {"Transfer-Encoding": "chunked"},
    {"transfer_encoding": "chunked"},
    {"Connection": "keep-alive, Authorization"},
    {"Upgrade": "h2c"},
    {"HTTP2-Settings": "AAMAAABkAARAAAAAAAIAAAAA"},
    {"Expect": "100-continue"},
    {"TE": "trailers"},
    {"Trailer": "X"},
    {"Keep-Alive": "300"},
    {"Forwarded": "for=127.0.0.1"},
    {"X-Forwarded-For": "127.0.0.1"},
    {"X-Forwarded-Host": "evil.example"},
    {"X_Forwarded_For": "127.0.0.1"},
    {"X-Real-IP": "127.0.0.1"},
    {"X-Original-URL": "/admin"},
    {"Proxy-Authorization": "Basic eDp5"},
    {"Proxy-Connection": "keep-alive"},
    {"Sec-Fetch-Site": "same-origin"},
    {"Via": "1.1 relay"},
    {"Metadata-Flavor": "Google"},
    {"X-aws-ec2-metadata-token-ttl-seconds": "60"},
    {"X-Tenantry-Relay": "1"},
    {"X": "a\r\nHost: evil.example"},
    {"X": "a\nb"},
    {"X": "a\0b"},
    {"X": "a\x7fb"},
    {"X": "\u2603"},
    {"X\r\nHost": "evil.example"},
    {"X: a\r\nHost": "evil.example"},
    {"X ": "a"},
    {" X": "a"},
    {"": "a"},
    {"X:": "a"},
    {"H\u00f6st": "a"},
    {"Authorization": "a", "authorization": "b"},
]


@pytest.mark.parametrize("headers", HEADERS, ids=str)
async def test_headers_that_are_not_the_reader_s(headers: dict[str, Any], stage: World, relay: Relay) -> None:
    """Red when one of them is sent: it would speak for the connection, for the client, or to another relay."""
    answer = await post(relay, {"url": stage.fill("http://127.0.0.1:{allowed}/"), "headers": headers})
    assert (answer.status, answer.code) == (400, "header_refused")
    assert stage.allowed.accepts == 0


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "TRACK", "PURGE", "", "GET /", "GET\r\n", "G\u00cbT"])
async def test_methods_that_are_not_sent(method: str, stage: World, relay: Relay) -> None:
    answer = await post(relay, {"method": method, "url": stage.fill("http://127.0.0.1:{allowed}/")})
    assert (answer.status, answer.code) == (400, "method_refused")
    assert stage.allowed.accepts == 0


MALFORMED: list[tuple[bytes, str]] = [
    (b"", "bad_request"),
    (b"[]", "bad_request"),
    (b"null", "bad_request"),
    (b"{", "bad_request"),
    (b"\xff", "bad_request"),
    (b"[" * 100_000, "bad_request"),
    (b"{}", "bad_request"),
    (b'{"url": 1}', "bad_request"),
    (b'{"url": "http://a.test", "method": null}', "bad_request"),
    (b'{"url": "http://a.test", "url": "http://127.0.0.1"}', "bad_request"),
    (b'{"url": "http://a.test", "follow": true}', "bad_request"),
    (b'{"url": "http://a.test", "headers": []}', "bad_request"),
    (b'{"url": "http://a.test", "headers": {"X": 1}}', "bad_request"),
    (b'{"url": "http://a.test", "headers": {"X": "1", "X": "2"}}', "bad_request"),
    (b'{"url": "http://a.test", "body": {}}', "bad_request"),
    (b'{"url": "http://a.test", "body": "\\ud800"}', "bad_request"),
    (json.dumps({"url": "http://a.test", "body": "e" * 65537}).encode(), "too_large"),
    (json.dumps({"url": "http://a.test", "headers": {"X": "e" * 16384}}).encode(), "too_large"),
    (json.dumps({"url": "http://a.test", "headers": {f"X{n}": "" for n in range(65)}}).encode(), "too_large"),
    (b" " * (512 * 1024 + 1), "too_large"),
]


@pytest.mark.parametrize(("raw", "code"), MALFORMED)
async def test_malformed_requests(raw: bytes, code: str, relay: Relay) -> None:
    assert (await post(relay, raw)).code == code


async def test_the_largest_body_is_sent(stage: World, relay: Relay) -> None:
    """64 KiB, every character of which JSON writes as six."""
    content = {"method": "POST", "url": stage.fill("http://127.0.0.1:{allowed}/"), "body": "\1" * 65536}
    assert (await post(relay, content)).status == 200
    assert stage.allowed.requests[0].endswith(b"\r\n\r\n" + b"\1" * 65536)


@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: json.dumps({"url": text}).encode())))
@settings(max_examples=examples(200), suppress_health_check=list(HealthCheck))
def test_any_bytes_give_a_message_or_a_refusal(raw: bytes) -> None:
    try:
        request = parse_request(raw)
    except RelayError as error:
        code = error.code
    else:
        code = "bad_address"
        assert parse_url(request.url.origin).origin == request.url.origin
    assert code in CODES


@given(st.text(alphabet="htps:/@#?\\.[]%0127af☃。-_ \t\n", max_size=40).map(lambda text: "http://" + text))
@settings(max_examples=examples(300))
def test_an_address_that_is_read_means_the_same_to_the_standard_library(address: str) -> None:
    """Red when the strict parser reads a host that another parser reads otherwise."""
    from urllib.parse import urlsplit

    try:
        url = parse_url(address)
    except RelayError:
        return
    other = urlsplit(address)
    assert other.hostname is not None
    assert parse_url(f"http://{other.netloc}").host == url.host
    assert other.username is None
    assert (other.port or 80) == url.port


NOT_ORIGINS = [
    "api.example.com", "https://api.example.com/v1", "https://api.example.com/?a", "https://u@api.example.com",
    "ftp://api.example.com", "http://127.1", "https://*.example.com", "http://metadata.google.internal", "*", "",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_ORIGINS)
def test_what_is_more_or_less_than_an_origin_is_an_error_of_who_configures(text: str) -> None:
    with pytest.raises(ValueError, match=r"origin|metadata"):
        Relay([text])
    with pytest.raises(ValueError, match=r"origin|metadata"):
        Relay([], [text])


def test_origins_have_one_form() -> None:
    relay = Relay(["HTTPS://API.Example.com:443/", "http://[0:0::1]:80"], ["http://localhost:8000"])
    assert relay.origins == {"https://api.example.com", "http://[::1]", "http://localhost:8000"}
    assert origin_of("https://api.example.com:8443/v1/users?a=b") == "https://api.example.com:8443"
    with pytest.raises(ValueError, match="scheme"):
        origin_of("ftp://example.com/")


async def test_the_message_says_how_to_allow_an_origin(stage: World, relay: Relay) -> None:
    unknown = await post(relay, {"url": "https://other.example/v1"})
    assert "https://other.example" in unknown.content["error"]["message"]
    assert "https://api.allowed.test" in unknown.content["error"]["message"]
    inside = await post(relay, {"url": "https://api.allowed.test/"})
    assert "private origins" in inside.content["error"]["message"]
    assert "127.0.0.1" not in inside.content["error"]["message"].replace("127.0.0.1:", "")


async def test_a_websocket_is_closed(relay: Relay) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await relay({"type": "websocket"}, None, send)  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close"}]


READABLE = {"a question mark before the sign"}


@pytest.mark.parametrize(
    "address",
    [
        *(trick.address.replace("{canary}", "80") for trick in CONFUSIONS if trick.name not in READABLE),
        "http://api.allowed.test:080/",
        "http://api.allowed.test:/",
        "http://api..allowed.test/",
        "http://api.allowed.test./",
        "http://-api.test/",
        "http://api-.test/",
        f"http://{'a' * 64}.test/",
        f"http://{'a.' * 125}test/",
        "http://api.allowed.test/" + "a" * 8192,
        "http://api.allowed.test/%zz",
        "http://api.allowed.test/%",
        "http://api.allowed.test/{id}",
        "http://api.allowed.test/<>",
        "http://127.1/",
        "http://0x7f.1/",
        "http://1.2.3.4.5/",
        "http://[::1%25lo]/",
        "http://[::1]x/",
    ],
)
def test_what_can_be_read_in_two_ways_is_not_read(address: str) -> None:
    """Red when the parser becomes lenient, whatever the list of origins would say afterwards."""
    with pytest.raises(RelayError) as error:
        parse_url(address)
    assert error.value.code == "bad_address"
    assert address[:40] not in error.value.message or not address


@pytest.mark.parametrize("depth", [*range(900, 1001, 5), 5000])
async def test_a_header_with_a_deep_value_is_a_bad_request(depth: int, relay: Relay) -> None:
    """Red when a value that is no text is written out to measure it: what JSON could read may be too deep for that."""
    raw = b'{"url": "http://x/", "headers": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    assert (await post(relay, raw)).code == "bad_request"
