"""Asking: one read of the backend, whatever it can do and however it fails."""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING

from tenantry.errors import StoreUnavailable, TenantryError
from tenantry.groups import Reading
from tenantry.tracing import Span

if TYPE_CHECKING:
    from tenantry.groups import Token
    from tenantry.ports import Backend, LeasedBackend
    from tenantry.resolver.counters import Counters

logger = logging.getLogger(__name__)


class Asking:
    """Asks a backend through ``look`` where it has that, else through ``find``. Any failure is a StoreUnavailable."""

    def __init__(self, backend: Backend | LeasedBackend, counters: Counters) -> None:
        self._backend = backend
        self._counters = counters
        self._look = getattr(backend, "look", None)

    @property
    def name(self) -> str:
        return type(self._backend).__name__

    async def look(self, token: Token, *, fresh: bool) -> Reading:
        self._counters.loads += 1
        self._counters.fresh += fresh
        try:
            return await self._call(token, fresh=fresh)
        except TenantryError as error:
            self._counters.failures += 1
            if error.generic_message is not None:  # who asked is told less
                logger.warning("%s: %s", error.code, error.message)
            raise
        except TimeoutError:
            self._counters.failures += 1
            raise
        except Exception as error:
            self._counters.failures += 1
            logger.error("the backend failed: %s", place_of_error(error))  # noqa: TRY400  # its text may hold a secret
            raise StoreUnavailable("user groups cannot be looked up just now") from error

    async def _call(self, token: Token, *, fresh: bool) -> Reading:
        with Span("tenantry.look", {"tenantry.backend": self.name, "tenantry.fresh": fresh}):
            if self._look is None:
                return Reading(await self._backend.find(token))
            reading: Reading = await self._look(token, fresh=fresh)
            return reading


def place_of_error(error: Exception) -> str:
    """Type and place of an exception. Its message may hold a URL with a password or a query with values."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
