from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenantry.clock import utc_now
from tenantry.errors import InvalidPass
from tenantry.tokens.passes import MAX_SECONDS, make_claims, sign_pass

DEFAULT_SECONDS: Final = 600


def mint_pass(
    token: str,
    viewer_id: str | None = None,
    viewer: Mapping[str, Any] | None = None,
    *,
    seconds: int = DEFAULT_SECONDS,
    scope: str | None = None,
) -> str:
    """Make a pass from a user group token, without asking a server (docs/passes.md).

    ``viewer_id`` is ``viewer.id`` in templates, and each attribute in ``viewer`` is ``viewer.NAME``. ``seconds``:
    lifetime of the pass, at most 86,400. ``scope``: what the pass may open, such as ``"dashboard:sales app"``; by
    default, everything that the token opens.

    Raises InvalidToken if ``token`` is not a user group token, and InvalidPass if another argument is invalid."""
    if type(seconds) is not int or not 1 <= seconds <= MAX_SECONDS:
        raise InvalidPass(f"`seconds` must be a whole number from 1 to {MAX_SECONDS:,}", claim="exp")
    attributes = None if viewer is None else dict(viewer)
    return sign_pass(token, make_claims(int(utc_now().timestamp()), seconds, viewer_id, attributes, scope))
