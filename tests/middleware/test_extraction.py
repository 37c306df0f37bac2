"""Where a token is looked for, how it is spelled there, and what is left when it was taken out."""

from __future__ import annotations

import copy
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry.errors import AmbiguousToken
from tenantry.middleware import DEFAULT_CARRIERS, Carriers, cookie, extraction, first_of, header, path, query
from tenantry.middleware.extraction import Extractor
from tests.middleware.asgi import http

T = b"ugtc_k1_" + b"A" * 89
U = b"ugtc_k1_" + b"B" * 89
QUOTED = b'"' + T + b'"'
ENCODED = T.replace(b"_", b"%5F")
X, C, A = b"x-user-group-token", b"cookie", b"authorization"
S = b"USER_GROUP_TOKEN"

HEADER_ROWS = [
    ([(X, T)], T, []),
    ([(b"user_group_token", T)], T, []),
    ([(X, T), (b"user_group_token", T)], T, []),
    ([(X, b"  " + T + b" ")], T, []),
    ([(X, b"")], b"", []),
    ([(A, b"UserGroup " + T)], T, []),
    ([(A, b"uSERgROUP   " + T + b" ")], T, []),
    ([(A, b" UserGroup " + T)], T, []),
    ([(A, b"UserGroup")], b"", []),
    ([(A, b"UserGroups " + T)], None, [(A, b"UserGroups " + T)]),
    ([(A, b"UserGroup-" + T)], None, [(A, b"UserGroup-" + T)]),
    ([(A, b"Bearer " + T)], None, [(A, b"Bearer " + T)]),
    ([(A, b"Bearer x"), (A, b"UserGroup " + T)], T, [(A, b"Bearer x")]),
    ([(A, b"")], None, [(A, b"")]),
    ([(C, S + b"=" + T)], T, []),
    ([(C, b"a=1; " + S + b"=" + T)], T, [(C, b"a=1")]),
    ([(C, S + b"=" + T + b"; b=2")], T, [(C, b"b=2")]),
    ([(C, b"a=1; " + S + b"=" + T + b"; b=2; c")], T, [(C, b"a=1; b=2; c")]),
    ([(C, b"a=1;" + S + b"=" + T + b";b=2")], T, [(C, b"a=1;b=2")]),
    ([(C, b"a=1; " + S + b"=" + QUOTED)], T, [(C, b"a=1")]),
    ([(C, S + b"=" + ENCODED)], T, []),
    ([(C, S + b" = " + T)], T, []),
    ([(C, S + b"=" + T + b"; " + S + b"=" + T)], T, []),
    ([(C, S + b"=" + T), (C, b"x=1"), (X, T)], T, [(C, b"x=1")]),
    ([(C, b"a=1; " + S + b"=")], b"", [(C, b"a=1")]),
    ([(C, S)], b"", []),
    ([(C, S + b"=" + T + b";  a=1")], T, [(C, b"a=1")]),
    ([(C, b" a=1; " + S + b"=" + T)], T, [(C, b"a=1")]),
    ([(C, b"a=1; " + S + b"=" + T + b"; ")], T, [(C, b"a=1;")]),
    ([(C, b"MY_" + S + b"=" + T)], None, [(C, b"MY_" + S + b"=" + T)]),
    ([(C, b"a=" + S)], None, [(C, b"a=" + S)]),
    ([(C, S + b"2" + T)], None, [(C, S + b"2" + T)]),
    ([(C, S.lower() + b"=" + T)], None, [(C, S.lower() + b"=" + T)]),
    ([(b"host", b"h"), (b"accept", b"*/*")], None, [(b"host", b"h"), (b"accept", b"*/*")]),
]


@pytest.mark.parametrize(("headers", "token", "left"), HEADER_ROWS)
@pytest.mark.parametrize("form", [list, tuple])
def test_headers(headers: list[Any], token: bytes | None, left: list[Any], form: type) -> None:
    """Token and remaining headers of each row, whether the server gives a list or a tuple."""
    scope = http()
    scope["headers"] = given_headers = form(headers)
    assert Extractor(DEFAULT_CARRIERS).extract(scope) == token
    assert scope["headers"] == left
    assert given_headers == form(headers)  # the server's own list is its own


QUERY_ROWS = [
    (S + b"=" + T, T, b""),
    (b"a=1&" + S + b"=" + T, T, b"a=1"),
    (S + b"=" + T + b"&a=%20b&&c", T, b"a=%20b&&c"),
    (b"a=1&" + S + b"=" + T + b"&b=2", T, b"a=1&b=2"),
    (S + b"=" + ENCODED, T, b""),
    (b"USER%5FGROUP_TOKEN=" + T, T, b""),
    (S + b"=" + T + b"&" + S + b"=" + T, T, b""),
    (S + b"=", b"", b""),
    (S, b"", b""),
    (b"x=" + S + b"=" + T, None, b"x=" + S + b"=" + T),
    (b"x=%41&y=1", None, b"x=%41&y=1"),
    (b"%58=1", None, b"%58=1"),
    (S.lower() + b"=" + T, None, S.lower() + b"=" + T),
]


