from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tenantry.client.answers import ListedGroup, ListedSource, Reply
from tenantry.client.bulk import BulkReport, LineBatches, each_of
from tenantry.client.calls import Call, GetMethod, NoReply, RetryLimits, Send, Sleep
from tenantry.client.methods import ApiCalls, documented_as
from tenantry.client.rotations import RotationReport, rotate_part
from tenantry.tracing import HttpClientSpan

if TYPE_CHECKING:
    import httpx2

P = ParamSpec("P")
T = TypeVar("T")


def _sending(
    call: Callable[Concatenate[ApiCalls, P], Call[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @documented_as(call)
    async def send(client: AsyncClient, /, *args: P.args, **fields: P.kwargs) -> T:
        return await client._run(call(client._calls, *args, **fields))

    return send


class AsyncClient:
    """``Client`` for asyncio."""

    def __init__(
        self,
        base_url: str,
        api_token: str,
        *,
        timeout: float = 10.0,
        attempts: int = 3,
        max_wait: float = 30.0,
        get_method: GetMethod = "GET",
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._calls = ApiCalls(base_url, api_token, limits=RetryLimits(attempts, max_wait), get_method=get_method)
        self._http = self._calls.library().AsyncClient(
            timeout=timeout, transport=transport, headers=self._calls.headers, follow_redirects=False
        )

    get_or_create = _sending(ApiCalls.get_or_create)
    update = _sending(ApiCalls.update)
    merge = _sending(ApiCalls.merge)
    delete = _sending(ApiCalls.delete)
    rotate = _sending(ApiCalls.rotate)
    create_pass = _sending(ApiCalls.create_pass)
    revoke_viewer = _sending(ApiCalls.revoke_viewer)
    find = _sending(ApiCalls.find)
    data_source = _sending(ApiCalls.data_source)
    create_data_source = _sending(ApiCalls.create_data_source)
    update_data_source = _sending(ApiCalls.update_data_source)
    delete_data_source = _sending(ApiCalls.delete_data_source)

    async def groups(self, *, match: str = "", after: int = 0, page_size: int = 100) -> AsyncIterator[ListedGroup]:
        """As Client.groups."""
        following: int | None = after
        while following is not None:
            page = await self._run(self._calls.page(after=following, limit=page_size, match=match))
            for group in page.groups:
                yield group
            following = page.next

    async def data_sources(self, *, page_size: int = 100) -> AsyncIterator[ListedSource]:
        """As Client.data_sources."""
        following: str | None = ""
        while following is not None:
            page = await self._run(self._calls.sources(after=following, limit=page_size))
            for source in page.sources:
                yield source
            following = page.next

    async def bulk(
        self,
        groups: Iterable[Mapping[str, Any]] | AsyncIterable[Mapping[str, Any]],
        *,
        replace: bool = False,
        dry_run: bool = False,
    ) -> AsyncIterator[BulkReport]:
        """Like ``Client.bulk``; ``groups`` may be asynchronous."""
        batches = LineBatches(self._calls.limits, replace=replace, dry_run=dry_run)
        async for group in each_of(groups):
            batches.add(group)
            if batches.full:
                for report in await self._run(batches.send()):
                    yield report
        if not batches.empty:
            for report in await self._run(batches.send()):
                yield report

    async def rotate_many(
        self, *, signed_by: str | None, after: int = 0, dry_run: bool = False
    ) -> AsyncIterator[RotationReport]:
        """As Client.rotate_many."""
        following: int | None = after
        while following is not None:
            reports = await self._run(rotate_part(self._calls.limits, signed_by, following, dry_run=dry_run))
            for report in reports:
                yield report
            following = reports.next

    async def _run(self, call: Call[T]) -> T:
        reply: Reply | NoReply | None = None
        attempt = 0
        while True:
            try:
                step = call.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, Sleep):
                await asyncio.sleep(step.seconds)
                reply = None
            else:
                reply = await self._send(step, attempt)
                attempt += 1

    async def _send(self, request: Send, attempt: int) -> Reply | NoReply:
        url = self._calls.url + request.target
        with HttpClientSpan(request.method, url, attempt) as span:
            try:
                headers = span.inject(request.headers)
                response = await self._http.request(request.method, url, content=request.body, headers=headers)
            except self._calls.library().TransportError as error:
                span.set_error(type(error).__name__)
                return NoReply(type(error).__name__)
            span.set_response(response.status_code)
        return Reply.of(response)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
