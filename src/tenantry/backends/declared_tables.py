from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tenantry.errors import InvalidSource


def check_tables(declaration: Mapping[str, Any] | None) -> str:
    """Return a declaration of guarded tables as canonical JSON, or "" for None and ``{}``. Raises InvalidSource (see
    ``SourceStore.create``)."""
    if not declaration:
        return ""
    from tenantry.sql.guarding import InvalidTables, read_tables  # slow to import

    try:
        found = read_tables(declaration)
    except InvalidTables as error:
        pointer = "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in error.keys)
        raise InvalidSource(error.message, field=f"/tables{pointer}") from None
    if not found.entries:
        raise InvalidSource("the declaration lists no tables: add some under its key `tables`", field="/tables")
    return json.dumps(found.as_json(), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def check_new_tables(before: str, declaration: Mapping[str, Any]) -> str:
    """Like ``check_tables``, for the declaration that replaces ``before``. Also raises InvalidSource if ``declaration``
    is empty but ``before`` has ``guard: required``."""
    after = check_tables(declaration)
    if before and not after and json.loads(before).get("guard"):
        raise InvalidSource(
            "a declaration with `guard: required` cannot be removed: first replace it with one that lacks "
            "`guard: required`, then remove that one",
            field="/tables",
        )
    return after
