"""Where the log of a server goes: stderr, every line through what hides tokens."""

from __future__ import annotations

import copy
from typing import Any

import uvicorn


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
