from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints
from pydantic_core import to_json
from starlette.responses import Response

from tenantry.errors import AmbiguousRequest, BadRequest, Draining, TenantryError
from tenantry.groups import MAX_INT, ApiToken, Author, Scope
from tenantry.http import error_document
from tenantry.provisioning import (
    MAX_ROTATED_TOGETHER,
    Deadline,
    Rotated,
    RotationPage,
    RotationProvisioner,
    check_signed_by,
)
from tenantry.provisioning.http.dry_run import DryRunProvisioner
from tenantry.provisioning.http.endpoint import ApiContext, Endpoint, ErrorFormat, digest_of, require_scope
from tenantry.provisioning.http.operations import ApiBody, parse_body, rotated_group
from tenantry.provisioning.http.report import LINES_BETWEEN, ReportBuffer, ReportResponse
from tenantry.provisioning.http.request import ApiRequest
from tenantry.provisioning.http.strict_json import decode_json

ROTATED: Final = "rotated"
FAILED: Final = "failed"


class RotateMany(ApiBody):
    """Rotates many user groups. Send exactly one of `all` and `signed_by`."""

    all: Annotated[bool, Field(description="True rotates all groups of the API token's environment.")] = False
    signed_by: Annotated[
        Annotated[str, StringConstraints(min_length=2, max_length=2)],
        Field(
            description="Rotates the groups whose token the signing key with this id signed. The key must not be "
            "active.",
            examples=["k1"],
        ),
    ] = ""  # "" cannot be sent, so it means "absent"
    after: Annotated[int, Field(ge=0, le=MAX_INT, description="Only groups with a greater `team_id`.")] = 0
    limit: Annotated[
        int, Field(ge=1, le=MAX_INT, description="The most groups that the request rotates. Default: all of them.")
    ] = MAX_INT


class RotationsEndpoint(Endpoint):
    """``/api/users/rotate``: rotates many groups. The response has a line for each group."""

    def __init__(self, context: ApiContext, draining: Callable[[], bool]) -> None:
        super().__init__("POST", error_format=ErrorFormat(accept=b"application/json"), observer=context.observer)
        self._context = context
        self._draining = draining

    async def respond(self, request: ApiRequest) -> Response:
        context, digest = self._context, digest_of(request.api_token())  # 400, 401
        await context.authenticate(digest, Deadline(context.store_seconds))  # 401
        raw = await request.read_body(context.body_seconds)  # 400, 408, 413
        request.require_media_type("application/json")  # 415
        dry_run = request.dry_run()  # 400
        if request.has_idempotency_key:
            raise BadRequest(
                "this request takes no Idempotency-Key: remove the header. To continue after a broken response, send "
                "the last team_id that you received as `after`"
            )
        wanted = parse_body(RotateMany, decode_json(raw))  # 400, 422
        request.set_operation("rotate_many")
        if wanted.all == bool(wanted.signed_by):
            raise AmbiguousRequest("send either all (true) or signed_by (the id of a signing key)", field="")
        check_signed_by(wanted.signed_by or None, context.keys)  # 422
        rotation = _Rotation(context, digest, request.id, wanted.signed_by or None, dry_run=dry_run)
        await rotation.authorize(Deadline(context.store_seconds))  # 403
        return RotationsResponse(request, rotation, wanted, self._draining, dry_run=dry_run)


class _Rotation:
    def __init__(
        self, context: ApiContext, digest: bytes, request_id: str, signed_by: str | None, *, dry_run: bool
    ) -> None:
        self._context = context
        self._digest = digest
        self._request_id = request_id
        self._signed_by = signed_by
        self._dry_run = dry_run

    async def authorize(self, deadline: Deadline) -> ApiToken:
        # Read the API token again for each page, because it may have been revoked since the last page.
        caller = await self._context.authenticate(self._digest, deadline)
        require_scope(caller, Scope.PROVISION_WRITE)
        return caller

    async def page(self, after: int, limit: int) -> RotationPage:
        context = self._context
        deadline = Deadline(context.store_seconds, lambda: context.store.settling)
        caller = await self.authorize(deadline)
        kind = DryRunProvisioner if self._dry_run else RotationProvisioner
        provisioner: RotationProvisioner = kind(context.store, context.keys, deadline=deadline, contract=None)
        author = Author.of_request(caller, self._request_id)
        return await provisioner.rotate_page(
            caller.environment, after=after, limit=limit, signed_by=self._signed_by, author=author
        )


class RotationsResponse(ReportResponse):
    def __init__(
        self,
        request: ApiRequest,
        rotation: _Rotation,
        wanted: RotateMany,
        draining: Callable[[], bool],
        *,
        dry_run: bool,
    ) -> None:
        super().__init__(request, dry_run=dry_run)
        self._rotation = rotation
        self._draining = draining
        self._next: int | None = wanted.after
        self._left = wanted.limit
        self._counts = Counter[str]()

    def _last_line(self) -> dict[str, Any]:
        return {"summary": {name: self._counts[name] for name in (ROTATED, FAILED)}, "next": self._next}

    async def _write_lines(self, buffer: ReportBuffer) -> None:
        while self._next is not None and self._left:
            if self._draining():
                raise Draining(
                    "this server is about to stop: to continue on another server, send `next` of this line as `after`"
                )
            await buffer.wait_for_space()
            size = min(MAX_ROTATED_TOGETHER, self._left)
            page = await self._rotation.page(self._next, size)
            self._next, self._left = page.next, self._left - size
            for start in range(0, len(page.rotations), LINES_BETWEEN):
                lines = [_line(each) for each in page.rotations[start : start + LINES_BETWEEN]]
                self._counts.update(ROTATED if line["success"] else FAILED for line in lines)
                buffer.write(b"".join(to_json(line) + b"\n" for line in lines))
                await asyncio.sleep(0)


def _line(rotated: Rotated) -> dict[str, Any]:
    if isinstance(rotated.result, TenantryError):
        group = rotated.group
        return {**error_document(rotated.result, None), "team_id": group.team_id, "user_group_id": group.provided_id}
    return {"success": 1, "result": ROTATED, "user_group": rotated_group(rotated.result)}
