"""Errors in the operator's files and settings."""

from __future__ import annotations

from tenantry.errors.root import TenantryError


class InvalidKeys(TenantryError):
    """The signing-key file is missing, readable by others, malformed, or holds a short or published key."""

    code = "invalid_keys"


class InvalidSettings(TenantryError):
    """A setting is missing or has a value that cannot be used. The message names the setting."""

    code = "invalid_settings"
