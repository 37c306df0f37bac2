"""Bodies that parsers disagree about, that are too much, that never end: never a 5xx, always ``success``."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry.errors import BadJson, BodyTooLarge, InvalidBody, RequestTimeout, TenantryError
from tenantry.provisioning.http.request import MAX_BODY, ApiRequest, ClientDisconnected
from tenantry.provisioning.http.strict_json import decode_json
from tests.provisioning.http.conftest import JSON_TYPE, Service, make_app
from tests.provisioning.http.test_table import assert_always, code_of

_DEEPEST = "/user_group_id" if sys.version_info >= (3, 14) else ""  # 3.14 reads that deep: an object that lacks its id


def group(properties: str) -> bytes:
    return ('{"user_group_id":"a","properties":' + properties + "}").encode()


BAD_JSON: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the body is empty"),
    "blank": (b" \r\n\t ", "at character 5"),
    "cut off": (b'{"user_group_id":"a"', "at character 20"),
    "single quotes": (b"{'user_group_id':'a'}", "at character 1"),
    "trailing comma": (b'{"user_group_id":"a",}', "at character 2"),
    "comment": (b'{"user_group_id":"a"}//x', "at character 21"),
    "two values": (b"{}{}", "at character 2"),
    "NUL after": (b'{"user_group_id":"a"}\0', "at character 21"),
    "form feed": (b'\x0c{"user_group_id":"a"}', "at character 0"),
    "raw newline in a string": (b'{"user_group_id":"a\nb"}', "at character"),
    "bad escape": (b'{"user_group_id":"\\x41"}', "at character"),
    "half an escape": (b'{"user_group_id":"\\u12"}', "at character"),
    "duplicate": (b'{"user_group_id":"a","user_group_id":"b"}', "same name twice"),
    "duplicate by escape": (b'{"user_group_id":"a","\\u0075ser_group_id":"b"}', "same name twice"),
    "duplicate deep": (group('{"a":[{"b":1},{"b":1,"c":{},"b":2}]}'), "same name twice"),
    "NaN": (group('{"a":NaN}'), "NaN is not a number in JSON"),
    "-Infinity": (group('{"NaN":-Infinity}'), "-Infinity is not a number in JSON"),
    "byte order mark": (b'\xef\xbb\xbf{"user_group_id":"a"}', "byte order mark"),
    "UTF-16": ('{"user_group_id":"a"}'.encode("utf-16"), "not valid UTF-8 (at byte 0)"),
    "UTF-16 without mark": ('{"user_group_id":"a"}'.encode("utf-16-le"), "at character 1"),
    "UTF-32": ('{"user_group_id":"a"}'.encode("utf-32"), "not valid UTF-8 (at byte 0)"),
    "Latin-1": (b'{"user_group_id":"\xe9"}', "not valid UTF-8 (at byte 18)"),
    "overlong": (b'{"user_group_id":"\xc0\x80"}', "not valid UTF-8 (at byte 18)"),
    "surrogate in UTF-8": (b'{"user_group_id":"\xed\xa0\x80"}', "not valid UTF-8 (at byte 18)"),
    "leading zero": (group('{"a":01}'), "at character 40"),
    "plus": (group('{"a":+1}'), "at character 39"),
    "hexadecimal": (group('{"a":0x1}'), "at character 40"),
    "lonely minus": (group('{"a":-}'), "at character 39"),
    "dot": (group('{"a":1.}'), "at character 40"),
}

INVALID: dict[str, tuple[bytes, str]] = {
    "array": (b"[]", ""),
    "string": (b'"user_group_id"', ""),
    "null": (b"null", ""),
    "number": (b"1e999", ""),
    "long number": (b"9" * 20_000, ""),
    "deep and whole": (b"[" * 30_000 + b"]" * 30_000, ""),
    **({} if sys.version_info >= (3, 14) else {"deep and cut off": (b"[" * 60_000, "")}),
    "deep objects and whole": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, _DEEPEST),
    "deep strings and whole": (b'["]{", ' * 8_000 + b'"["' + b"]" * 8_000, ""),
    "id missing": (b"{}", "/user_group_id"),
    "id null": (b'{"user_group_id":null}', "/user_group_id"),
    "id number": (b'{"user_group_id":1}', "/user_group_id"),
    "id true": (b'{"user_group_id":true}', "/user_group_id"),
    "id empty": (b'{"user_group_id":""}', "/user_group_id"),
    "id long": (json.dumps({"user_group_id": "x" * 256}).encode(), "/user_group_id"),
    "id NUL": (b'{"user_group_id":"a\\u0000"}', "/user_group_id"),
    "id surrogate": (b'{"user_group_id":"\\ud800"}', "/user_group_id"),
    "id wrong order of surrogates": (b'{"user_group_id":"\\udc00\\ud800"}', "/user_group_id"),
    "name null": (b'{"user_group_id":"a","name":null}', "/name"),
    "name empty": (b'{"user_group_id":"a","name":""}', "/name"),
    "name list": (b'{"user_group_id":"a","name":["b"]}', "/name"),
    "unknown field": (b'{"user_group_id":"a","team_id":1}', "/team_id"),
    "unknown field with a slash": (b'{"user_group_id":"a","x/~y":1}', "/x~1~0y"),
    "unknown field that is a surrogate": (b'{"user_group_id":"a","\\ud800":1}', ""),
    "environment in the body": (b'{"user_group_id":"a","api_environment_tag":"Customer"}', "/api_environment_tag"),
    "properties list": (group("[]"), "/properties"),
    "properties string": (group('"{}"'), "/properties"),
    "too large": (group('{"a":1e999}'), "/properties/a"),
    "too large below": (group('{"a":[0,-1e999]}'), "/properties/a/1"),
    "2^53": (group('{"a":9007199254740992}'), "/properties/a"),
    "-2^53": (group('{"a":-9007199254740992}'), "/properties/a"),
    "2^64": (group('{"a":18446744073709551616}'), "/properties/a"),
    "5000 digits": (group('{"a":{"b":' + "1" * 5_000 + "}}"), "/properties/a/b"),
    "60000 digits": (group('{"a":-' + "1" * 60_000 + "}"), "/properties/a"),
    "NUL in a value": (group('{"a":["\\u0000"]}'), "/properties/a/0"),
    "NUL in a name": (group('{"a":{"\\u0000":1}}'), "/properties/a/\0"),
    "surrogate in a value": (group('{"a":"x\\udfff"}'), "/properties/a"),
    "surrogate in a name": (group('{"\\udfff":1}'), "/properties/?"),
    "9 levels": (group('{"a":' * 8 + "[]" + "}" * 8), "/properties" + "/a" * 8),
    "900 levels": (group('{"a":' * 900 + "1" + "}" * 900), "/properties" + "/a" * 8),
    "257 names": (group(json.dumps({str(n): n for n in range(257)})), "/properties"),
    "257 names below": (group(json.dumps({"a": [{"b": n} for n in range(256)]})), "/properties"),
    "32 KiB": (group(json.dumps({"a": "x" * 32_768})), "/properties"),
    "32 KiB of numbers that grow": (group('{"a":[' + "1e15," * 4_000 + "0]}"), "/properties"),
    "mapping list": (b'{"user_group_id":"a","mapping":[]}', "/mapping"),
    "mapping of numbers": (b'{"user_group_id":"a","mapping":{"a":1}}', "/mapping/a"),
    "mapping of null": (b'{"user_group_id":"a","mapping":{"a/b":null}}', "/mapping/a~1b"),
    "mapping with an empty schema": (b'{"user_group_id":"a","mapping":{"":"x"}}', "/mapping/"),
    "mapping NUL": (b'{"user_group_id":"a","mapping":{"a":"\\u0000"}}', "/mapping/a"),
    "mapping surrogate": (b'{"user_group_id":"a","mapping":{"a":"\\ud800"}}', "/mapping/a"),
    "mapping surrogate in a schema": (
        b'{"user_group_id":"a","mapping":{"\\ud800":"a"}}',
        "/mapping/\ufffd\ufffd\ufffd",
    ),
    "mapping of 101": (
        json.dumps({"user_group_id": "a", "mapping": {str(n): "x" for n in range(101)}}).encode(),
        "/mapping",
    ),
}


@pytest.mark.parametrize("name", BAD_JSON)
async def test_bad_json(service: Service, name: str) -> None:
    """400 with a reason and never the text.

    Red when the hooks of the decoder are taken away (duplicates and NaN pass), or when bytes are given to json.loads,
    which guesses UTF-16 and UTF-32.
    """
    body, message = BAD_JSON[name]
    answer = await service.send("GET", body, JSON_TYPE)
    assert code_of(answer) == (400, "bad_json")
    assert message in answer.json()["error"]["message"]
    assert_always(answer)


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
@pytest.mark.parametrize("name", INVALID)
async def test_invalid_body(service: Service, name: str, method: str) -> None:
    """422 with a JSON pointer; PUT and POST check alike. Red when json.loads is used alone: 5,000 digits are a 500; and
    when a rule has no words of ours, but the library's."""
    body, pointer = INVALID[name]
    answer = await service.send(method, body, JSON_TYPE)
    assert_always(answer)
    assert answer.status_code == 422
    if answer.json()["error"]["code"] != "ambiguous_request":
        assert answer.json()["error"]["field"] == pointer
        assert not answer.json()["error"]["message"][0].isupper(), answer.json()
    assert await service.store.groups.get(service.production, "a") is None


