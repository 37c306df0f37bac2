from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

FOREVER: Final = "public, max-age=31536000, immutable"
MEDIA_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "tgz": "application/gzip",
    "ts": "text/plain; charset=utf-8",  # TypeScript declarations
}
ENCODINGS: Final = {"br": "br", "gzip": "gz"}
"""Content codings in order of preference, with the suffixes of the compressed files."""
NOT_BUILT: Final = (
    "The browser files of the dashboards are not built. In a clone, run `python hatch_build.py` or `pip install -e .`"
)


@dataclass(frozen=True)
class HashedFile:
    name: str
    content: bytes
    encoded: Mapping[str, bytes]
    """The compressed content, by content coding (``br``, ``gzip``)."""

    @cached_property
    def address(self) -> str:
        """The file name with a hash of the content: ``page.0f3b….js``."""
        stem, _, suffix = self.name.rpartition("/")[2].rpartition(".")
        return f"{stem}.{sha256(self.content).hexdigest()[:16]}.{suffix}"

    def response(self, accepted: str) -> Response:
        codings = {part.partition(";")[0].strip() for part in accepted.split(",") if not part.endswith("q=0")}
        headers = {
            "Cache-Control": FOREVER,
            "Vary": "Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
            "Access-Control-Allow-Origin": "*",  # host pages load the element as a module, which requires CORS
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
        coding = next((each for each in ENCODINGS if each in codings and each in self.encoded), None)
        content = self.content
        if coding is not None:
            headers["Content-Encoding"], content = coding, self.encoded[coding]
        return Response(content, headers=headers, media_type=MEDIA_TYPES[self.name.rpartition(".")[2]])


class BuiltFiles:
    def __init__(self, names: Iterable[str]) -> None:
        folder = files("tenantry") / "static" / "bundles"
        self._by_name: dict[str, HashedFile] = {}
        self.missing: list[str] = []
        for name in names:
            file = folder / name
            if not file.is_file():
                self.missing.append(name)
                continue
            coded = {coding: folder / f"{name}.{suffix}" for coding, suffix in ENCODINGS.items()}
            encoded = {coding: each.read_bytes() for coding, each in coded.items() if each.is_file()}
            self._by_name[name] = HashedFile(name, file.read_bytes(), encoded)
        self._by_address = {file.address: file for file in self._by_name.values()}

    def address(self, name: str) -> str | None:
        file = self._by_name.get(name)
        return None if file is None else file.address

    def named(self, name: str, request: Request) -> Response:
        file = self._by_name.get(name)
        if file is None:
            return PlainTextResponse(NOT_BUILT, 503, headers={"Cache-Control": "no-store"})
        return file.response(request.headers.get("accept-encoding", ""))

    async def respond(self, request: Request) -> Response:
        file = self._by_address.get(request.path_params["address"])
        if file is None:
            return PlainTextResponse("There is no such file.", 404)
        return file.response(request.headers.get("accept-encoding", ""))
