"""RegisteredSource: a data source as an environment knows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenantry.groups.environment import Environment


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A data source of one environment: our id (``ds_…``), the caller's own id, and the URL to connect to.

    ``url`` may hold a password, so it is kept out of ``repr``. ``trusted`` lets a dialect run whose read-only mode
    Tenantry cannot enforce.
    """

    id: str
    provided_id: str
    environment: Environment
    url: str = field(repr=False)
    trusted: bool = False
