"""Sends responses, compressed or as 304 Not Modified, with a cache of compressed content."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO, Final

from cachetools import LRUCache
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from tenantry_site.building import Entry, open_entry

if TYPE_CHECKING:
    from starlette.types import Scope, Send


FOREVER = "public, max-age=31536000, immutable"
"""``Cache-Control`` for files with a content hash in their names."""
FRESH = "no-cache"
"""``Cache-Control`` for files without a content hash: they may be cached, but must be revalidated before each use."""

_CACHE_BYTES: Final = 16 * 2**20
_MIN_COMPRESSED: Final = 860
"""Minimum size in bytes of content that is compressed. Compression hardly shortens smaller responses."""
_MAX_COMPRESSED: Final = 4 * 2**20
_THREAD_FROM: Final = 32 * 2**10
"""Content larger than this is compressed in a thread, because it would block the event loop for more than a
millisecond."""


@dataclass(frozen=True, slots=True)
class SiteResponse:
    """A response to send. ``cache``: the ``Cache-Control`` header. ``tag``: the entity tag, by default a hash of
    ``content``. ``headers``: additional headers."""

    content: bytes
    media_type: str
    status: int = 200
    cache: str = FRESH
    tag: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def etag_of(content: bytes) -> str:
    return sha256(content).hexdigest()[:20]


class ResponseSender:
    """Sends responses to GET and HEAD requests, compressed if possible, or as 304 if the client has the content.

    ``headers``: added to all responses.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)
        self._compressed: LRUCache[str, bytes] = LRUCache(_CACHE_BYTES, getsizeof=len)

    async def send(self, response: SiteResponse, scope: Scope, send: Send) -> None:
        asked = Headers(scope=scope)
        headers = self._headers_of(response)
        tag = response.tag or etag_of(response.content)
        if self._add_etag(response, tag, asked, headers):
            await _send(304, headers, b"", send)
            return
        content = response.content
        compressible = "vary" in headers and _MIN_COMPRESSED <= len(content) <= _MAX_COMPRESSED
        if compressible and accepts_gzip(asked.get("accept-encoding", "")):
            content = await self._compress(tag, content)
            headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(content))
        await _send(response.status, headers, b"" if scope["method"] == "HEAD" else content, send)

    async def start(self, response: SiteResponse, size: int, scope: Scope, send: Send) -> bool:
        """Send the head of a response that has a ``tag``. Return whether the caller must send a body of ``size`` bytes;
        no body follows a 304 response or a HEAD request."""
        headers = self._headers_of(response)
        if self._add_etag(response, response.tag, Headers(scope=scope), headers):
            await _send(304, headers, b"", send)
            return False
        headers["content-length"] = str(size)
        if scope["method"] == "HEAD":
            await _send(response.status, headers, b"", send)
            return False
        await send({"type": "http.response.start", "status": response.status, "headers": _encoded(headers)})
        return True

    def _headers_of(self, response: SiteResponse) -> dict[str, str]:
        headers = {"content-type": response.media_type, "cache-control": response.cache}
        headers |= {name.lower(): value for name, value in (self._headers | dict(response.headers)).items()}
        if is_compressible(response.media_type):
            headers["vary"] = "accept-encoding"
        if response.media_type.startswith(("text/html", "text/markdown")):
            headers["vary"] = "accept, accept-encoding"
        return headers

    def _add_etag(self, response: SiteResponse, tag: str, asked: Headers, headers: dict[str, str]) -> bool:
        """Add the ``ETag`` header, and return whether the client already has this content. The tag is weak, because
        compressed and uncompressed content have the same tag."""
        if response.status != 200:
            return False
        headers["etag"] = f'W/"{tag}"'
        header = asked.get("if-none-match", "")
        names = (each.strip().removeprefix("W/") for each in header.split(","))
        return header.strip() == "*" or f'"{tag}"' in names

    async def _compress(self, tag: str, content: bytes) -> bytes:
        known = self._compressed.get(tag)
        if known is None:
            known = await run_in_threadpool(_gzip, content) if len(content) > _THREAD_FROM else _gzip(content)
            if len(known) <= _CACHE_BYTES // 4:
                self._compressed[tag] = known
        return known


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


