"""Answers: what goes over the wire for a file of the site, and the packed bytes that are kept to be sent again."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from cachetools import LRUCache
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from tenantry_site.app.media_types import is_packable

if TYPE_CHECKING:
    from starlette.types import Scope, Send

FOREVER = "public, max-age=31536000, immutable"
"""For what has a hash of its content in its name."""
FRESH = "no-cache"
"""It may be kept, and each use asks whether it is still the newest."""

_KEPT_BYTES: Final = 16 * 2**20
_SMALLEST: Final = 860
"""Below, a packed answer with its header is hardly smaller."""
_LARGEST: Final = 4 * 2**20
_OFF_THE_LOOP: Final = 32 * 2**10
"""From this size on, packing takes a thread: it would hold up the others for more than a millisecond."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``tag`` changes with the content; empty: a hash of it. ``headers`` are beside those that are made of the rest."""

    content: bytes
    media_type: str
    status: int = 200
    cache: str = FRESH
    tag: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def tag_of(content: bytes) -> str:
    """A hash of the content, for an entity tag."""
    return sha256(content).hexdigest()[:20]


class Answering:
    """Sends answers to GET and HEAD requests: whole, packed, or with the word that nothing changed."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)
        self._packed: LRUCache[str, bytes] = LRUCache(_KEPT_BYTES, getsizeof=len)

    async def send(self, answer: Answer, scope: Scope, send: Send) -> None:
        """Sends the whole answer."""
        asked = Headers(scope=scope)
        headers = self._lines(answer)
        tag = answer.tag or tag_of(answer.content)
        if self._is_known(answer, tag, asked, headers):
            await _send(304, headers, b"", send)
            return
        content = answer.content
        packable = "vary" in headers and _SMALLEST <= len(content) <= _LARGEST
        if packable and takes_gzip(asked.get("accept-encoding", "")):
            content = await self._pack(tag, content)
            headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(content))
        await _send(answer.status, headers, b"" if scope["method"] == "HEAD" else content, send)

    async def begin(self, answer: Answer, size: int, scope: Scope, send: Send) -> bool:
        """Sends the head of an answer with a tag. Whether ``size`` bytes are to follow, in messages of the caller's."""
        headers = self._lines(answer)
        if self._is_known(answer, answer.tag, Headers(scope=scope), headers):
            await _send(304, headers, b"", send)
            return False
        headers["content-length"] = str(size)
        if scope["method"] == "HEAD":
            await _send(answer.status, headers, b"", send)
            return False
        await send({"type": "http.response.start", "status": answer.status, "headers": _encoded(headers)})
        return True

    def _lines(self, answer: Answer) -> dict[str, str]:
        headers = {"content-type": answer.media_type, "cache-control": answer.cache}
        headers |= {name.lower(): value for name, value in (self._headers | dict(answer.headers)).items()}
        if is_packable(answer.media_type):
            headers["vary"] = "accept-encoding"
        return headers

    def _is_known(self, answer: Answer, tag: str, asked: Headers, headers: dict[str, str]) -> bool:
        """Names the answer by its tag; True if the reader has it. The tag is weak, for it stands for both packings."""
        if answer.status != 200:
            return False
        headers["etag"] = f'W/"{tag}"'
        header = asked.get("if-none-match", "")
        names = (each.strip().removeprefix("W/") for each in header.split(","))
        return header.strip() == "*" or f'"{tag}"' in names

    async def _pack(self, tag: str, content: bytes) -> bytes:
        known = self._packed.get(tag)
        if known is None:
            known = await run_in_threadpool(_gzip, content) if len(content) > _OFF_THE_LOOP else _gzip(content)
            if len(known) <= _KEPT_BYTES // 4:
                self._packed[tag] = known
        return known


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


def takes_gzip(header: str) -> bool:
    """Whether Accept-Encoding allows gzip: by its name, or by ``*``, and not with the weight 0."""
    weights = {}
    for each in header.lower().split(","):
        name, _, weight = each.partition(";")
        weights[name.strip()] = weight.replace(" ", "").removeprefix("q=")
    weight = weights.get("gzip", weights.get("*", "0"))
    return not weight or weight.strip("0.") != ""


async def _send(status: int, headers: Mapping[str, str], content: bytes, send: Send) -> None:
    await send({"type": "http.response.start", "status": status, "headers": _encoded(headers)})
    await send({"type": "http.response.body", "body": content})


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
