"""Snippets: one request as a command of curl, and as programs of Python and JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tenantry_site.reference.request import Request
from tenantry_site.reference.snippets.curl import curl
from tenantry_site.reference.snippets.javascript import javascript
from tenantry_site.reference.snippets.python import python

LANGUAGES: Final[tuple[tuple[str, str, Callable[[Request], str]], ...]] = (
    ("curl", "bash", curl),
    ("Python", "python", python),
    ("JavaScript", "javascript", javascript),
)
"""The title of each, the language to highlight it as, and what writes it."""

__all__ = ["LANGUAGES", "curl", "javascript", "python"]
