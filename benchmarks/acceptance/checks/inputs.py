"""S8 bad inputs, S9 forged tokens, S10 another environment's things: asked of the app itself, without a socket."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.types import Message

from benchmarks.acceptance.check import Check, Effort, Measured
from tenantry import Resolver
from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.errors import InvalidToken
from tenantry.groups import Environment, GroupDraft, LookupResult, Scope, Tag, Token
from tenantry.provisioning import issue_api_token
from tenantry.provisioning.http import create_api, not_found
from tenantry.testing import make_token
from tenantry.tokens import KeyRing, SigningKey

_KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
_METHODS = ("GET", "PUT", "POST", "QUERY", "HEAD", "DELETE", "PATCH", "OPTIONS", "TRACE")
_TYPES = (
    b"application/json",
    b"application/json; charset=utf-8",
    b"text/plain",
    b"application/json; charset=utf-16",
    b"",
)


class Api:
    """The app of ``/api/user``, called as a server calls it; on a store in memory if none is given."""

    def __init__(self, store: MemoryStore | SQLStore | None = None) -> None:
        self.store = store or MemoryStore()
        self.app = Starlette(routes=[*create_api(self.store, _KEYS)], exception_handlers={404: not_found})

    async def caller(self, name: str, tag: Tag = Tag.CUSTOMER) -> tuple[Environment, str]:
        """A new environment and an API token of it."""
        environment = await self.store.environments.create(name, tag)
        secret, _ = await issue_api_token(self.store.api_tokens, environment, scopes=[Scope.PROVISION])
        return environment, secret

    async def ask(self, method: str, headers: list[tuple[bytes, bytes]], body: bytes) -> tuple[int, bytes]:
        """Status and body; an exception of the app is a 500."""
        received: list[Message] = []
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": "/api/user", "raw_path": b"/api/user", "root_path": "", "query_string": b"", "headers": headers,
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        }  # fmt: skip

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            received.append(message)

        try:
            await self.app(scope, receive, send)
        except Exception:  # noqa: BLE001  # what the row counts
            return 500, b""
        return received[0]["status"], b"".join(message.get("body", b"") for message in received[1:])


def _seeds() -> tuple[list[bytes], list[bytes]]:
    """Bodies to start from: good ones, and those that the tests know to be bad."""
    from tests.provisioning.http.test_hostile import BAD_JSON, INVALID

    good: list[Any] = [
        {"user_group_id": "acme", "name": "Acme", "properties": {"a": [1, {"b": None}], "c": 1.5e300}, "mapping": {}},
        {"user_group_id": "é😀", "properties": {"n": -9007199254740991}},
        {"current_token": _KEYS.mint(make_token(key_id="k1"))},
    ]
    bad = [body for body, _ in (*BAD_JSON.values(), *INVALID.values())]
    return [json.dumps(each, ensure_ascii=False).encode() for each in good], bad


_PIECES = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b'"', b"{", b"}", b"[", b"]", b",", b":", b"1e999", b"NaN",
    b"-0", b"9" * 400, b"null", b"true", b'{"a":', b'"user_group_id":', b'"current_token":', b"\xef\xbb\xbf", b"\\",
)  # fmt: skip


def _mutate(body: bytes, dice: random.Random) -> bytes:
    """Up to four small changes anywhere."""
    changed = bytearray(body[:4_096])
    for _ in range(dice.randint(0, 4)):
        start, end = sorted(dice.choices(range(len(changed) + 1), k=2))
        what = dice.randrange(5)
        if what == 0:
            changed[start:start] = dice.choice(_PIECES)
        elif what == 1:
            del changed[start : min(end, start + 8)]
        elif what == 2 and changed:
            changed[start % len(changed)] = dice.randrange(256)
        elif what == 3:
            changed[start:start] = changed[start : min(end, start + 32)]
        else:
            changed[start:start] = dice.randbytes(dice.randint(1, 8))
    return bytes(changed)


async def _bad_inputs(api: Api, number: int, dice: random.Random) -> Counter[str]:
    _, secret = await api.caller("production")
    good, bad = _seeds()
    found = Counter(tried=0, server_errors=0, without_success=0, accepted=0)
    while found["tried"] < number:
        method = dice.choices(_METHODS, weights=(6, 6, 6, 2, 1, 1, 1, 1, 1))[0]
        token = secret if dice.random() < 0.95 else secret + dice.choice(["", " ", "\0", "x"])
        headers = [
            (b"authorization", b"Token " + token.encode("latin-1")),
            (b"content-type", dice.choices(_TYPES, (90, 4, 2, 2, 2))[0]),
        ]
        if dice.random() < 0.05:
            headers.append((b"idempotency-key", dice.randbytes(dice.randint(0, 40))))
        status, answer = await api.ask(method, headers, _mutate(dice.choice(dice.choice((good, bad))), dice))
        found["tried"] += 1
        found["server_errors"] += status >= 500
        found["accepted"] += status == 200
        if method not in {"HEAD", "OPTIONS"}:
            found["without_success"] += "success" not in json.loads(answer or b"{}")
    return found


async def _bad_inputs_to_both(number: int, dice: random.Random) -> Counter[str]:
    """A tenth of them go to a store that keeps what is good in a file."""
    found = await _bad_inputs(Api(), number - number // 10, dice)
    with tempfile.TemporaryDirectory(prefix="tenantry-inputs-") as name:
        migrate(url := f"sqlite:///{name}/t.db")
        store = SQLStore(url, run_dir=Path(name))
        found.update(await _bad_inputs(Api(store), number // 10, dice))
        await store.aclose()
    return found


def bad_inputs(effort: Effort) -> Measured:
    """S8."""
    found = asyncio.run(_bad_inputs_to_both(effort.pick(100_000, 400_000), effort.dice()))
    figure = (
        f"{found['server_errors']} 5xx and {found['without_success']} without `success` in {found['tried']:,} "
        f"({found['accepted']:,} were good)"
    )
    return Measured(figure, not found["server_errors"] and not found["without_success"], found)


class Counting:
    """A backend that counts what reaches it, and knows nobody."""

    def __init__(self) -> None:
        self.calls = 0

    async def find(self, token: Token) -> None:
        self.calls += 1

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        self.calls += 1
        return LookupResult(None)


async def _forged(number: int, dice: random.Random) -> dict[str, int]:
    backend = Counting()
    resolver = Resolver(backend, keys=_KEYS)
    foreign = KeyRing([SigningKey("k1", dice.randbytes(32))])
    real = [_KEYS.mint(make_token(key_id="k1")) for _ in range(50)]
    makers: list[Callable[[str], bytes]] = [
        lambda _: foreign.mint(make_token(key_id="k1")).encode(),  # right in all but the key
        lambda token: _flip(token, dice),
        lambda token: _swap(token, dice.choice(real)),
        lambda token: token[: dice.randrange(97)].encode(),
        lambda _: dice.randbytes(97),
        lambda token: (token + dice.choice(["=", " ", "A", "\n"])).encode(),
    ]
    found = await try_forgeries(resolver, makers, real, number, dice)
    await resolver.aclose()
    return {**found, "calls": backend.calls}


async def try_forgeries(
    resolver: Resolver,
    makers: Sequence[Callable[[str], bytes]],
    real: Sequence[str],
    number: int,
    dice: random.Random,
) -> dict[str, int]:
    """Resolve ``number`` forgeries that the makers make from real tokens or passes. Count how many are accepted."""
    found = {"tried": 0, "accepted": 0}
    while found["tried"] < number:
        forged = dice.choice(makers)(dice.choice(real))
        if forged.decode("latin-1") in real:
            continue
        found["tried"] += 1
        try:
            await resolver.resolve(forged)
        except InvalidToken:
            continue
        found["accepted"] += 1
    return found


def _flip(token: str, dice: random.Random) -> bytes:
    """One bit of one character."""
    changed = bytearray(token.encode())
    changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _swap(token: str, other: str) -> bytes:
    """The payload of one with the signature of another, which may be the same: then a character is changed."""
    made = token.split(".")[0] + "." + other.split(".")[1]
    return made.encode() if made != token else _flip(token, random.Random(0))


def forged(effort: Effort) -> Measured:
    """S9."""
    found = asyncio.run(_forged(effort.pick(1_000_000, 2_000_000), effort.dice()))
    figure = f"{found['accepted']} accepted, {found['calls']} backend calls in {found['tried']:,}"
    return Measured(figure, not found["accepted"] and not found["calls"], found)


async def _foreign(number: int, dice: random.Random) -> dict[str, int]:
    api = Api()
    callers = [await api.caller("production"), await api.caller("partner"), await api.caller("sandbox", Tag.TESTING)]
    tokens: list[dict[str, str]] = []
    for environment, _ in callers:
        tokens.append({})
        for number_of in range(20):
            issued = await api.store.groups.get_or_create(
                environment, GroupDraft(f"g{number_of}", environment.name), make_token(key_id="k1", tag=environment.tag)
            )
            tokens[-1][f"g{number_of}"] = _KEYS.mint(issued.token)
    resolvers = [Resolver(api.store, keys=_KEYS, environment=environment.name) for environment, _ in callers]
    found = {"tried": 0, "leaks": 0}
    while found["tried"] < number:
        mine, other = dice.sample(range(len(callers)), 2)
        name = f"g{dice.randrange(20)}"
        found["tried"] += 1
        found["leaks"] += await _leaks(api, callers, tokens, resolvers, mine, other, name, dice.randrange(4))
    for resolver in resolvers:
        await resolver.aclose()
    return found


async def _leaks(
    api: Api, callers: Any, tokens: Any, resolvers: Any, mine: int, other: int, name: str, what: int
) -> bool:
    """One attempt of somebody of ``mine`` on a group of ``other`` that has the same id here and there."""
    environment, secret = callers[mine]
    headers = [(b"authorization", f"Token {secret}".encode()), (b"content-type", b"application/json")]
    if what == 0:  # the other's token at a dashboard that is fenced to mine
        try:
            await resolvers[mine].resolve(tokens[other][name])
        except InvalidToken:
            return False
        return True
    body = [
        {"current_token": tokens[other][name]},
        {"user_group_id": name, "name": environment.name},
        {"user_group_id": name},
    ]
    status, raw = await api.ask(["POST", "PUT", "GET"][what - 1], headers, json.dumps(body[what - 1]).encode())
    answer = json.loads(raw)
    if what == 1:
        return status != 404
    seen = answer["user_group"]
    kept = await api.store.groups.get(callers[other][0], name)
    untouched = (
        kept is not None and kept.group.name == callers[other][0].name and _KEYS.mint(kept.token) == tokens[other][name]
    )
    return seen["token"] != tokens[mine][name] or seen["name"] != environment.name or not untouched


def foreign(effort: Effort) -> Measured:
    """S10."""
    found = asyncio.run(_foreign(effort.pick(10_000, 50_000), effort.dice()))
    return Measured(f"{found['leaks']} leaks in {found['tried']:,} attempts", not found["leaks"], found)


CHECKS = (
    Check("S8", "Bad inputs to /api/user: answers 5xx", "0 in ≥ 100,000", bad_inputs, (150, 400)),
    Check("S9", "Forged tokens: accepted, backend calls", "0 and 0 in ≥ 1,000,000", forged, (120, 240)),
    Check("S10", "Attempts across environments: leaks", "0 in ≥ 10,000", foreign, (60, 180)),
)
