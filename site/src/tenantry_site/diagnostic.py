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
    """A problem at one position of a file."""

    severity: Severity
    code: str
    """A stable code. Its prefix names the subject: ``CFG`` configuration file, ``PAGE`` page, ``API`` OpenAPI document,
    ``LINK`` link, ``SITE`` the whole site, ``FILE`` a file on disk."""
    message: str
    fix: str = ""
    """The action that fixes the problem."""
    pointer: str = ""
    """A JSON pointer (RFC 6901) into a configuration file or an OpenAPI document; empty for a page."""
    line: int = 0
    """Counts from 1; 0 if the problem is about the whole file."""
    column: int = 0
    """Counts from 1; 0 if the problem is about the whole file."""
    path: str = ""
    """The file's path within the site, with ``/``; empty if the text was not read from a file."""


class SiteError(Exception):
    """Raised for an unusable folder, address or option. The message names it and says what to do instead."""

    code = "invalid_settings"
