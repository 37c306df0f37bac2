"""Which file of a folder is the site's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

USUAL = "site.json"

_FIELDS = tuple(re.compile(rf'"{field}"\s*:') for field in ("name", "navigation"))
_LIST = re.compile(r'"navigation"\s*:\s*\[')
_OPENAPI = re.compile(r'"(?:openapi|swagger)"\s*:\s*(?:"\s*)?[0-9]+(?:\.[0-9]+){0,2}(?:-[\w.]+)?\s*["},]')
"""What an OpenAPI document says of itself: its version, where a configuration names a file."""


def configuration_file(files: Mapping[str, str | bytes]) -> str | None:
    """``site.json``, else the JSON file at the root that has ``name`` and ``navigation``; None without any.

    The file is looked through, not parsed: one with a mistake in it is to be found too, so that the mistake is told.
    """
    if USUAL in files:
        return USUAL
    likely = []
    for path in sorted(path for path in files if "/" not in path and path.endswith(".json")):
        content = files[path]
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        if not _OPENAPI.search(text) and all(field.search(text) for field in _FIELDS):
            likely.append((_LIST.search(text) is None, path))
    return min(likely)[1] if likely else None
