"""Answers that the page loads again only if they changed."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from starlette.responses import Response


class KnownAnswer:
    """A JSON object with a ``revision``, which changes with the content."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._json = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
        self.revision: str = blake2b(self._json, digest_size=12).hexdigest()

    def respond(self, known: str, age: float) -> Response:
        """Return the response, without the content if the page knows this revision. ``age``: seconds."""
        head = json.dumps({"revision": self.revision, "age": round(age, 1)}).encode()
        rest = b'"unchanged":true}' if known == self.revision else self._json[1:]
        return Response(head[:-1] + b"," + rest, media_type="application/json")
