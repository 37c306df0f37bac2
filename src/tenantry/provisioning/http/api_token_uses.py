"""ApiTokenUses: notes that an API token was used. It is a write, so no request waits for it or fails by it, and it is
rare: a store keeps the last use to the hour, and a process tries once in ten minutes where that does not succeed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from threading import Lock
from typing import Any, Final

from cachetools import TTLCache

from tenantry.backends import use_is_recorded
from tenantry.cache.slots import utc_now
from tenantry.errors import TenantryError
from tenantry.groups import ApiToken
from tenantry.ports import ApiTokenStore

_log = logging.getLogger("tenantry.api")

_PAUSE: Final = 600.0
"""Seconds between two attempts for one API token."""

_PATIENCE: Final = 10.0
"""Seconds that the store may take."""

_MOST: Final = 1_024
"""API tokens whose attempts are remembered; of more, some are tried again sooner."""


class ApiTokenUses:
    """Of one endpoint, or of several. May be used from several event loops."""

    def __init__(self) -> None:
        self._tried: TTLCache[int, bool] = TTLCache(_MOST, _PAUSE, timer=time.monotonic)
        self._lock = Lock()  # of loops in several threads: this cache moves its own links
        self._tasks: set[asyncio.Task[Any]] = set()

    def note(self, tokens: ApiTokenStore, token: ApiToken) -> None:
        """Has the use of this token stored, beside the request, if that is due."""
        if use_is_recorded(token, utc_now()):
            return
        with self._lock:
            if token.id in self._tried:
                return
            self._tried[token.id] = True
        task = asyncio.get_running_loop().create_task(_record(tokens, token), name="tenantry.api_token_use")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _record(tokens: ApiTokenStore, token: ApiToken) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await tokens.record_use(token)
    except Exception as error:  # noqa: BLE001 - nobody waits for it, and the next request may be luckier
        reason = f"{error.code}: {error.message}" if isinstance(error, TenantryError) else type(error).__qualname__
        _log.info("the use of API token %d was not stored: %s", token.id, reason)
