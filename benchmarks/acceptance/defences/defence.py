"""Defence: a line of the source that protects something, and what notices when it is gone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defence:
    """``file`` is below ``sources``; ``line`` is replaced by ``broken``; ``tests`` are arguments of pytest."""

    name: str
    file: str
    line: str
    broken: str
    tests: tuple[str, ...]
    sources: str = "src/tenantry"

    @property
    def path(self) -> str:
        """The file, from the root of the tree."""
        return f"{self.sources}/{self.file}"
