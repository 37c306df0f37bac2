"""``/api/user/passes``: makes a pass for a viewer of a user group."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from tenantry.errors import InvalidBody, InvalidPass
from tenantry.groups import Issued, Scope, Viewer, write_moment
from tenantry.provisioning.http.fields import GroupId
from tenantry.provisioning.http.operations import Operation, OperationCall, OperationParser, parser_of
from tenantry.provisioning.limits import check_text
from tenantry.tokens import MAX_ID, MAX_SECONDS, SCOPE_PATTERN, sign_pass, viewer_of
from tenantry.tokens.minting import DEFAULT_SECONDS, pass_claims

_FIELD_OF_CLAIM: Final = {"sub": "/viewer_id", "scope": "/scope"}

ViewerId = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=MAX_ID,
        description="Your id of the person, in printable characters; templates read it as `viewer.id`.",
        examples=["ann"],
    ),
]
Attributes = Annotated[
    dict[str, Any] | None,
    Field(
        description="The attributes that templates read as `viewer.*`. Must not contain `id`.",
        examples=[{"region": "eu"}],
    ),
]
Seconds = Annotated[
    int, Field(ge=1, le=MAX_SECONDS, description=f"Seconds for which the pass is valid. Default: {DEFAULT_SECONDS}.")
]
PassScope = Annotated[
    str | None,
    Field(
        description=(
            "What the pass opens: kinds of app, or dashboards, separated by single spaces. Default: everything that "
            "the token opens."
        ),
        examples=["dashboard:finance/*"],
        json_schema_extra={"pattern": SCOPE_PATTERN},
    ),
]


class CreatePass(Operation):
    """Makes a pass for one viewer of the user group with this id. Nothing is stored."""

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
        self._signed(None)

    async def run(self, call: OperationCall) -> Issued[str]:
        self.check()
        issued = await call.provisioner.active(call.environment, self.user_group_id, loaded=call.loaded)
        viewer, signed = self._signed(issued.token or None)
        return replace(issued, group=issued.group.with_viewer(viewer), token=signed)

    def _signed(self, token: str | None) -> tuple[Viewer, str]:
        problem: InvalidPass | None = None
        try:
            claims = pass_claims(self.viewer_id, self.viewer, self.seconds, self.scope)
            return viewer_of(claims, 0), "" if token is None else sign_pass(token, claims)
        except InvalidPass as error:
            problem = error
        raise InvalidBody(problem.message, field=_FIELD_OF_CLAIM.get(problem.claim, "/viewer"))

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        return {"success": 1, "pass": result.token, "expires_at": write_moment(result.group.expires_at)}


PASSES: Final[dict[str, OperationParser]] = {"POST": parser_of(CreatePass)}
"""Method of ``/api/user/passes`` -> parser of the body."""
