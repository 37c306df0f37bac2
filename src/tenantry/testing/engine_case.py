"""EngineCase: what DriverContract has to know of an engine; AskedDriver: a driver, asked as DataSources asks it.

A driver is run by the pool that data sources run it by: in threads, with a timer, interrupts and used connections. So
the contract sees what a viewer would see.
"""

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
    """One engine with a table to write to. Every SQL here is a template of SQL for the engine.

    ``make_driver``: what is given to ``DataSources(engines=…)``. ``url``: that of a source; its password is looked for
    in every message. ``unreachable_url``: one where nothing answers, with a password if URLs have one.

    ``slow``: a query without values that would run for several times ``patience``. ``writes``: statements that each
    change what ``unchanged`` gives, if the driver lets them. ``types``: for each kind of value that the engine has (the
    keys of VALUES: ``text`` and ``integer`` are required) an expression with ``{{ params.v }}`` that gives the value
    back. ``literals``: expressions, and the value that each gives in Python. ``settings``: statements that change the
    session, each with a query that would show it. ``refused``: queries with ``{{ params.v }}`` that the engine refuses
    because of a text there, with a message of its own that quotes it. ``from_one_row``: what follows a ``select``
    without a table, as `` from dual``.

    ``patience``: seconds that a stop may take, and any query that is not ``slow``, on a machine that does much else.
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
        """A driver for a source at the URL (default: ``url``)."""
        return self.make_driver(RegisteredSource("ds_1", "contract", _ENVIRONMENT, url or self.url), limits)

    def limits(self, **limits: Any) -> Limits:
        """Patient ones with a single connection, and these."""
        return Limits(**{"timeout": self.patience, "connect_timeout": self.patience, "pool_size": 1, **limits})

    def rows(self, count: int, expression: str = "{number}") -> str:
        """A query that gives so many rows of one column ``v``."""
        expressions = (expression.replace("{number}", str(number)) for number in range(count))
        selects = (f"select {each} as v{self.from_one_row}" for each in expressions)
        return " union all ".join(selects)

    def passwords(self) -> list[str]:
        """Those of its URLs."""
        urls = [self.url] if self.unreachable_url is None else [self.url, self.unreachable_url]
        return [password for url in urls if (password := parse_url(url).password)]

    @asynccontextmanager
    async def ask(self, *, url: str | None = None, **limits: Any) -> AsyncIterator[AskedDriver]:
        """A new driver, closed at the end. Raises AssertionError when it cannot be closed."""
        bounds = self.limits(**limits)
        asked = AskedDriver(self.open_driver(bounds, url), bounds)
        try:
            yield asked
        finally:
            await asked.close(self.patience)


class AskedDriver:
    """A driver with its pool of connections."""

    def __init__(self, driver: Driver[Any], limits: Limits) -> None:
        self.driver = driver
        self._source = ConnectionPool(driver, limits)
        self._turns = FairQueue(driver.source_id, limits)

    def bind(self, template: str, **params: Any) -> BoundSQL:
        """A template with the values of its ``params``, for this driver."""
        variables = {"params": params}
        return SQLTemplate(template).bind(variables, self.driver.paramstyle, dialect=self.driver.dialect)

    async def result(self, template: str, **params: Any) -> Result:
        """What the driver answers. Raises TenantryError."""
        return await self._source.fetch(as_result, self.bind(template, **params), await self._turn())

    async def rows(self, template: str, **params: Any) -> list[tuple[Any, ...]]:
        """The rows alone. Raises TenantryError."""
        return [tuple(row) for row in (await self.result(template, **params)).rows]

    async def error(self, template: str, **params: Any) -> TenantryError:
        """What the driver refuses it with. Raises AssertionError when it answers."""
        try:
            result = await self.result(template, **params)
        except TenantryError as error:
            return error
        raise AssertionError(f"the driver runs what it must refuse: {template} gave {len(result)} rows")

    async def streamed(self, template: str, **params: Any) -> bytes:
        """The same rows as the body of a stream, in CSV. Raises TenantryError."""
        pieces = await self._stream(template, params)
        body = b""
        while (piece := await pieces.next()) is not None:
            body += piece
        return body

    async def stream_error(self, template: str, **params: Any) -> TenantryError:
        """What a stream ends with. Raises AssertionError when it ends well."""
        try:
            body = await self.streamed(template, **params)
        except TenantryError as error:
            return error
        raise AssertionError(f"the driver streams what it must refuse: {template} gave {len(body)} bytes")

    async def leave_stream(self, template: str, **params: Any) -> None:
        """Begins a stream that nobody reads."""
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
        """Stops what runs and closes every connection. Raises AssertionError when that takes longer than ``patience``
        seconds."""
        try:
            await asyncio.wait_for(self._source.aclose(), patience)
        except TimeoutError:
            self._source.abandon()
            raise AssertionError(f"a query still runs {patience:g} s after the driver was told to stop it") from None
