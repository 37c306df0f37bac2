"""``/api/user`` (SPEC section 4) and ``/api/user/rotate``: one request, in the order of checks of docs/http-api.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from starlette.types import Receive

from tenantry.api.answers import Answer, success
from tenantry.api.body import read_body
from tenantry.api.caller import Presented
from tenantry.api.decoder import decode
from tenantry.api.headers import RequestHeaders
from tenantry.api.idempotency import InFlight, once
from tenantry.api.operations import Found, Operation, Reader
from tenantry.api.service import Service
from tenantry.api.visit import Visit
from tenantry.errors import BadJson, MissingScope, TenantryError
from tenantry.groups import ApiToken, Author, Scope
from tenantry.provisioning import NOT_LOADED, Deadline, Provisioned, Provisioner

Keyed: TypeAlias = tuple[str, dict[str, Any]]
"""An Idempotency-Key and the body that it came with."""

_REPLAYED = ((b"idempotency-replayed", b"true"),)


_DROPPED = (
    "the body is empty. Many HTTP clients and proxies drop the body of a GET: send the same JSON object with QUERY or "
    'POST, which do the same for a body such as {"user_group_id": "acme"}'
)


class UserRoom:
    """Gets, creates, updates and rotates user groups for the callers that the store knows. ``operations``: what each
    method makes of a body; ``example``: a body that is read here, for whoever sends none; ``in_flight`` is shared by
    all addresses of one service."""

    def __init__(self, service: Service, operations: Mapping[str, Reader], example: str, in_flight: InFlight) -> None:
        self.methods = tuple(operations)
        self._service = service
        self._operations = operations
        self._example = example
        self._in_flight = in_flight

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        service = self._service
        with Visit(service.observer) as visit:
            # The time that the body takes is not the store's.
            deadline = Deadline(service.store_seconds, lambda: service.store.settling)
            token = Presented(headers.api_token(), service.store, deadline, visit)  # 400, 401
            operation, keyed = await self._listen(method, headers, receive, token)
            caller, found = await _look(token, operation, keyed)
            visit.wants(operation.name)
            if Scope.PROVISION not in caller.scopes:
                operation.check()  # 422
                raise MissingScope("this API token may not provision: create one with --scope provision")
            provisioner = Provisioner(service.store, service.keys, deadline=deadline)
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
        if raw or headers.has_media_type:
            headers.require_json()  # 415
        if not raw:
            needed = f"the body is empty: a JSON object is needed, such as {self._example}"
            raise BadJson(_DROPPED if method == "GET" else needed)
        key = headers.idempotency_key() if method == "POST" else None  # 400
        body = decode(raw)  # 400
        operation = self._operations[method](body)  # 422
        return operation, None if key is None else (key, body)

    async def _once(
        self, operation: Operation, provisioner: Provisioner, caller: ApiToken, keyed: Keyed, author: Author
    ) -> Provisioned:
        operation.check()  # 422 comes before the 409 of a key in flight; and what is nested too deep cannot be hashed
        asked = once(*keyed, self._service.keys)
        with self._in_flight.claim(caller.environment, asked):
            return await operation.run(provisioner, caller.environment, asked, author, NOT_LOADED)


async def _look(token: Presented, operation: Operation, keyed: Keyed | None) -> tuple[ApiToken, Found]:
    """Who asks, and the group that the operation is about, unless the store itself looks for something else first."""
    if operation.provided_id is None or keyed is not None:
        return await token.caller(), NOT_LOADED
    found = await token.caller_and_group(operation.provided_id)
    return found.api_token, found.issued
