from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from tenantry.groups import Author

if TYPE_CHECKING:
    from starlette.requests import Request


class Right(StrEnum):
    """What an author may do."""

    VIEW = "view"
    """Read files, groups and the catalogue. The other rights have no effect without it."""
    RUN = "run"
    """Run queries as a group."""
    SAVE = "save"
    """Write files."""
    UNGUARDED = "unguarded"
    """Read guarded tables without their guards."""


ALL_BUT_UNGUARDED: Final = frozenset({Right.VIEW, Right.RUN, Right.SAVE})


@dataclass(frozen=True, slots=True)
class EditorAuthor:
    """The author of a request to the editor."""

    name: str
    """The name in the audit trail, for example an e-mail address."""
    rights: frozenset[Right] = ALL_BUT_UNGUARDED
    environments: frozenset[str] | None = None
    """The names of the environments whose groups the author may use; None: all."""

    def audited(self, request_id: str | None = None) -> Author:
        """Return the author for the audit trail."""
        return Author(f"editor {self.name}", request_id)

    def may_use(self, environment: str) -> bool:
        """Whether the author may use the groups of this environment."""
        return self.environments is None or environment in self.environments


FindAuthor: TypeAlias = "Callable[[Request], EditorAuthor | Awaitable[EditorAuthor | None] | None]"
"""A function of the host program. It returns a request's author, or None."""
