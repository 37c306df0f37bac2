from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from threading import Lock
from typing import Any, Final

from cachetools import TTLCache

from tenantry.backends import use_is_recorded
from tenantry.clock import utc_now
from tenantry.errors import TenantryError
from tenantry.groups import ApiToken
from tenantry.ports import ApiTokenStore

_log = logging.getLogger("tenantry.api")

_PAUSE: Final = 600.0
"""Minimum seconds between two attempts to record a use of the same API token."""

_PATIENCE: Final = 10.0
"""Timeout of an attempt to record a use, in seconds."""

_MAX_TOKENS: Final = 1_024
"""Maximum number of API tokens whose last attempt is remembered."""


class ApiTokenUses:
    def __init__(self) -> None:
        self._tried: TTLCache[int, bool] = TTLCache(_MAX_TOKENS, _PAUSE, timer=time.monotonic)
        self._lock = Lock()  # TTLCache is not thread-safe, and event loops may run in several threads
        self._tasks: set[asyncio.Task[Any]] = set()

    def note(self, tokens: ApiTokenStore, token: ApiToken) -> None:
        """In a background task, record the use of the API token, at most once an hour."""
        if use_is_recorded(token, utc_now()):
            return
        with self._lock:
            if token.id in self._tried:
                return
            self._tried[token.id] = True
        task = asyncio.get_running_loop().create_task(_record(tokens, token), name="tenantry.api_token_use")
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, token))

    def _ended(self, token: ApiToken, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # a request after the pause tries again
            reason = f"{error.code}: {error.message}" if isinstance(error, TenantryError) else type(error).__qualname__
            _log.info("the use of API token %d was not stored: %s", token.id, reason)


async def _record(tokens: ApiTokenStore, token: ApiToken) -> None:
    async with asyncio.timeout(_PATIENCE):
        await tokens.record_use(token)
