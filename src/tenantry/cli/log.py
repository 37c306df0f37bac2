"""Where the log of a server goes: stderr, every line through what hides tokens."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from typing import Any

import uvicorn

from tenantry.cli.output import say
from tenantry.middleware import JsonLines


def log_config(log_format: str) -> dict[str, Any]:
    """uvicorn's own, and our own loggers beside it. ``log_format``: ``text``, or ``json``: one object a line, also for
    each request."""
    config: dict[str, Any] = copy.deepcopy(uvicorn.config.LOGGING_CONFIG)
    config["filters"] = {"redact": {"()": "tenantry.middleware.RedactTokens"}}
    for handler in config["handlers"].values():
        handler["stream"] = "ext://sys.stderr"
        handler["filters"] = ["redact"]
    config["loggers"]["tenantry"] = {"handlers": ["default"], "level": "WARNING", "propagate": False}
    if log_format == "json":
        config["loggers"]["tenantry.access"] = {"level": "INFO"}
        for name in config["formatters"]:
            config["formatters"][name] = {"()": "tenantry.middleware.JsonLines"}
    return config


def teller(log_format: str) -> Callable[[str], None]:
    """How a server speaks of itself, where its log goes: in prose, or as a line of that log."""
    if log_format != "json":
        return say
    lines = JsonLines()

    def tell(text: str) -> None:
        say(lines.format(logging.LogRecord("tenantry.serve", logging.INFO, "", 0, text, None, None)))

    return tell
