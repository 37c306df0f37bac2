"""EngineCase describes an engine for DriverContract; AskedDriver is a driver in a pool, as DataSources runs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tenantry.datasources import (
    Chunks,
    ConnectionPool,
    Driver,
    DriverFactory,
    FairQueue,
    Limits,
    Turn,
    as_result,
    parse_url,
)
from tenantry.datasources.results import DEFAULT_FORMAT, Result, chunk_writers
from tenantry.errors import TenantryError
from tenantry.groups import Environment, RegisteredSource, Tag
from tenantry.sql import BoundSQL, SQLTemplate

_ENVIRONMENT = Environment(1, "production", Tag.CUSTOMER)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCase:
    """One engine with a writable table. All SQL here is a template.

    ``make_driver``: as for ``DataSources(engines=…)``. ``url``: a source; no message may contain its password.
    ``unreachable_url``: a URL that nothing answers, with a password if possible. ``slow``: a query that runs for
    several times ``patience``. ``writes``: statements that change the result of ``unchanged``. ``types``: an expression
    that returns ``{{ params.v }}`` for each kind in VALUES (``text`` and ``integer`` are required). ``literals``:
    expressions and their Python values. ``settings``: statements that change the session, each with a query that shows
    it. ``refused``: queries with ``{{ params.v }}`` whose engine error quotes it. ``from_one_row``: the end of a
    ``select`` without a table, such as `` from dual``. ``patience``: seconds for a stop, or any query but ``slow``, on
    a busy machine.
    """

    make_driver: DriverFactory
    url: str
    slow: str
    writes: Sequence[str]
    unchanged: str
    types: Mapping[str, str]
    literals: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    refused: Sequence[str] = ()
    unreachable_url: str | None = None
    from_one_row: str = ""
    patience: float = 20.0

    def open_driver(self, limits: Limits, url: str | None = None) -> Driver[Any]:
        return self.make_driver(RegisteredSource("ds_1", "contract", _ENVIRONMENT, url or self.url), limits)

    def limits(self, **limits: Any) -> Limits:
        """Patient limits with one connection, updated with these."""
        return Limits(**{"timeout": self.patience, "connect_timeout": self.patience, "pool_size": 1, **limits})

    def rows(self, count: int, expression: str = "{number}") -> str:
        expressions = (expression.replace("{number}", str(number)) for number in range(count))
        selects = (f"select {each} as v{self.from_one_row}" for each in expressions)
        return " union all ".join(selects)

    def passwords(self) -> list[str]:
        urls = [self.url] if self.unreachable_url is None else [self.url, self.unreachable_url]
        return [password for url in urls if (password := parse_url(url).password)]

    @asynccontextmanager
    async def ask(self, *, url: str | None = None, **limits: Any) -> AsyncIterator[AskedDriver]:
        """Open a driver. Raises AssertionError if it cannot be closed."""
        bounds = self.limits(**limits)
        asked = AskedDriver(self.open_driver(bounds, url), bounds)
        try:
            yield asked
        finally:
            await asked.close(self.patience)


class AskedDriver:
    def __init__(self, driver: Driver[Any], limits: Limits) -> None:
        self.driver = driver
        self._source = ConnectionPool(driver, limits)
        self._turns = FairQueue(driver.source_id, limits)

    def bind(self, template: str, **params: Any) -> BoundSQL:
        variables = {"params": params}
        return SQLTemplate(template).bind(variables, self.driver.paramstyle, dialect=self.driver.dialect)

    async def result(self, template: str, **params: Any) -> Result:
        """Raises TenantryError."""
        return await self._source.fetch(as_result, self.bind(template, **params), await self._turn())

    async def rows(self, template: str, **params: Any) -> list[tuple[Any, ...]]:
        """Raises TenantryError."""
        return [tuple(row) for row in (await self.result(template, **params)).rows]

    async def error(self, template: str, **params: Any) -> TenantryError:
        """Return the driver's refusal. Raises AssertionError if it answers."""
        try:
            result = await self.result(template, **params)
        except TenantryError as error:
            return error
        raise AssertionError(f"the driver must refuse this query: {template} returned {len(result)} rows")

    async def streamed(self, template: str, **params: Any) -> bytes:
        """The streamed rows in CSV. Raises TenantryError."""
        pieces = await self._stream(template, params)
        body = b""
        while (piece := await pieces.next()) is not None:
            body += piece
        return body

    async def stream_error(self, template: str, **params: Any) -> TenantryError:
        """Return a stream's error. Raises AssertionError if it succeeds."""
        try:
            body = await self.streamed(template, **params)
        except TenantryError as error:
            return error
        raise AssertionError(f"the driver must refuse this stream: {template} returned {len(body)} bytes")

    async def leave_stream(self, template: str, **params: Any) -> None:
        (await self._stream(template, params)).close()

    async def _stream(self, template: str, params: Mapping[str, Any]) -> Chunks:
        make_writer = chunk_writers("csv", DEFAULT_FORMAT, formula_safe=False)
        bound = self.bind(template, **params)
        return await self._source.stream(make_writer, bound, await self._turn(), None, lambda *_: None)

    async def _turn(self) -> Turn:
        turn = self._turns.acquire(b"")
        await turn.wait()
        return turn

    async def close(self, patience: float) -> None:
        """Raises AssertionError if closing takes longer than ``patience`` seconds."""
        try:
            await asyncio.wait_for(self._source.aclose(), patience)
        except TimeoutError:
            self._source.abandon()
            raise AssertionError(f"a query still runs {patience:g} s after it was stopped") from None