@pytest.mark.parametrize(("given_query", "token", "left"), QUERY_ROWS)
def test_query(given_query: bytes, token: bytes | None, left: bytes) -> None:
    """The parameter goes, every other one stays byte for byte."""
    scope = http(query=given_query)
    assert Extractor(DEFAULT_CARRIERS).extract(scope) == token
    assert scope["query_string"] == left


PATH_ROWS = [
    ("/embed/{token}", "/embed/TOKEN/sales", "", "/embed/redacted/sales", True),
    ("/embed/{token}", "/embed/TOKEN", "", "/embed/redacted", True),
    ("/{token}", "/TOKEN/x", "", "/redacted/x", True),
    ("/embed/{token}", "/app/embed/TOKEN", "/app", "/app/embed/redacted", True),
    ("/embed/{token}", "/other/TOKEN", "", "/other/TOKEN", False),
    ("/embed/{token}", "/embed", "", "/embed", False),
]


@pytest.mark.parametrize(("where", "given_path", "root", "left", "found"), PATH_ROWS)
def test_path_template(where: str, given_path: str, root: str, left: str, found: bool) -> None:
    """The segment is masked in path and raw_path, so that routes still match and logs show nothing."""
    scope = http(path=given_path.replace("TOKEN", T.decode()), root_path=root)
    assert Extractor(path(where)).extract(scope) == (T if found else None)
    assert scope["path"] == left.replace("TOKEN", T.decode())
    assert scope["raw_path"].decode() == scope["path"]


@pytest.mark.parametrize(
    ("path_shown", "raw", "left"),
    [
        ("/a/b/{}", b"/a%2Fb/{}", b"/a%2Fb/redacted"),
        ("/a/{}/b", b"/a/{}%2fb", b"/a/redacted%2Fb"),
        ("/a/b/{}/c", b"/a%2fb%2F{}/c", b"/a%2Fb%2Fredacted/c"),
        ("/a/{}/-/b", b"/a/{}/-%2fb", b"/a/redacted/-%2fb"),
        ("/root/a/{}", b"/a/{}", b"/root/a/redacted"),
    ],
    ids=range(5),
)
def test_an_encoded_slash_beside_a_token_in_the_path_stays(path_shown: str, raw: bytes, left: bytes) -> None:
    """What is mounted further in refuses it. Red when raw_path is written anew from the decoded path: it is where the
    two do not correspond at all."""
    scope = http(path=path_shown.format(T.decode()), raw_path=raw.replace(b"{}", T))
    template = path_shown.partition("{}")[0] + "{token}"
    assert Extractor(path(template)).extract(scope) == T
    assert (scope["path"], scope["raw_path"]) == (path_shown.format("redacted"), left)


