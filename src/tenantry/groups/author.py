"""Author and AuditEntry: who did what to the provisioned records, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Author:
    """Who asks for a write: ``name`` for people (an API token's id and label, a user of the command line), and the id
    of the request, if it was one. Never a secret."""

    name: str
    request_id: str | None = None


UNNAMED = Author("unnamed")
"""The author of a write that a program made without saying who it is."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One provisioning action that was done, as the store keeps it for good.

    ``number`` counts up, ``at`` is aware, in UTC, by the store's clock. ``action`` is ``<thing>.<verb>``, such as
    ``group.rotated``; ``subject`` names the thing by its public id. No token, key or property value is ever in it.
    """

    number: int
    at: datetime
    author: Author
    action: str
    environment: str
    subject: str
    details: dict[str, str] = field(default_factory=dict)
