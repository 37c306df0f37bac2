from __future__ import annotations

import re
from typing import Final

from tenantry.errors.base import DataSourceError, TenantryError

_WORD: Final = re.compile(r"[@\w]+")


class NoAuthor(TenantryError):
    """The request to the SQL editor is not from an author."""

    code = "no_author"
    status = 401
    MESSAGE = "your session has ended: open a new link"
    SIGN_IN = "you are not signed in as an author of the editor: sign in again"


class RightMissing(TenantryError):
    """The author of the request lacks a right in the SQL editor."""

    code = "right_missing"
    status = 403


class FileConflict(TenantryError):
    """The file has changed since the author opened it."""

    code = "file_conflict"
    status = 409


class PrivateNameUsed(DataSourceError):
    """A query in the SQL editor could show secrets of the database server."""

    code = "private_name"
    status = 422

    def __init__(self, problem: str, *, fix: str = "", name: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix
        self.name = name
        """The name in the query that could show secrets. Empty if the problem is that the data source's URL names a
        system database."""
        self.word: str = (_WORD.findall(name) or [""])[-1]
        """The last word of ``name``."""

    @property
    def message(self) -> str:
        return f"{self.problem}; {self.fix}"


class UnusableFile(TenantryError):
    """A file is a symbolic link, not UTF-8, too large or unreadable, or a folder has too many files."""

    code = "unusable_file"
    status = 422


class FileNotSaved(TenantryError):
    """The SQL editor could not save a file, which is unchanged, or could not store the draft that a preview shows."""

    code = "file_not_saved"
    status = 503
