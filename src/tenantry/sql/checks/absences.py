"""What a template can do without: whether it can be bound where a parameter, or an end of a range, is absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.sql.syntax_tree import Clause, Switch, references_in, walk
from tenantry.sql.template import SQLTemplate


def can_lack(template: SQLTemplate, name: str, left: Mapping[str, Any] | None = None) -> bool:
    """Whether each tag that reads ``params.name`` is in an optional clause, has a default of its own, or chooses a part
    of the text that needs no value, as ``within`` and ``matches`` do. ``left``: the ends of a range that are there; a
    clause that is dropped for want of the other one must not hold them.

    Raises TemplateError for a text that cannot be compiled.
    """
    path = f"params.{name}"
    there = {f"{path}.{end}" for end in left or ()}
    for node, around in walk(template._own_tree().nodes):
        if any(isinstance(outer, Switch) and outer.reference.path == path for outer in around):
            continue  # a part of the text that is chosen by what is there
        clauses = [outer for outer in around if isinstance(outer, Clause)]
        for reference in references_in([node]):
            if reference.path != path and not reference.path.startswith(f"{path}."):
                continue
            value = left if reference.path == path else (left or {}).get(reference.path.rpartition(".")[2])
            if isinstance(node, Switch) and not clauses and not _chooses(node, value):
                return False
            if isinstance(node, Switch) or value is not None or reference.never_absent:
                continue
            if not clauses or any(other.path in there for clause in clauses for other in clause.references):
                return False
    return True


def _chooses(switch: Switch, value: Any) -> bool:
    try:
        switch.choose(value)
    except (LookupError, TypeError):
        return False
    return True
