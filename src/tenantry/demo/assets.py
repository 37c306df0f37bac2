"""Assets: the stylesheets and scripts of a page, at addresses that change with their content."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOREVER = "public, max-age=31536000, immutable"

MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True)
class Asset:
    """One file. ``address`` is its name with a hash of its content, so that it may be cached for ever."""

    name: str
    content: bytes

    @cached_property
    def address(self) -> str:
        """The last part of its path."""
        stem, _, suffix = self.name.rpartition("/")[2].rpartition(".")
        return f"{stem}-{sha256(self.content).hexdigest()[:12]}.{suffix}"

    @cached_property
    def packed(self) -> bytes:
        """The content by gzip."""
        return gzip.compress(self.content, mtime=0)

    def response(self, *, packed: bool) -> Response:
        """It may be cached for ever. ``packed``: by gzip."""
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
        media_type = MEDIA_TYPES[self.name.rpartition(".")[2]]
        if packed:
            return Response(self.packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=media_type)
        return Response(self.content, headers=headers, media_type=media_type)


class Assets:
    """Some files of ``tenantry/static``. Raises FileNotFoundError for a bundle that was never built."""

    def __init__(self, *names: str) -> None:
        assets = [Asset(name, _content(name)) for name in names]
        self.addresses: dict[str, str] = {asset.name: asset.address for asset in assets}
        self._assets = {asset.address: asset for asset in assets}

    async def respond(self, request: Request) -> Response:
        """Answers ``GET …/{address}``."""
        asset = self._assets.get(request.path_params["address"])
        if asset is None:
            raise HTTPException(404)
        return asset.response(packed="gzip" in request.headers.get("accept-encoding", ""))


def _content(name: str) -> bytes:
    try:
        return (files("tenantry") / "static" / name).read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"tenantry/static/{name} is not there: in a clone, run `python hatch_build.py` or `pip install -e .`"
        ) from None
