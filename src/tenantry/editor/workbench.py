from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from tenantry.datasources import DataSources, Limits
from tenantry.editor.workspace import Workspace
from tenantry.ports import AuditTrail, CodeStore, EnvironmentStore, GroupStore, SourceStore


@runtime_checkable
class EditorStore(Protocol):
    @property
    def groups(self) -> GroupStore: ...
    @property
    def environments(self) -> EnvironmentStore: ...
    @property
    def sources(self) -> SourceStore: ...
    @property
    def codes(self) -> CodeStore: ...
    @property
    def audit(self) -> AuditTrail: ...


@dataclass(frozen=True, slots=True)
class Workbench:
    """The parts that the endpoints of one mounted editor share."""

    folder: Path
    """The folder of the dashboards. ``default_queries`` finds the folder of their queries."""
    store: EditorStore
    sources: DataSources
    """Runs the queries of authors, with separate connections and limits."""
    unguarded: DataSources
    """Like ``sources``, but reads guarded tables without their guards."""
    limits: Limits
    read_only: bool = False

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.folder)
