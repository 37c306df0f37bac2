from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tenantry.errors import InvalidSource, TemplateError
from tenantry.groups import RegisteredSource

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables

NEUTRAL: Final = "the data source cannot be used: its operator can see the reason in the log"
"""What HTTP clients see if a declaration is wrong. Only the operator sees the full message, because it names tables and
columns."""

TABLES_FILE: Final = "tables.yaml"
"""The file that declares the guarded tables, in the folder of the queries or next to it."""

_log: Final = logging.getLogger(__name__)


def declared_tables(source: RegisteredSource) -> GuardedTables | None:
    """Return the source's guarded tables, or None if it has no declaration. Raises InvalidSource for a declaration that
    this process cannot use."""
    if not source.tables:
        return None
    try:
        from tenantry.sql.guarding import read_stored_tables  # slow to import

        tables = read_stored_tables(source.tables)
    except (TemplateError, ValueError) as error:
        raise declaration_error(source, f"cannot be used: {error}") from None
    if not tables.entries:
        raise declaration_error(source, "cannot be used: they list no table")
    return tables


def declaration_error(source: RegisteredSource, problem: str) -> InvalidSource:
    """Return the error for a wrong declaration, and log it for the operator."""
    name = source.provided_id
    also = f" ({source.id})" if source.id != name else ""
    problem = f"the guarded tables of data source {name}{also} {problem}"
    fix = f"correct the file that declares the tables, and run: tenantry data-source update {name} --tables FILE"
    error = InvalidSource(f"{problem}. No query runs on this data source until you {fix}", field="/tables")
    error.problem, error.fix = problem, fix
    error.generic_message = NEUTRAL
    _log.error("%s", error.message)
    return error


def find_tables(folder: Path) -> Path | None:
    """Return the path of TABLES_FILE for the queries in a folder, or None if the file does not exist."""
    parent = folder.parent if folder.name not in {"", ".."} else folder.resolve().parent
    found = (each / TABLES_FILE for each in (folder, parent))
    return next((each for each in found if each.is_file()), None)
