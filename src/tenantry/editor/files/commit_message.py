from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tenantry.editor.workspace import FileKind, Workspace

_LONGEST: Final = 72
"""Maximum characters of the first line (git's own documents advise 50)."""
_VERBS: Final = {"added": "Add", "changed": "Change", "removed": "Remove"}
_PLURAL: Final = {FileKind.QUERY: "queries", FileKind.DASHBOARD: "dashboards"}


def commit_message(changes: Mapping[str, Sequence[str]], workspace: Workspace) -> str:
    """Return a commit message. ``changes``: the paths that were ``added``, ``changed`` and ``removed``. The first line
    names the files if they fit. Otherwise it counts them, and a list follows. Returns "" without changes."""
    groups = {
        (action, kind): [path for path in paths if workspace.kind(path) is kind]
        for action, paths in changes.items()
        for kind in FileKind
    }
    groups = {key: paths for key, paths in groups.items() if paths}
    named = _sentence([(action, _named(kind, paths, workspace)) for (action, kind), paths in groups.items()])
    if len(named) <= _LONGEST:
        return named
    counted = _sentence([(action, _counted(kind, len(paths))) for (action, kind), paths in groups.items()])
    lines = [f"- {action} {path}" for action, paths in changes.items() for path in paths]
    return "\n".join([counted, "", *lines])


def _sentence(parts: Sequence[tuple[str, str]]) -> str:
    by_action: dict[str, list[str]] = {}
    for action, text in parts:
        by_action.setdefault(action, []).append(text)
    clauses = [f"{_VERBS[action]} {' and '.join(texts)}" for action, texts in by_action.items()]
    return "; ".join(clauses[:1] + [clause[0].lower() + clause[1:] for clause in clauses[1:]])


def _named(kind: FileKind, paths: Sequence[str], workspace: Workspace) -> str:
    if kind is FileKind.TABLES:
        return "tables.yaml"
    return f"{kind if len(paths) == 1 else _PLURAL[kind]} {', '.join(map(workspace.name, paths))}"


def _counted(kind: FileKind, count: int) -> str:
    if kind is FileKind.TABLES:
        return "tables.yaml"
    return f"{count} {kind if count == 1 else _PLURAL[kind]}"
