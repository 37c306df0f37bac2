"""Bodies that nobody sends by mistake: never a 5xx, never ``active: true``, never a part of what was sent."""

from __future__ import annotations

import json
import logging
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tests.backends.introspection.conftest import ask, make_issued, rotate
from tests.provisioning.http.conftest import Service, make_service

_LETTERS = st.sampled_from(list(b"token=&%+;\0\r\n\xff\xc3\xa9 a0_-."))
_BYTES = st.one_of(st.binary(max_size=300), st.lists(_LETTERS, max_size=60).map(bytes))
_FORMS = st.one_of(
    _BYTES,
    _BYTES.map(lambda value: b"token=" + value),
    _BYTES.map(lambda value: b"token=" + quote_from_bytes(value).encode()),
    st.tuples(_BYTES, _BYTES).map(lambda pair: b"token=" + pair[0] + b"&" + pair[1]),
)
_HEADERS = st.dictionaries(
    st.sampled_from(["Content-Type", "Authorization", "Content-Encoding", "Accept", "X-Request-Id", "Content-Length"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40),
    max_size=1,
)


@given(body=_FORMS, headers=_HEADERS)
@settings(max_examples=examples(300), deadline=None, derandomize=True, database=None)
async def test_any_bytes(body: bytes, headers: dict[str, str]) -> None:
    """Red when the token is taken for ASCII: other text becomes a 500."""
    service = await make_service()
    async with service.http:
        answer = await ask(service, body, **headers)
    assert answer.status_code < 500
    document = json.loads(answer.content)
    assert document == {"active": False} if answer.status_code == 200 else document["success"] == 0


@pytest.mark.parametrize("value", [b"\xff\xfe", b"%ff%fe", b"%", b"%u0041", b"\xc3\xa9", b"%00", b"+", b"a=b", b"a;b"])
async def test_bytes_that_are_no_token(service: Service, value: bytes) -> None:
    """Of any encoding, or none: not active, and no complaint about the form. Red when it is decoded strictly."""
    answer = await ask(service, b"token=" + value)
    assert (answer.status_code, answer.json()) == (200, {"active": False})


@pytest.mark.parametrize("position", range(97))
async def test_any_other_character_in_a_token(position: int) -> None:
    """One spelling is active: no other character anywhere in it, encoded or not, has the same meaning."""
    service = await make_service()
    _, token = await make_issued(service)
    for other in ("A", "_", "é", "+", "\0"):
        changed = token[:position] + other + token[position + 1 :]
        if changed != token:
            assert (await ask(service, changed)).json() == {"active": False}
    spelt = f"token={token[:position]}%{ord(token[position]):02x}{token[position + 1 :]}"
    assert (await ask(service, spelt.encode())).json()["active"] is True  # the same characters, sent otherwise
    await service.http.aclose()


async def test_no_secret_in_logs_and_errors(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """Neither token, nor the API token, nor a property: in no refusal, no answer of a dead token, no log at any level.

    Red when the error of the form parser goes along as a context, or when a message repeats what was sent."""
    with caplog.at_level(logging.DEBUG):
        issued, old = await make_issued(service, properties={"a": "canary-property"})
        _, live = await rotate(service, issued)
        both = f"token={live}&token={old}".encode()
        answers = [
            await ask(service, live, Authorization=f"Token {service.caller}"),
            await ask(service, live, Authorization=f"Basic {service.reader}"),
            await ask(service, live, Content_Type="application/json"),
            await ask(service, both),
            await ask(service, live.encode() + b"&a" * 100),
            await ask(service, f"{live}=token".encode()),
            await ask(service, old),
            await ask(service, live + "x"),
        ]
    shown = "\n".join(answer.text + str(answer.headers) for answer in answers)
    shown += "\n".join(repr(vars(record)) + record.getMessage() for record in caplog.records)
    for secret in (old, live, service.caller, service.reader, "canary-property"):
        assert secret not in shown
