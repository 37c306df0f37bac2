from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field

from tenantry.clock import utc_now
from tenantry.errors import InvalidBody, InvalidPass
from tenantry.groups import Issued, Scope, Viewer, write_moment
from tenantry.provisioning.http.fields import GroupId
from tenantry.provisioning.http.operations import Operation, OperationCall, OperationParser, parser_of
from tenantry.provisioning.limits import check_text, check_viewer_id
from tenantry.tokens import (
    MAX_ID,
    MAX_SECONDS,
    SCOPE_PATTERN,
    check_pass_length,
    make_claims,
    sign_pass,
    viewer_of,
)
from tenantry.tokens.minting import DEFAULT_SECONDS

_FIELD_OF_CLAIM: Final = {"sub": "/viewer_id", "scope": "/scope"}

_ViewerId = Annotated[str, Field(min_length=1, max_length=MAX_ID, examples=["ann"])]
ViewerId = Annotated[
    _ViewerId | None,
    Field(
        description="The viewer's id in your own database, in printable characters. Templates read it as `viewer.id`."
    ),
]
RevokedId = Annotated[_ViewerId, Field(description="The viewer's id. Write the id that is in the viewer's passes.")]
Attributes = Annotated[
    dict[str, Any] | None,
    Field(
        description="The attributes that templates read as `viewer.*`. The object must not contain `id`.",
        examples=[{"region": "eu"}],
    ),
]


def _whole(value: object) -> object:
    # JSON has one type of number, and in JSON Schema 60.0 is an integer.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Seconds = Annotated[
    int,
    Field(ge=1, le=MAX_SECONDS, description=f"Seconds for which the pass is valid. Default: {DEFAULT_SECONDS}."),
    BeforeValidator(_whole),  # after Field, otherwise the OpenAPI document has `ge` and `le`
]
PassScope = Annotated[
    str | None,
    Field(
        description=(
            "What the pass opens: kinds of app, or dashboards. Separate them by single spaces. By default, the pass "
            "opens everything that the token opens."
        ),
        examples=["dashboard:finance/*"],
        json_schema_extra={"pattern": SCOPE_PATTERN},
    ),
]


class CreatePass(Operation):
    """Makes a pass for one viewer of the user group with this id. The pass is not stored."""

    operation: ClassVar[str] = "create_pass"
    needed_scope: ClassVar[Scope] = Scope.PASSES
    takes_key: ClassVar[bool] = False
    user_group_id: GroupId
    viewer_id: ViewerId = None
    viewer: Attributes = None
    seconds: Seconds = DEFAULT_SECONDS
    scope: PassScope = None

    @property
    def group_to_load(self) -> str:
        return self.user_group_id

    def check(self) -> None:
        check_text(self.user_group_id, "/user_group_id")
        self._signed("", 0)

    async def run(self, call: OperationCall) -> Issued[str]:
        self.check()
        issued = await call.provisioner.active(call.environment, self.user_group_id, loaded=call.loaded)
        viewer, signed = self._signed(issued.token, issued.group.revoked_before(self.viewer_id))
        return replace(issued, group=issued.group.with_viewer(viewer), token=signed)

    def _signed(self, token: str, first: int) -> tuple[Viewer, str]:
        """Return the viewer and the pass. If ``token`` is empty, as in a dry run, so is the pass. ``first``: the
        earliest time of issue (``iat``). After a revocation, it may be up to a second in the future."""
        problem: InvalidPass | None = None
        try:
            issued = max(int(utc_now().timestamp()), first)
            claims = make_claims(issued, self.seconds, self.viewer_id, self.viewer, self.scope)
            viewer = viewer_of(claims, 0)
            if token:
                return viewer, sign_pass(token, claims)
            check_pass_length(claims)
            return viewer, ""
        except InvalidPass as error:
            problem = error
        raise InvalidBody(problem.message, field=_FIELD_OF_CLAIM.get(problem.claim, "/viewer"))

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        return {"success": 1, "pass": result.token, "expires_at": write_moment(result.group.expires_at)}


class RevokeViewer(Operation):
    """Revokes all passes that were issued to this viewer of the user group so far. Passes issued later are
    accepted."""

    operation: ClassVar[str] = "revoke_viewer"
    takes_key: ClassVar[bool] = False
    user_group_id: GroupId
    viewer_id: RevokedId

    @property
    def group_to_load(self) -> str:
        return self.user_group_id

    def check(self) -> None:
        check_text(self.user_group_id, "/user_group_id")
        check_viewer_id(self.viewer_id, "/viewer_id")

    async def run(self, call: OperationCall) -> Issued[str]:
        self.check()
        group = await call.provisioner.revoke_viewer(
            call.environment, self.user_group_id, self.viewer_id, author=call.author, loaded=call.loaded
        )
        return Issued(group, token="")

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        before = datetime.fromtimestamp(result.group.revoked_before(self.viewer_id), UTC)
        return {"success": 1, "revoked_before": write_moment(before)}


PASSES: Final[dict[str, OperationParser]] = {"POST": parser_of(CreatePass)}

REVOCATION: Final[dict[str, OperationParser]] = {"POST": parser_of(RevokeViewer)}
