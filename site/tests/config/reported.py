"""What is reported of a configuration, for tests: a minimal one with some fields of its own."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from tenantry_site.config import SiteConfig, loads
from tenantry_site.diagnostic import Diagnostic

WHOLE: dict[str, Any] = {
    "name": "Kumquat",
    "favicon": "/favicon.svg",
    "colors": {"primary": "#123456"},
    "navigation": [{"group": "Start", "pages": ["index", "guides/first"]}],
}
"""A configuration of which nothing is to be reported."""


def read(files: Collection[str] | None = None, **fields: Any) -> tuple[SiteConfig, list[Diagnostic]]:
    """The model of ``WHOLE`` with these fields, and what is reported."""
    config, found = loads(json.dumps(WHOLE | fields), files=files)
    assert config is not None
    return config, list(found)


def reported(files: Collection[str] | None = None, **fields: Any) -> list[tuple[str, str]]:
    """Code and pointer of what is reported, in the order of the file, without what it means to other programs."""
    return [(one.code, one.pointer) for one in read(files, **fields)[1] if one.code != "CFG037"]
