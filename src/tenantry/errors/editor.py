"""Errors of the SQL editor."""

from __future__ import annotations

from tenantry.errors.base import DataSourceError, TenantryError


class NoAuthor(TenantryError):
    """The request to the SQL editor is not from an author."""

    code = "no_author"
    status = 401
    MESSAGE = "your session has ended: open a new link"


class RightMissing(TenantryError):
    """The author of the request lacks a right in the SQL editor."""

    code = "right_missing"
    status = 403


class FileConflict(TenantryError):
    """The file has changed since the author opened it."""

    code = "file_conflict"
    status = 409


class PrivateNameUsed(DataSourceError):
    """The author's SQL names something that can show secrets of the database server. ``name`` is that name."""

    code = "private_name"
    status = 422
    name: str = ""


class UnusableFile(TenantryError):
    """A file of the editor cannot be read: a symbolic link, not UTF-8, too long, or no permission."""

    code = "unusable_file"
    status = 422


class FileNotSaved(TenantryError):
    """A file of the editor could not be written, for example because the disk is full. It is unchanged."""

    code = "file_not_saved"
    status = 503
