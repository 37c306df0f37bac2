# ruff: noqa: S607
# mypy: ignore-errors
# (LibCST is not among the requirements: this script is run once, and then deleted.)
"""Moves modules of ``src/tenantry`` into their rooms, and rewrites every import of them. To be run once, then deleted.

    pip install libcst && python -m scripts.move_rooms

A trial on 2026-11-28 left every module importable. Still to be done by hand after a run: the contracts in
pyproject.toml, the re-exports of ``DOCUMENTED``, docstrings of the new packages, ``import tenantry.migrations`` in one
test, and lines that became too long.

``MOVES`` are modules and packages, old → new. Imports are rewritten by LibCST in each Python file of the repository;
in documents and tests also dotted names of two levels or more, and paths as ``datasources/turns.py``.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import libcst as cst
from libcst.helpers import get_full_name_for_node

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "tenantry"

MOVES: Final = {
    "loop_local": "aio.loop_local",
    "backoff": "aio.backoff",
    "read_ahead": "http.read_ahead",
    "replication": "backends.replication",
    "audit_chain": "backends.audit.chain",
    "backends.audit": "backends.audit.details",
    "buses": "backends.buses",
    "backends.memory": "backends.memory.store",
    "backends.memory_directory": "backends.memory.directory",
    "backends.memory_embedding": "backends.memory.embedding",
    "backends.memory_usage": "backends.memory.usage",
    "backends.redis": "backends.redis.second_level",
    "backends.redis_entry": "backends.redis.entry",
    "slots": "cache.slots",
    "dashboards.chart_rows": "dashboards.charts.chart_rows",
    "dashboards.reduction": "dashboards.charts.reduction",
    "dashboards.layer_reduction": "dashboards.charts.layer_reduction",
    "dashboards.point_reduction": "dashboards.charts.point_reduction",
    "dashboards.axis_columns": "dashboards.charts.axis_columns",
    "dashboards.panels": "dashboards.panels.panels",
    "dashboards.panel_stream": "dashboards.panels.panel_stream",
    "dashboards.tables": "dashboards.panels.tables",
    "dashboards.downloads": "dashboards.panels.downloads",
    "dashboards.description": "dashboards.panels.description",
    "dashboards.panel_lines": "dashboards.protocol.panel_lines",
    "dashboards.panel_request": "dashboards.protocol.panel_request",
    "dashboards.panel_errors": "dashboards.protocol.panel_errors",
    "dashboards.line_stream": "dashboards.protocol.line_stream",
    "dashboards.live": "dashboards.refresh.live",
    "dashboards.changed_files": "dashboards.refresh.changed_files",
    "dashboards.reloading": "dashboards.refresh.reloading",
    "redis_server": "database.redis_server",
    "publish_queue": "database.publish_queue",
    "migrations": "database.migrations",
    "queries": "datasources.query_folder",
    "datasources.bound_statement": "datasources.caching.bound_statement",
    "datasources.engine_check": "datasources.checks.engine_check",
    "datasources.connection_check": "datasources.checks.connection_check",
    "datasources.session_check": "datasources.checks.session_check",
    "datasources.threads": "datasources.pool.threads",
    "datasources.pooled_query": "datasources.pool.pooled_query",
    "datasources.streams": "datasources.pool.streams",
    "datasources.row_pieces": "datasources.pool.row_pieces",
    "datasources.many_rows": "datasources.pool.many_rows",
    "datasources.turns": "datasources.pool.turns",
    "datasources.limits": "datasources.pool.limits",
    "results": "datasources.results",
    "datasources.outer_select": "datasources.wrapped.outer_select",
    "datasources.no_rows": "datasources.wrapped.no_rows",
    "datasources.reduced_rows": "datasources.wrapped.reduced_rows",
    "datasources.wrapped_template": "datasources.wrapped.wrapped_template",
    "datasources.plans": "datasources.wrapped.plans",
    "property_schemas": "groups.property_schema_files",
    "http": "http.responses",
    "accessors": "http.accessors",
    "viewers": "http.viewers",
    "fastapi": "middleware.fastapi",
    "api": "provisioning.http",
    "cli.telemetry": "server.telemetry",
    "app": "server.app",
    "settings": "server.settings",
    "cli.server": "server.uvicorn",
    "cli.workers": "server.workers",
    "connections": "server.connections",
    "metrics": "server.metrics",
    "keys": "tokens.keys",
}


def full_moves() -> dict[str, str]:
    """Old → new dotted names of modules, those inside a moved package too; the longest first."""
    found: dict[str, str] = {}
    for old, new in MOVES.items():
        base = SOURCE / old.replace(".", "/")
        if base.is_dir():
            for file in base.rglob("*.py"):
                tail = file.relative_to(base).with_suffix("").as_posix().replace("/", ".")
                tail = "" if tail == "__init__" else "." + tail.removesuffix(".__init__")
                found[f"tenantry.{old}{tail}"] = f"tenantry.{new}{tail}"
        elif base.with_suffix(".py").is_file():
            found[f"tenantry.{old}"] = f"tenantry.{new}"
        else:
            print("no module", old)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


class Imports(cst.CSTTransformer):
    """Rewrites the modules of imports. ``from package import module`` becomes one statement for each new package."""

    def __init__(self, moves: dict[str, str]) -> None:
        self.moves = moves

    def leave_ImportFrom(  # noqa: N802  # LibCST's name
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.BaseSmallStatement | cst.FlattenSentinel[cst.BaseSmallStatement]:
        module = get_full_name_for_node(original_node.module) if original_node.module else None
        if module is None or original_node.relative or not module.startswith("tenantry"):
            return updated_node
        own = self.moves.get(module, module)
        if isinstance(original_node.names, cst.ImportStar):
            return updated_node.with_changes(module=_dotted(own))
        by_package: dict[str, list[cst.ImportAlias]] = {}
        for each in original_node.names:
            old = str(get_full_name_for_node(each.name))
            package, _, name = self.moves.get(f"{module}.{old}", f"{own}.{old}").rpartition(".")
            alias = each.asname or (None if name == old else cst.AsName(cst.Name(old)))
            given = each.with_changes(name=cst.Name(name), asname=alias, comma=cst.MaybeSentinel.DEFAULT)
            by_package.setdefault(package, []).append(given)
        if list(by_package) == [own]:
            return updated_node.with_changes(module=_dotted(own))
        return cst.FlattenSentinel(
            [updated_node.with_changes(module=_dotted(each), names=names) for each, names in by_package.items()]
        )

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:  # noqa: N802
        for each in original_node.names:
            name = get_full_name_for_node(each.name)
            if name in self.moves:
                print("by hand: import", name)
        return updated_node


def _dotted(name: str) -> cst.Attribute | cst.Name:
    first, *rest = name.split(".")
    node: cst.Attribute | cst.Name = cst.Name(first)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node


DOCUMENTED: Final = ("results", "metrics", "fastapi", "backends.memory", "backends.redis")
"""Modules that documents and examples go on importing: a few lines re-export their public names."""

_DOTTED: Final = re.compile(r"(?<![\w./-])tenantry(?:\.[A-Za-z_]\w*)+(?![\w/-])")


def rewrite_texts(text: str, moves: dict[str, str], paths: dict[str, str], *, documents: bool) -> str:
    """Dotted names of two levels or more, and paths of modules below ``src/tenantry``."""
    kept = {f"tenantry.{each}" for each in DOCUMENTED} if documents else set()
    new_names = set(moves.values())

    def renamed(match: re.Match[str]) -> str:
        parts = match[0].split(".")
        for length in range(len(parts), 2, -1):
            prefix, rest = ".".join(parts[:length]), parts[length:]
            if prefix in new_names or prefix in kept:
                return match[0]
            if prefix in moves:
                return ".".join([moves[prefix], *rest])
        return match[0]

    text = _DOTTED.sub(renamed, text)
    files = re.compile(
        r"(?<![\w./-])((?:src/tenantry/|tenantry/)?)(" + "|".join(map(re.escape, paths)) + r")(?![\w/-])"
    )
    return files.sub(lambda match: match[1] + paths[match[2]], text)


def main() -> None:
    moves = full_moves()
    paths: dict[str, str] = {}
    for old, new in MOVES.items():
        if (SOURCE / old.replace(".", "/")).is_dir():
            for file in (SOURCE / old.replace(".", "/")).rglob("*.py"):
                tail = file.relative_to(SOURCE / old.replace(".", "/")).as_posix()
                paths[f"{old.replace('.', '/')}/{tail}"] = f"{new.replace('.', '/')}/{tail}"
        else:
            paths[old.replace(".", "/") + ".py"] = new.replace(".", "/") + ".py"
    paths = dict(sorted(paths.items(), key=lambda pair: -len(pair[0])))
    _move_files()
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split(
        "\n"
    )
    for name in filter(None, listed):
        file = ROOT / name
        if name.startswith(("scripts/move_rooms", "CHANGELOG", "site/", "changes/")) or not file.is_file():
            continue
        if (
            file.suffix not in {".py", ".md", ".toml", ".json", ".yml", ".yaml", ".sh", ".ini", ".mako"}
            and name != "Makefile"
        ):
            continue
        before = after = file.read_text("utf-8")
        if file.suffix == ".py" and "tenantry" in before and not name.startswith("examples/"):
            after = cst.parse_module(before).visit(Imports(moves)).code
        documents = name.startswith(("docs/", "README", "examples/"))
        after = rewrite_texts(after, moves, paths if file.suffix != ".json" else {"\0": ""}, documents=documents)
        if after != before:
            file.write_text(after, "utf-8")


def _move_files() -> None:
    """Packages first: ``backends/memory.py`` becomes a folder of that name."""
    waiting: list[tuple[Path, Path]] = []
    for old, new in MOVES.items():
        source = SOURCE / old.replace(".", "/")
        target = SOURCE / new.replace(".", "/")
        if source.is_dir():
            waiting.append((source, target))
        else:
            waiting.append((source.with_suffix(".py"), target.with_suffix(".py")))
    aside = [(source, target, source.with_name("moving_" + source.name)) for source, target in waiting]
    for source, _, between in aside:
        subprocess.run(["git", "mv", source, between], check=True, cwd=ROOT)
    for _, target, between in aside:
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", between, target], check=True, cwd=ROOT)
        package = target.parent
        while package != SOURCE.parent:
            if not (package / "__init__.py").exists():
                (package / "__init__.py").write_text('"""."""\n', "utf-8")
                subprocess.run(["git", "add", package / "__init__.py"], check=True, cwd=ROOT)
                print("new package", package.relative_to(SOURCE))
            package = package.parent


if __name__ == "__main__":
    main()
