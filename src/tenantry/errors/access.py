"""Errors of a dashboard request and its user group token."""

from __future__ import annotations

from tenantry.errors.root import TenantryError


class MissingToken(TenantryError):
    """The request carries no user group token."""

    code, status = "missing_token", 401


class InvalidToken(TenantryError):
    """The user group token is malformed, forged, rotated away or of a deleted group: callers cannot tell which."""

    code, status = "invalid_token", 401
    WORDS = "the user group token is malformed, was not issued here, or is no longer valid"
    """The message for every cause: other words would tell which it was."""


class AmbiguousToken(TenantryError):
    """One request carries two different user group tokens."""

    code, status = "ambiguous_token", 400
    TEXT = "this request carries two different user group tokens: send one"


class OriginNotAllowed(TenantryError):
    """The token came in a cookie, and the websocket or writing request from a page of an origin that is not allowed."""

    code, status = "origin_not_allowed", 403


class MiddlewareMissing(TenantryError):
    """``user_group(request)`` was asked where UserGroupMiddleware is not installed: a mistake of the host program."""

    code, status = "middleware_missing", 500
