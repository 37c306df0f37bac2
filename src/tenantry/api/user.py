"""``/api/user`` (SPEC section 4): one request, in the order of checks of docs/http-api.md."""

from __future__ import annotations

from typing import Any, TypeAlias

from starlette.types import Receive

from tenantry.api.answers import Answer, success
from tenantry.api.body import read_body
from tenantry.api.caller import Presented
from tenantry.api.decoder import decode
from tenantry.api.headers import RequestHeaders
from tenantry.api.idempotency import InFlight, once
from tenantry.api.operations import OPERATIONS, Found, Operation
from tenantry.api.service import Service
from tenantry.api.visit import Visit
from tenantry.errors import MissingScope, TenantryError
from tenantry.groups import ApiToken, Author, Scope
from tenantry.provisioning import UNREAD, Patience, Provisioned, Provisioner

Keyed: TypeAlias = tuple[str, dict[str, Any]]
"""An Idempotency-Key and the body that it came with."""

_REPLAYED = ((b"idempotency-replayed", b"true"),)


class UserRoom:
    """Gets, creates, updates and rotates user groups for the callers that the store knows."""

    methods = tuple(OPERATIONS)

    def __init__(self, service: Service) -> None:
        self._service = service
        self._in_flight = InFlight()

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        service = self._service
        with Visit("tenantry.api.user", headers.request_id, service.observer) as visit:
            patience = Patience(service.store_seconds)  # the time that the body takes is not the store's
            token = Presented(headers.api_token(), service.store, patience, visit)  # 400, 401
            operation, keyed = await self._listen(method, headers, receive, token)
            caller, found = await _look(token, operation, keyed)
            visit.wants(operation.name)
            if Scope.PROVISION not in caller.scopes:
                operation.check()  # 422
                raise MissingScope("this API token may not provision: create one with --scope provision")
            provisioner = Provisioner(service.store, service.keys, patience=patience)
            author = Author(f"api token {caller.id} ({caller.label})", headers.request_id)
            if keyed is None:
                made = await operation.run(provisioner, caller.environment, None, author, found)
            else:
                made = await self._once(operation, provisioner, caller, keyed, author)
            return success(operation.answer(made), _REPLAYED if made.replayed else ())

    async def _listen(
        self, method: str, headers: RequestHeaders, receive: Receive, token: Presented
    ) -> tuple[Operation, Keyed | None]:
        """What is asked for, and the Idempotency-Key that it comes with. A brief body is read before it is known who
        sends it, so that he and his group can be one read; nobody waits for another body of a stranger."""
        known = None if headers.brief() else await token.caller()
        try:
            return await self._read(method, headers, receive)
        except TenantryError:
            if known is None:
                await token.caller()  # 401 comes before all that is wrong with a body
            raise

    async def _read(self, method: str, headers: RequestHeaders, receive: Receive) -> tuple[Operation, Keyed | None]:
        seconds = self._service.body_seconds
        raw = await read_body(receive, headers.content_length(), seconds=seconds)  # 400, 413, 408
        headers.require_json()  # 415
        key = headers.idempotency_key() if method == "POST" else None  # 400
        body = decode(raw)  # 400
        operation = OPERATIONS[method](body)  # 422
        return operation, None if key is None else (key, body)

    async def _once(
        self, operation: Operation, provisioner: Provisioner, caller: ApiToken, keyed: Keyed, author: Author
    ) -> Provisioned:
        operation.check()  # 422 comes before the 409 of a key in flight; and what is nested too deep cannot be hashed
        asked = once(*keyed, self._service.keys)
        with self._in_flight.claim(caller.environment, asked):
            return await operation.run(provisioner, caller.environment, asked, author, UNREAD)


async def _look(token: Presented, operation: Operation, keyed: Keyed | None) -> tuple[ApiToken, Found]:
    """Who asks, and the group that the operation is about, unless the store itself looks for something else first."""
    if operation.provided_id is None or keyed is not None:
        return await token.caller(), UNREAD
    found = await token.caller_and_group(operation.provided_id)
    return found.api_token, found.issued
