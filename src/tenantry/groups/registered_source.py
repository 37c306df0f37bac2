from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from tenantry.groups.session_variables import SessionVariables
from tenantry.groups.user_group import Environment


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A registered data source."""

    id: str
    """Our id: ``ds_…``."""
    provided_id: str
    """The name that the caller chose for the data source."""
    environment: Environment
    url: str = field(repr=False)
    """The database's URL, perhaps with a password."""
    trusted: bool = False
    """Permits a dialect whose engine does not enforce read-only queries."""
    session: SessionVariables = ()
    """Session variables, such as ``("app.tenant", "{{ user_group.id }}")``. Only PostgreSQL has them."""
    tables: str = ""
    """The declaration of guarded tables as canonical JSON (``GuardedTables.as_json``). Empty if there is no
    declaration."""

    @property
    def declaration(self) -> dict[str, Any]:
        """The declaration in ``tables``, parsed on each access; empty if no table is declared."""
        return json.loads(self.tables) if self.tables else {}

    @property
    def handles(self) -> tuple[bytes, bytes]:
        """The handles of the source's two cache slots: one for ``id``, one for ``provided_id``. Mappings may contain
        either, so a write changes both."""
        return source_handle(self.environment.id, self.id), source_handle(self.environment.id, self.provided_id)


@dataclass(frozen=True, slots=True)
class SourceLookupResult:
    """The result of looking up a data source."""

    source: RegisteredSource | None
    """None if the data source does not exist."""
    generation: int
    """The number of the store's newest change (``Change.generation``) when the data source was read."""


SOURCES_HANDLE: Final = b"sources\0"
"""``Changes`` lists every write to a data source under this handle."""


def source_handle(environment_id: int, reference: str) -> bytes:
    """Return the 8 bytes that select a cache slot of a data source. ``reference``: its ``id`` or ``provided_id``."""
    return sha256(f"{environment_id}/{reference}".encode()).digest()[:8]
