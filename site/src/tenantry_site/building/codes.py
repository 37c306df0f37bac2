"""The codes of what is said about the files of a site's folder."""

from __future__ import annotations

from tenantry_site.diagnostic import Diagnostic, Severity

CODES: dict[str, str] = {
    "FILE001": "A text file is not UTF-8; what cannot be read is shown as a replacement character.",
    "FILE002": "A page or document is larger than what is read.",
    "FILE003": "A file or folder cannot be read.",
    "FILE004": "A symbolic link is not followed.",
    "FILE005": "A file of this name or kind cannot be part of a site.",
    "FILE006": "The folder has more files, or deeper folders, than a site may have.",
    "FILE007": "A file of the finished site cannot be written.",
}
"""What each code means."""


def note(severity: Severity, code: str, path: str, found: str, fix: str, line: int = 0) -> Diagnostic:
    """A diagnostic about a file."""
    return Diagnostic(severity, code, found, fix, line=line, path=path)


def unreadable(error: OSError) -> str:
    """An error in words, without the path that it has: a reader of the site must not learn where it is kept."""
    return f"it cannot be read: {(error.strerror or 'no reason is given').lower()}"
