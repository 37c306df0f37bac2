from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenantry.clock import utc_now
from tenantry.tokens.passes import sign_pass

DEFAULT_SECONDS: Final = 600


def mint_pass(
    token: str,
    viewer_id: str | None = None,
    viewer: Mapping[str, Any] | None = None,
    *,
    seconds: int = DEFAULT_SECONDS,
    scope: str = "",
) -> str:
    """Make a pass from a user group token, without asking a server (docs/http-api.md).

    ``viewer_id`` and the attributes ``viewer`` become ``viewer.id`` and ``viewer.*`` in templates. ``seconds``: how
    long the pass is valid, at most 86,400. ``scope``: what the pass may open, such as ``"dashboard:sales app"``; by
    default everything that the token opens.

    Raises InvalidToken if ``token`` is not a user group token, InvalidPass if another value is not allowed in a pass.
    """
    return sign_pass(token, pass_claims(viewer_id, viewer, seconds, scope or None))


def pass_claims(
    viewer_id: str | None, viewer: Mapping[str, Any] | None, seconds: int, scope: str | None
) -> dict[str, Any]:
    """The claims of a pass that is issued now."""
    issued = int(utc_now().timestamp())
    claims: dict[str, Any] = {"iat": issued, "exp": issued + seconds}
    optional = {"sub": viewer_id, "viewer": None if viewer is None else dict(viewer), "scope": scope}
    return {**claims, **{name: value for name, value in optional.items() if value is not None}}
