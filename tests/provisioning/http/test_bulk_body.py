"""The body of ``POST /api/users/bulk`` as a whole: how lines end, and what is refused before any of them is done."""

from __future__ import annotations

import pytest

from tenantry.groups import Scope
from tests.provisioning.http.conftest import Service, make_caller
from tests.provisioning.http.test_bulk import NDJSON, PATH, codes, report, send
from tests.provisioning.http.test_table import code_of


@pytest.mark.parametrize(
    ("body", "numbers"),
    [
        (b'{"user_group_id":"a"}', [1]),
        (b'{"user_group_id":"a"}\n{"user_group_id":"b"}', [1, 2]),
        (b'{"user_group_id":"a"}\r\n{"user_group_id":"b"}\r\n', [1, 2]),
        (b'\n \r\n\t{"user_group_id":"a"} \n\n\n{"user_group_id":"b"}\n\n', [3, 6]),
        (b'{"user_group_id":"a\xe2\x80\xa8"}\n{"user_group_id":"b\xc2\x85"}', [1, 2]),
    ],
)
async def test_ends_of_lines(service: Service, body: bytes, numbers: list[int]) -> None:
    """LF or CRLF, no last one needed; blank lines count and have no report; nothing else ends a line."""
    lines, summary = await report(service, body)
    assert [line["line"] for line in lines] == numbers
    assert summary == {"created": len(numbers)}


@pytest.mark.parametrize("body", [b"", b"\n", b" \r\n\n\t"])
async def test_an_empty_body(service: Service, body: bytes) -> None:
    """Is an error and not an empty report: a client may have dropped the body."""
    answer = await send(service, body)
    assert code_of(answer) == (400, "bad_json")
    assert "user_group_id" in answer.json()["error"]["message"]


async def test_a_byte_order_mark_is_told_of_its_line(service: Service) -> None:
    """And the next line is done."""
    lines, _ = await report(service, b'\xef\xbb\xbf{"user_group_id":"a"}\n{"user_group_id":"b"}\n')
    assert codes(lines) == ["bad_json", "created"]
    assert "byte order mark" in lines[0]["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "query", "expected"),
    [
        ({"Content_Type": "application/json"}, "", (415, "unsupported_media_type")),
        ({"Content_Type": "text/plain"}, "", (415, "unsupported_media_type")),
        ({"Content_Type": "application/x-ndjson; charset=latin1"}, "", (415, "unsupported_media_type")),
        ({"Content_Encoding": "gzip"}, "", (415, "unsupported_media_type")),
        ({"Idempotency_Key": "k"}, "", (400, "bad_request")),
        ({}, "?dry_run=1", (400, "bad_request")),
        ({}, "?replace=yes", (400, "bad_request")),
        ({}, "?merge=true", (400, "bad_request")),
        ({}, "?dry_run=true&dry_run=true", (400, "bad_request")),
        ({"Content_Length": str(128 * 1024 * 1024 + 1)}, "", (413, "body_too_large")),
        ({"Authorization": "Token wrong"}, "", (401, "unauthorized")),
    ],
)
async def test_refused_before_any_line(
    service: Service, headers: dict[str, str], query: str, expected: tuple[int, str]
) -> None:
    """With the answer of a single call, and nothing done."""
    answer = await send(service, b'{"user_group_id":"a"}\n', query=query, **headers)
    assert code_of(answer) == expected
    assert await service.store.groups.list(service.production) == []
    if expected[0] == 415:
        assert answer.headers["accept"] == "application/x-ndjson"


async def test_scopes_and_methods(service: Service) -> None:
    """The scope of the other writes; POST alone."""
    for scope, expected in ((Scope.INTROSPECT, 403), (Scope.PROVISION_READ, 403), (Scope.PROVISION_WRITE, 200)):
        caller = await make_caller(service.store, service.production, scope)
        answer = await service.send("POST", b'{"user_group_id":"a"}', NDJSON, path=PATH, caller=caller)
        assert answer.status_code == expected, scope
    answer = await service.send("GET", b"", {}, path=PATH)
    assert code_of(answer) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "POST, OPTIONS"
    assert (await service.send("POST", b'{"user_group_id":"a"}', NDJSON, path=PATH + "/")).status_code == 200
