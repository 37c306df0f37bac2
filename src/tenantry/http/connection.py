"""HTTPConnection: what the request accessors take, under the name by which FastAPI knows what to pass.

``Depends(user_group)`` works when the parameter's annotation *is* Starlette's HTTPConnection: the one type that FastAPI
fills for requests and websockets alike. Annotations are texts that are evaluated in the module of their function, so
``connection.HTTPConnection`` loads Starlette when FastAPI asks, and not when a function is imported. To a type checker
it says what the accessors really take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from tenantry._lazy import lazy_exports


class Connection(Protocol):
    """Anything with the ASGI scope of a request or websocket."""

    @property
    def scope(self) -> Mapping[str, Any]: ...


if TYPE_CHECKING:
    HTTPConnection = Connection | Mapping[str, Any]
else:
    __getattr__, __dir__ = lazy_exports(__name__, {"HTTPConnection": "starlette.requests"})

__all__ = ["Connection", "HTTPConnection"]
