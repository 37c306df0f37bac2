"""``/api/user`` (SPEC section 4): one request, in the order of checks of docs/http-api.md."""

from __future__ import annotations

from typing import Final

from starlette.types import Receive

from tenantry.api.answers import Answer, success
from tenantry.api.body import BODY_SECONDS, read_body
from tenantry.api.caller import find_caller
from tenantry.api.decoder import decode
from tenantry.api.headers import RequestHeaders
from tenantry.api.idempotency import InFlight, once
from tenantry.api.operations import OPERATIONS
from tenantry.api.visit import Observer, Visit, unobserved
from tenantry.errors import MissingScope
from tenantry.groups import Author, Scope
from tenantry.ports import Store
from tenantry.provisioning import Patience, Provisioner
from tenantry.tokens import KeyRing

STORE_SECONDS: Final = 2.0
"""How long the store may take for one request, over all the calls that it needs."""

_REPLAYED = ((b"idempotency-replayed", b"true"),)


class UserRoom:
    """Gets, creates, updates and rotates user groups for the callers that ``store`` knows."""

    methods = tuple(OPERATIONS)

    def __init__(
        self,
        store: Store,
        keys: KeyRing,
        *,
        body_seconds: float = BODY_SECONDS,
        store_seconds: float = STORE_SECONDS,
        observer: Observer = unobserved,
    ) -> None:
        self._store = store
        self._keys = keys
        self._in_flight = InFlight()
        self._body_seconds = body_seconds
        self._store_seconds = store_seconds
        self._observer = observer

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        with Visit("tenantry.api.user", headers.request_id, self._observer) as visit:
            return await self._answer(method, headers, receive, visit)

    async def _answer(self, method: str, headers: RequestHeaders, receive: Receive, visit: Visit) -> Answer:
        patience = Patience(self._store_seconds)  # the time that the body takes is not the store's
        caller = await find_caller(self._store, headers.api_token(), patience)  # 400, 401
        visit.came_from(caller.environment.name)
        raw = await read_body(receive, headers.content_length(), seconds=self._body_seconds)  # 400, 413, 408
        headers.require_json()  # 415
        key = headers.idempotency_key() if method == "POST" else None  # 400
        body = decode(raw)  # 400
        operation = OPERATIONS[method](body)  # 422
        visit.wants(operation.name)
        if Scope.PROVISION not in caller.scopes:
            operation.check()  # 422
            raise MissingScope("this API token may not provision: create one with --scope provision")
        provisioner = Provisioner(self._store, self._keys, patience=patience)
        author = Author(f"api token {caller.id} ({caller.label})", headers.request_id)
        if key is None:
            made = await operation.run(provisioner, caller.environment, None, author)
            return success(operation.answer(made))
        operation.check()  # 422 comes before the 409 of a key in flight
        asked = once(key, body, self._keys)
        with self._in_flight.claim(caller.environment, asked):
            made = await operation.run(provisioner, caller.environment, asked, author)
        return success(operation.answer(made), _REPLAYED if made.replayed else ())
