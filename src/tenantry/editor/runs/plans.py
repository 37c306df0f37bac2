from __future__ import annotations

from tenantry.datasources.results import DEFAULT_FORMAT, Result, scalar_text


def plan_text(result: Result) -> str:
    """Return the rows of an engine's ``explain`` as text."""
    if result.names == ("id", "parent", "notused", "detail"):
        return _tree(result)
    rows = [["" if value is None else scalar_text(value, DEFAULT_FORMAT) for value in row] for row in result.rows]
    if len(result.names) == 1 or result.names == ("explain_key", "explain_value"):
        return "\n".join(row[-1] for row in rows)
    table = [list(result.names), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(result.names))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)


def _tree(result: Result) -> str:
    # SQLite: each row names its parent.
    depths, lines = {0: -1}, []
    for number, parent, _, detail in result.rows:
        depths[number] = depths.get(parent, -1) + 1
        lines.append(f"{'  ' * depths[number]}{detail}")
    return "\n".join(lines)
