from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

from tenantry.errors import InvalidSettings

_MODULES: Final = {
    "chdb": ("chdb",),
    "clickhouse": ("clickhouse_connect",),
    "dashboards": ("msgspec", "sqlglot", "yaml"),
    "duckdb": ("duckdb",),
    "metrics": ("prometheus_client",),
    "mysql": ("pymysql",),
    "postgres": ("psycopg",),
    "redis": ("redis",),
    "server": ("alembic", "pydantic_settings", "uvicorn"),
}


def extra_of(module: str) -> str | None:
    package = module.partition(".")[0]
    return next((extra for extra, modules in _MODULES.items() if package in modules), None)


def needs(*extras: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command. If some of these extras are not installed, the command raises InvalidSettings, which names
    them all."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, **arguments: Any) -> None:
            missing = [extra for extra in extras if any(find_spec(module) is None for module in _MODULES[extra])]
            if missing:
                raise InvalidSettings(
                    f"this command needs packages that are not installed: pip install 'tenantry[{','.join(missing)}]'"
                )
            command(*args, **arguments)

        return run

    return decorate