def prefers_markdown(header: str) -> bool:
    """Whether an ``Accept`` header names ``text/markdown`` with a weight that no other media type exceeds."""
    weights: dict[str, float] = {}
    for item in header.lower().split(","):
        name, *parameters = (part.strip() for part in item.split(";"))
        given = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        weights[name] = float(given) if _WEIGHT.fullmatch(given) else 0
    own = weights.get("text/markdown", 0)
    return own > 0 and own >= max(weights.values())


def accepts_gzip(header: str) -> bool:
    """Whether an ``Accept-Encoding`` header allows gzip, by name or by ``*``, with a weight other than 0."""
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


_WEIGHT: Final = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_TEXT = "; charset=utf-8"

MEDIA_TYPES = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "css": f"text/css{_TEXT}",
    "csv": f"text/csv{_TEXT}",
    "eot": "application/vnd.ms-fontobject",
    "gif": "image/gif",
    "gz": "application/gzip",
    "htm": f"text/html{_TEXT}",
    "html": f"text/html{_TEXT}",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": f"text/javascript{_TEXT}",
    "json": "application/json",
    "map": "application/json",
    "md": f"text/markdown{_TEXT}",
    "mdx": f"text/markdown{_TEXT}",
    "mjs": f"text/javascript{_TEXT}",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "toml": f"text/plain{_TEXT}",
    "tsv": f"text/tab-separated-values{_TEXT}",
    "ttf": "font/ttf",
    "txt": f"text/plain{_TEXT}",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webmanifest": "application/manifest+json",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}

_COMPRESSIBLE = (
    "text/",
    "application/json",
    "application/xml",
    "application/yaml",
    "application/manifest",
    "image/svg",
)


def media_type(path: str) -> str:
    """The media type for a file's suffix: ``text/html; charset=utf-8``. Unknown suffixes give
    ``application/octet-stream``, which browsers download."""
    name = path.rpartition("/")[2]
    return MEDIA_TYPES.get(name.rpartition(".")[2].lower() if "." in name else "", "application/octet-stream")


def is_compressible(kind: str) -> bool:
    return kind.startswith(_COMPRESSIBLE)


_WHOLE: Final = 2**20
"""Files up to this size are read at once, and compressed if their media type allows it; larger ones are streamed."""
_CHUNK: Final = 2**18


async def send_file(entry: Entry, response: SiteResponse, sender: ResponseSender, scope: Scope, send: Send) -> bool:
    """Send a file from the disk with the headers of ``response``. Return False, with nothing sent, if it cannot be
    opened any more."""
    try:
        file = await run_in_threadpool(open_entry, entry)
    except OSError:
        return False
    with file:
        found = os.fstat(file.fileno())
        # The tag is the key under which compressed content is cached. It includes the path, because copies of a file
        # may have the same time and size
        response = replace(
            response, tag=etag_of(f"{entry.real_path}\0{found.st_mtime_ns}\0{found.st_size}".encode("utf-8", "replace"))
        )
        if found.st_size <= _WHOLE:
            content = await run_in_threadpool(file.read, _WHOLE)
            await sender.send(replace(response, content=content), scope, send)
        else:
            await _stream(file, found.st_size, response, sender, scope, send)
    return True


async def _stream(
    file: BinaryIO, size: int, response: SiteResponse, sender: ResponseSender, scope: Scope, send: Send
) -> None:
    """Send a file in chunks: exactly ``size`` bytes, the ``Content-Length``. Raises EOFError if the file has become
    shorter."""
    if not await sender.start(response, size, scope, send):
        return
    left = size
    while left:
        chunk = await run_in_threadpool(file.read, min(_CHUNK, left))
        if not chunk:
            raise EOFError("the file became shorter while it was being sent")
        left -= len(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": left > 0})
