"""uvicorn's loggers belong to the process, and a server that runs in a test's own process sets them up for good."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "tenantry", "tenantry.access")


@contextmanager
def fresh_loggers() -> Iterator[None]:
    """Within it they are as in a new process; afterwards as they were."""
    kept = []
    for name in NAMES:
        logger = logging.getLogger(name)
        kept.append((logger, logger.level, logger.propagate, logger.handlers, logger.disabled))
        logger.setLevel(logging.NOTSET)
        logger.propagate, logger.handlers, logger.disabled = True, [], False
    try:
        yield
    finally:
        for logger, level, propagate, handlers, disabled in kept:
            logger.setLevel(level)
            logger.propagate, logger.handlers, logger.disabled = propagate, handlers, disabled
