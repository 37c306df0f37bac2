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
    """Describes an engine to test. The database at ``url`` needs a table that the statements in ``writes`` would change
    if the driver allowed them. Each query or statement is bound as a template."""

    make_driver: DriverFactory
    """As for ``DataSources(engines=…)``."""
    url: str
    """The URL of a data source of this engine. No message may contain the password in this URL."""
    slow: str
    """A query that takes several times as long as ``patience``."""
    writes: Sequence[str]
    """Statements that would change the table."""
    unchanged: str
    """A query that reads the table. Its result must be the same before and after the tests of ``writes``."""
    types: Mapping[str, str]
    """Kind of value in ``contract_values.VALUES`` -> an expression that returns ``{{ params.v }}``. ``text`` and
    ``integer`` are required."""
    literals: Mapping[str, Any] = field(default_factory=dict)
    """SQL expression -> the Python value that the driver returns for it."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """A statement that changes the session -> a query that shows the change."""
    refused: Sequence[str] = ()
    """Queries with ``{{ params.v }}`` for which the engine raises an error whose message quotes the value of the
    parameter."""
    unreachable_url: str | None = None
    """A URL at which no server answers. It should contain a password."""
    from_one_row: str = ""
    """What the engine needs after the expressions of a ``select`` without a table, such as `` from dual``."""
    patience: float = 20.0
    """How many seconds a busy machine may need to stop a query, or to run any query except ``slow``."""

    def open_driver(self, limits: Limits, url: str | None = None) -> Driver[Any]:
        """Make a driver for ``url``."""
        return self.make_driver(RegisteredSource("ds_1", "contract", _ENVIRONMENT, url or self.url), limits)

    def limits(self, **limits: Any) -> Limits:
        """Make limits with one connection and with ``patience`` as the timeout, unless ``limits`` has other values."""
        return Limits(**{"timeout": self.patience, "connect_timeout": self.patience, "pool_size": 1, **limits})

    def rows(self, count: int, expression: str = "{number}") -> str:
        """Return a query with ``count`` rows of ``expression``, in which ``{number}`` is the number of the row."""
        expressions = (expression.replace("{number}", str(number)) for number in range(count))
        selects = (f"select {each} as v{self.from_one_row}" for each in expressions)
        return " union all ".join(selects)

    def passwords(self) -> list[str]:
        """Return the passwords in the URLs."""
        urls = [self.url] if self.unreachable_url is None else [self.url, self.unreachable_url]
        return [password for url in urls if (password := parse_url(url).password)]

    @asynccontextmanager
    async def ask(self, *, url: str | None = None, **limits: Any) -> AsyncIterator[AskedDriver]:
        """Open a driver, and close it after the block. Raises AssertionError if closing takes too long."""
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
        return await self._source.fetch(as_result, self.bind(template, **params), await self._turn())

    async def rows(self, template: str, **params: Any) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in (await self.result(template, **params)).rows]

    async def error(self, template: str, **params: Any) -> TenantryError:
        try:
            result = await self.result(template, **params)
        except TenantryError as error:
            return error
        raise AssertionError(f"the driver must refuse this query, but it returned {len(result)} rows: {template}")

    async def streamed(self, template: str, **params: Any) -> bytes:
        """Return the rows as CSV. Raises TenantryError."""
        pieces = await self._stream(template, params)
        body = b""
        while (piece := await pieces.next()) is not None:
            body += piece
        return body

    async def stream_error(self, template: str, **params: Any) -> TenantryError:
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
            raise AssertionError(f"a query is still running {patience:g} s after the request to stop it") from None