async def test_no_depth_is_a_fault(service: Service) -> None:
    """What can just be read cannot always be written again, and an Idempotency-Key is kept with a hash of the body.

    Red when the body is hashed before it is checked: at the last depth that could be read, that was a 500.
    """

    async def field_of(depth: int) -> str:
        properties = '{"x":' + "[" * depth + "]" * depth + "}"
        answer = await service.send("POST", group(properties), {**JSON_TYPE, "Idempotency-Key": "k"})
        assert answer.status_code == 422, (depth, answer.text)
        return str(answer.json()["error"]["field"])

    low, high = 10, MAX_BODY // 4
    while low < high:  # the least depth that cannot be read
        depth = (low + high) // 2
        low, high = (low, depth) if await field_of(depth) == "" else (depth + 1, high)
    for depth in range(low - 20, low + 2):
        await field_of(depth)


async def test_what_is_just_within_the_limits(service: Service) -> None:
    """Every limit is kept on its near side too, and what was sent comes back."""
    deep: Any = 1
    for _ in range(7):
        deep = {"a": deep}
    many = {str(n): n for n in range(255)}
    for n, properties in enumerate(
        [
            {"a": deep},
            {"a": many},
            {"a": "x" * (32_768 - len('{"a":""}'))},
            {"a": "é" * ((32_768 - len('{"a":""}')) // 2)},
            {"a": [2**53 - 1, -(2**53 - 1), 1e300, 5e-324, 0.1, -0.0]},
            {"a": "\u0001\u007f\ufffe\uffff\U0001f600 \u2028", "": {}, "items": [], "params": None},
        ]
    ):
        body = {"user_group_id": f"{'😀' * 250}{n}", "name": "n" * 255, "properties": properties}
        answer = await service.ask("GET", body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["user_group"]["properties"] == properties
        assert answer.json()["user_group"]["provided_id"] == body["user_group_id"]
    mapping = {str(n): "ds" for n in range(100)}
    answer = await service.ask("GET", {"user_group_id": "m", "mapping": mapping}, caller=service.tester)
    assert answer.status_code == 200


@given(
    st.binary(max_size=60)
    | st.text(alphabet='{}[]":,01289eE+-. \\udfnaltrsNIy\0', max_size=60).map(lambda text: text.encode())
)
@settings(max_examples=examples(500), deadline=None)
def test_the_decoder_is_at_least_as_strict_as_the_standard_one(raw: bytes) -> None:
    """Whatever the bytes: an object that json.loads reads too, or one of the two errors."""
    try:
        value = decode_json(raw)
    except (BadJson, InvalidBody):
        return
    assert value == json.loads(raw)


# --- size and time ----------------------------------------------------------------------------------------------------


class Sent:
    """An ASGI receive that gives these messages, and counts them."""

    def __init__(self, *chunks: bytes, then: str = "end") -> None:
        self.messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks
        ]
        if then == "end":
            self.messages[-1]["more_body"] = False
        elif then == "disconnect":
            self.messages.append({"type": "http.disconnect"})
        self.given = 0

    async def __call__(self) -> dict[str, Any]:
        if self.given == len(self.messages):
            await asyncio.Event().wait()
        self.given += 1
        return self.messages[self.given - 1]


async def read_body(sent: Sent, announced: int | None, **named: float) -> bytes:
    lengths = [] if announced is None else [(b"content-length", b"%d" % announced)]
    return await ApiRequest({"method": "POST", "headers": lengths}, sent).read_body(**named)


async def test_a_body_that_is_announced_too_large_is_not_read() -> None:
    """So no ``100 Continue`` is sent for it. Red when the length is checked after the first read."""
    sent = Sent(b"{}")
    with pytest.raises(BodyTooLarge):
        await read_body(sent, MAX_BODY + 1)
    assert sent.given == 0


async def test_a_body_without_an_announced_length_is_cut_off() -> None:
    """No more is read than the first chunk beyond the limit. Red when the sum is taken at the end, and when the first
    chunk, which may be too large alone, is not checked before the second is waited for."""
    sent = Sent(*[b"x" * 10_000] * 1_000)
    with pytest.raises(BodyTooLarge):
        await read_body(sent, None)
    assert sent.given == 7
    with pytest.raises(BodyTooLarge):
        await read_body(Sent(b"x" * (MAX_BODY + 1), then="nothing"), None)


@pytest.mark.parametrize("size", [MAX_BODY, MAX_BODY + 1])
async def test_the_size_limit_is_exact(service: Service, size: int) -> None:
    """64 KiB is read, one byte more is not; in one piece or in many."""
    body = b'{"user_group_id":"a"}'.ljust(size)
    answer = await service.send("GET", body, JSON_TYPE)
    assert answer.status_code == (200 if size == MAX_BODY else 413)
    assert (answer.headers.get("connection") == "close") == (size > MAX_BODY)
    try:
        assert len(await read_body(Sent(body[:100], b"", body[100:]), None)) == MAX_BODY
    except BodyTooLarge:
        assert size > MAX_BODY


async def test_a_slow_body() -> None:
    """408 when it is not there in time. Red when the read has no deadline: the test never ends."""
    with pytest.raises(RequestTimeout):  # ours, with its status; a TimeoutError of anybody else is not
        await read_body(Sent(b"{", then="nothing"), None, seconds=0.01)


async def test_a_slow_body_is_answered(service: Service) -> None:
    """408 in JSON, and the connection is given up."""
    answers = await call(make_app(service.store, service.keys, body_seconds=0.01), service, Sent(b"{", then="nothing"))
    assert answers[0]["status"] == 408
    assert (b"connection", b"close") in answers[0]["headers"]
    assert json.loads(answers[1]["body"])["error"]["code"] == "request_timeout"


async def test_a_client_that_is_gone_is_not_answered(service: Service) -> None:
    """Nothing is sent, nothing is created, nothing is logged as a bug."""
    sent = Sent(b'{"user_group_id":"a"}', then="disconnect")
    assert await call(make_app(service.store, service.keys), service, sent) == []
    assert await service.store.groups.get(service.production, "a") is None
    with pytest.raises(ClientDisconnected):
        await read_body(Sent(b"", then="disconnect"), None)


@pytest.mark.parametrize(
    "lengths", [[b"x"], [b"-1"], [b""], [b"1", b"2"], [b"1_000"], [b"+5"], ["²".encode("latin-1")]]
)
async def test_a_malformed_content_length(service: Service, lengths: list[bytes]) -> None:
    """400, should a server let it through."""
    headers = [(b"content-length", length) for length in lengths]
    answers = await call(make_app(service.store, service.keys), service, Sent(b"{}"), headers)
    assert answers[0]["status"] == 400
    assert json.loads(answers[1]["body"])["error"]["code"] == "bad_request"


async def call(
    app: Any, service: Service, sent: Sent, headers: list[tuple[bytes, bytes]] | None = None
) -> list[dict[str, Any]]:
    """The messages that the app sends for a GET of the caller."""
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    authorization = (b"authorization", b"Token " + service.caller.encode())
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/api/user",
        "root_path": "",
        "headers": [authorization, (b"content-type", b"application/json"), *(headers or [])],
    }
    await app(scope, sent, send)
    return messages


def test_every_error_has_an_answer_of_its_own() -> None:
    """No two classes of errors share a code without being parent and child, so that a client can map them back."""
    kinds = list(_tree(TenantryError))
    for kind in kinds:
        same = [other for other in kinds if other.code == kind.code and "code" in vars(other)]
        assert len(same) == 1


def _tree(kind: type[TenantryError]) -> list[type[TenantryError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in _tree(child))]


@pytest.mark.parametrize(
    "start", [b'{"a":1,"a":2}', b"[NaN]", b"", b"[" * 3_000, b"[" * 1_200 + b"]" * 1_200, b'{"a":[' * 2_000]
)
@pytest.mark.parametrize("rest", [b'\\"', b'"', b"\\", b'","', b'[""', b'{"', b'":"', b"NaN,", b"-"])
def test_no_body_costs_more_than_its_size(start: bytes, rest: bytes) -> None:
    """The largest body is checked in far less than a second of the processor's time, for all requests wait for it.

    Red, with 65 seconds, when each quote within a string that never ends is tried as the start of another.
    """
    body = start + b'"' + rest * ((MAX_BODY - len(start) - 1) // len(rest))
    begun = time.process_time()
    with pytest.raises((BadJson, InvalidBody)):
        decode_json(body)
    assert time.process_time() - begun < 5
