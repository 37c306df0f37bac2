"""Errors for a user group token or pass that Tenantry refuses. Unlike a plain InvalidToken, they tell clients the
cause."""

from __future__ import annotations

from tenantry.errors.base import InvalidToken, TenantryError


class UserGroupExpired(InvalidToken):
    """The user group's end date has passed."""

    code = "user_group_expired"
    MESSAGE = "the access of this user group has ended"
    # The message leaves out the end date, because only the operator may see it.


class PassExpired(InvalidToken):
    """The pass has ended."""

    code = "pass_expired"
    MESSAGE = "this pass has ended: request a new one"


class InvalidPass(InvalidToken):
    """The pass is too long or malformed, or has a claim that is not allowed. The message names the claim."""

    code = "invalid_pass"

    def __init__(self, message: str, *, claim: str = "") -> None:
        super().__init__(message)
        self.claim = claim


class PassRevoked(InvalidToken):
    """The passes of this viewer were revoked after this pass was issued."""

    code = "pass_revoked"
    MESSAGE = "the passes of this viewer were revoked"


class UserGroupSuspended(InvalidToken):
    """The user group is suspended."""

    code = "user_group_suspended"
    MESSAGE = "the access of this user group is suspended"


class OutOfScope(TenantryError):
    """The scope of the pass does not cover the request."""

    code = "out_of_scope"
    status = 403
    MESSAGE = "the scope of this pass does not cover this request: get a pass whose scope does"
