"""Service: what the rooms that want an API token have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tenantry.api.body import BODY_SECONDS
from tenantry.api.visit import Observer, unobserved
from tenantry.ports import Store
from tenantry.tokens import KeyRing

STORE_SECONDS: Final = 2.0
"""How long the store may take for one request, over all the calls that it needs."""


@dataclass(frozen=True, slots=True)
class Service:
    """The store, the signing keys, how long a client may take for a body and the store for one request, in seconds, and
    who is told of each request."""

    store: Store
    keys: KeyRing
    body_seconds: float = BODY_SECONDS
    store_seconds: float = STORE_SECONDS
    observer: Observer = unobserved
