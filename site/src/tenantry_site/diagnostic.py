"""A finding about a file, and the error for unusable settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Only errors fail a check; with ``--strict`` warnings do too."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What was found at one position, and what to write there.

    ``code`` is stable (``CFG…`` of the configuration file, ``PAGE…`` of a page, ``API…`` of an OpenAPI document,
    ``LINK…`` of a link, ``SITE…`` of the whole, ``FILE…`` of a file on the disk).
    ``pointer`` is a JSON pointer (RFC 6901) into a configuration file or an OpenAPI document and empty for a page.
    ``line`` and ``column`` count from 1 and are 0 where the finding is about the file as a whole.
    ``path`` is the file's path within the site, with ``/``; empty where text without a file was read.
    """

    severity: Severity
    code: str
    message: str
    fix: str = ""
    pointer: str = ""
    line: int = 0
    column: int = 0
    path: str = ""


class SiteError(Exception):
    """A folder, an address or an option cannot be used. The message names it and says what to do instead."""

    code = "invalid_settings"
