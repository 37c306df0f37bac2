"""Sample records for tests, valid as they come; any field can be given."""

from __future__ import annotations

import secrets
from typing import Any

from tenantry.groups import Environment, Tag, Token, UserGroup


def make_environment(**fields: Any) -> Environment:
    """An Environment: id 1, ``production``, tag Customer."""
    return Environment(**{"id": 1, "name": "production", "tag": Tag.CUSTOMER, **fields})


def make_group(**fields: Any) -> UserGroup:
    """A UserGroup named Acme with a random handle, at version 1 and revision 1, without properties or mapping."""
    defaults: dict[str, Any] = {
        "team_id": 1,
        "provided_id": "acme",
        "name": "Acme",
        "environment": make_environment(),
        "properties": None,
        "mapping": None,
        "handle": secrets.token_bytes(8),
        "token_version": 1,
        "revision": 1,
    }
    return UserGroup(**{**defaults, **fields})


def make_token(group: UserGroup | None = None, **fields: Any) -> Token:
    """A Token with a random handle and nonce, signed by key ``k1``; of ``group`` if one is given."""
    defaults: dict[str, Any] = {
        "tag": group.environment.tag if group else Tag.CUSTOMER,
        "key_id": "k1",
        "handle": group.handle if group else secrets.token_bytes(8),
        "version": group.token_version if group else 1,
        "nonce": secrets.token_bytes(16),
    }
    return Token(**{**defaults, **fields})
