from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tenantry.client.answers import CreatedPass, ListedGroup, ListedSource, ProvisionedGroup, Reply
from tenantry.client.bulk import BulkReport, LineBatches, each_of, read_reports
from tenantry.client.calls import ApiCalls, Call, GetMethod, NoReply, RetryLimits, Send, Sleep
from tenantry.client.rotations import RotationReport, read_rotations, rotate_part
from tenantry.groups import UNCHANGED, Unchanged
from tenantry.tracing import HttpClientSpan

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")


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

    async def get_or_create(
        self,
        user_group_id: str,
        *,
        name: str | None = None,
        properties: Mapping[str, Any] | None = None,
        mapping: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> ProvisionedGroup:
        """As Client.get_or_create."""
        return await self._run(
            self._calls.get_or_create(user_group_id, name=name, properties=properties, mapping=mapping, dry_run=dry_run)
        )

    async def update(
        self,
        user_group_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        properties: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        mapping: Mapping[str, str] | Unchanged | None = UNCHANGED,
        dry_run: bool = False,
    ) -> ProvisionedGroup:
        """As Client.update."""
        return await self._run(
            self._calls.update(user_group_id, name=name, properties=properties, mapping=mapping, dry_run=dry_run)
        )

    async def merge(
        self,
        user_group_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        properties: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        mapping: Mapping[str, str | None] | Unchanged | None = UNCHANGED,
        expires_at: datetime | Unchanged | None = UNCHANGED,
        suspended: bool | Unchanged = UNCHANGED,
        dry_run: bool = False,
    ) -> ProvisionedGroup:
        """As Client.merge."""
        return await self._run(
            self._calls.merge(
                user_group_id,
                name=name,
                properties=properties,
                mapping=mapping,
                expires_at=expires_at,
                suspended=suspended,
                dry_run=dry_run,
            )
        )

    async def delete(self, user_group_id: str, *, dry_run: bool = False) -> ListedGroup | None:
        """As Client.delete."""
        return await self._run(self._calls.delete(user_group_id, dry_run=dry_run))

    async def rotate(
        self, current_token: str, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> ProvisionedGroup:
        """As Client.rotate."""
        return await self._run(self._calls.rotate(current_token, idempotency_key, dry_run=dry_run))

    async def create_pass(
        self,
        user_group_id: str,
        viewer_id: str | None = None,
        viewer: Mapping[str, Any] | None = None,
        *,
        seconds: int | None = None,
        scope: str | None = None,
    ) -> CreatedPass:
        """As Client.create_pass."""
        return await self._run(
            self._calls.create_pass(user_group_id, viewer_id=viewer_id, viewer=viewer, seconds=seconds, scope=scope)
        )

    async def revoke_viewer(self, user_group_id: str, viewer_id: str) -> datetime:
        """As Client.revoke_viewer."""
        return await self._run(self._calls.revoke_viewer(user_group_id, viewer_id))

    async def find(self, user_group_id: str) -> ListedGroup | None:
        """As Client.find."""
        found = (await self._run(self._calls.find(user_group_id))).groups
        return found[0] if found else None

    async def groups(self, *, match: str = "", after: int = 0, page_size: int = 100) -> AsyncIterator[ListedGroup]:
        """As Client.groups."""
        following: int | None = after
        while following is not None:
            page = await self._run(self._calls.page(after=following, limit=page_size, match=match))
            for group in page.groups:
                yield group
            following = page.next

    async def data_source(self, name: str) -> ListedSource | None:
        """As Client.data_source."""
        found = (await self._run(self._calls.sources(name=name))).sources
        return found[0] if found else None

    async def data_sources(self, *, page_size: int = 100) -> AsyncIterator[ListedSource]:
        """As Client.data_sources."""
        following: str | None = ""
        while following is not None:
            page = await self._run(self._calls.sources(after=following, limit=page_size))
            for source in page.sources:
                yield source
            following = page.next

    async def create_data_source(
        self,
        name: str,
        url: str,
        *,
        password: str | None = None,
        session: Mapping[str, str] | None = None,
        tables: Mapping[str, Any] | None = None,
        test: bool = True,
        dry_run: bool = False,
    ) -> ListedSource:
        """As Client.create_data_source."""
        fields = {"url": url, "password": password, "session": session, "tables": tables, "test": test}
        return await self._run(self._calls.write_source("POST", name, dry_run=dry_run, **fields))

    async def update_data_source(
        self,
        name: str,
        *,
        new_name: str | Unchanged = UNCHANGED,
        url: str | Unchanged = UNCHANGED,
        password: str | Unchanged = UNCHANGED,
        session: Mapping[str, str] | Unchanged | None = UNCHANGED,
        tables: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        test: bool = True,
        dry_run: bool = False,
    ) -> ListedSource:
        """As Client.update_data_source."""
        fields = {"new_name": new_name, "url": url, "password": password, "session": session, "tables": tables}
        return await self._run(self._calls.write_source("PATCH", name, dry_run=dry_run, test=test, **fields))

    async def delete_data_source(self, name: str, *, force: bool = False, dry_run: bool = False) -> ListedSource | None:
        """As Client.delete_data_source."""
        return await self._run(self._calls.delete_source(name, force=force, dry_run=dry_run))

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
                for report in read_reports(await self._run(batches.send())):
                    yield report
        if not batches.empty:
            for report in read_reports(await self._run(batches.send())):
                yield report

    async def rotate_many(
        self, *, signed_by: str | None, after: int = 0, dry_run: bool = False
    ) -> AsyncIterator[RotationReport]:
        """As Client.rotate_many."""
        following: int | None = after
        while following is not None:
            answer = await self._run(rotate_part(self._calls.limits, signed_by, following, dry_run=dry_run))
            for report in read_rotations(answer):
                yield report
            following = answer.next

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