def test_a_path_of_many_equal_segments_is_masked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work grows as the path does. Red when the path is written anew for each of them: 90,000 segments read."""
    read: list[bytes] = []

    def counting(segment: bytes) -> bytes:
        read.append(segment)
        return unquote_to_bytes(segment)

    monkeypatch.setattr(extraction, "unquote_to_bytes", counting)
    scope = http(path="/x" * 300, path_params={"token": "x"})
    assert Extractor(path("token")).extract(scope) == b"x"
    assert scope["path"] == scope["raw_path"].decode() == "/redacted" * 300
    assert len(read) == 301


def test_path_parameter() -> None:
    """A parameter that a router has read is masked there, in the path and in the mount point."""
    text = T.decode()
    scope = http(path=f"/embed/{text}/x", root_path=f"/embed/{text}", path_params={"token": text, "n": 1})
    assert Extractor(path("token")).extract(scope) == T
    assert scope["path_params"] == {"token": "redacted", "n": 1}
    assert text not in repr(scope)
    assert Extractor(path("token")).extract(http()) is None


PLACES = [
    {"headers": [(X, None)]},
    {"headers": [(A, b"UserGroup ")]},
    {"headers": [(C, S + b"=")]},
    {"query": S + b"="},
]


def put_token(where: dict[str, Any], token: bytes) -> dict[str, Any]:
    if "query" in where:
        return http(query=where["query"] + token)
    name, prefix = where["headers"][0]
    return http(headers=[(name, (prefix or b"") + token)])


@pytest.mark.parametrize("first", PLACES)
@pytest.mark.parametrize("second", PLACES)
@pytest.mark.parametrize("same", [True, False])
def test_two_tokens_anywhere(first: dict[str, Any], second: dict[str, Any], same: bool) -> None:
    """The same token twice is one; two different ones are refused, in all pairs of carriers. Red when extract() stops
    at the first."""
    one, two = put_token(first, T), put_token(second, T if same else U)
    queries = [scope["query_string"] for scope in (one, two) if scope["query_string"]]
    scope = http(query=b"&".join(queries), headers=[*one["headers"], *two["headers"]])
    if same:
        assert Extractor(DEFAULT_CARRIERS).extract(scope) == T
    else:
        with pytest.raises(AmbiguousToken):
            Extractor(DEFAULT_CARRIERS).extract(scope)
    assert (scope["headers"], scope["query_string"]) == ([], b"")


def test_names_can_be_chosen() -> None:
    """Own names are looked at, and the default ones are then somebody else's."""
    carriers = first_of(header("X-Tenant"), cookie("tenant"), cookie("t2"), query("a b"), query("key"))
    extract = Extractor(carriers).extract
    assert extract(http(headers=[(b"x-tenant", T)])) == T
    assert extract(http(headers=[(C, b"x=1; t2=" + T)])) == T
    assert extract(http(query=b"a+b=" + T)) == T
    assert extract(http(query=b"key=" + T)) == T
    assert extract(http(headers=[(X, T), (A, b"UserGroup " + T), (C, S + b"=" + T)], query=S + b"=" + T)) is None
    assert Extractor(header("Authorization", scheme="Tenant")).extract(http(headers=[(A, b"tenant " + T)])) == T
    assert Extractor(query("a b")).extract(http(query=b"a%20b=" + T)) == T
    assert Extractor(first_of(query("one"), query("two"))).extract(http(query=b"two=" + T)) == T
    assert carriers.vary == "X-Tenant, Cookie"
    assert DEFAULT_CARRIERS.vary == "X-User-Group-Token, USER_GROUP_TOKEN, Authorization, Cookie"
    assert query().vary == ""


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: header("X Token"),
        lambda: header("Cookie"),
        lambda: header("Authorization", scheme="a b"),
        lambda: cookie("a=b"),
        lambda: query(""),
        lambda: path("/embed"),
        lambda: path("/{token}/{token}"),
        lambda: path("/{x}/{token}"),
        lambda: path("/{token}/x"),
        lambda: path("a-b"),
        lambda: first_of(),
    ],
)
def test_a_name_that_cannot_be_is_refused(mistake: Any) -> None:
    """A carrier that could never match is a mistake at start, not a 401 in production."""
    with pytest.raises(ValueError, match=r"not|takes|must end|use cookie"):
        mistake()


TOKENS = st.sampled_from([T, U, T[:-1], QUOTED, ENCODED, b"", b" " + T, T + b"; ", b"%" + T[1:], b"a=1; " + T[5:]])
PAIRS = st.one_of(
    st.tuples(st.sampled_from([X, b"user_group_token", b"host"]), TOKENS),
    st.tuples(
        st.just(A), st.tuples(st.sampled_from([b"UserGroup ", b"usergroup", b"Bearer ", b" "]), TOKENS).map(b"".join)
    ),
    st.tuples(
        st.just(C),
        st.lists(
            st.tuples(st.sampled_from([S + b"=", b"MY_" + S + b"=", b"a=", S + b" ="]), TOKENS).map(b"".join),
            max_size=3,
        ).flatmap(lambda cookies: st.sampled_from([b"; ", b";", b";  "]).map(lambda comma: comma.join(cookies))),
    ),
)
QUERIES = st.lists(
    st.tuples(st.sampled_from([S + b"=", b"USER%5FGROUP_TOKEN=", b"a=", b""]), TOKENS).map(b"".join), max_size=3
).map(b"&".join)


@settings(max_examples=examples(1_000), deadline=None)
@given(headers=st.lists(PAIRS, max_size=4), given_query=QUERIES)
def test_no_token_is_left(headers: list[Any], given_query: bytes) -> None:
    """The token is one that was sent, and a second extraction finds none and changes nothing. Red when a cookie or a
    parameter stays."""
    scope = http(query=given_query, headers=headers)
    found = outcome(Extractor(DEFAULT_CARRIERS).extract, scope)
    sent = given_query + b" ".join(value for _, value in headers)
    assert found in {None, "two"} or found in sent or found in unquote_to_bytes(sent)
    left = copy.deepcopy(scope)
    assert outcome(Extractor(DEFAULT_CARRIERS).extract, scope) is None
    assert scope == left


def outcome(extract: Any, scope: dict[str, Any]) -> Any:
    try:
        return extract(scope)
    except AmbiguousToken:
        return "two"


def test_carriers_are_plain_values() -> None:
    """first_of merges, and the merged record equals one written by hand."""
    assert first_of(header("X-A"), header("X-A", "X-B")) == Carriers(headers=("X-A", "X-B"))
    assert copy.copy(DEFAULT_CARRIERS) == DEFAULT_CARRIERS
