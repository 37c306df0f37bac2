"""Diagnostics of the files of a site, and the error for unusable settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How serious a diagnostic is. Errors fail a check; with ``--strict``, warnings do too."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem at one position of a file. ``fix``: the action that fixes it.

    ``code`` is stable; its prefix names the subject: ``CFG`` configuration file, ``PAGE`` page, ``API`` OpenAPI
    document, ``LINK`` link, ``SITE`` the whole site, ``FILE`` a file on disk.
    ``pointer``: a JSON pointer (RFC 6901) into a configuration file or an OpenAPI document; empty for a page.
    ``line`` and ``column`` count from 1; they are 0 if the problem is about the whole file.
    ``path``: the file's path within the site, with ``/``; empty if the text was not read from a file.
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
    """Raised for an unusable folder, address or option. The message names it and says what to do instead."""

    code = "invalid_settings"
