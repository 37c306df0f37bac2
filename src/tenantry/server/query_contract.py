"""The contract of the saved queries, as the settings describe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry.errors import InvalidSettings

if TYPE_CHECKING:
    from tenantry.server.settings import Settings
    from tenantry.sql.checks import QueryContract


def read_contract(chosen: Settings, *, refuses: bool | None = None) -> QueryContract | None:
    """The contract of these settings; None where it is off, unless ``refuses`` says what it is to do. Raises
    InvalidSettings, InvalidQueries, InvalidPropertySchema."""
    if chosen.query_contract == "off" and refuses is None:
        return None
    if chosen.queries is None:
        raise InvalidSettings("the contract of the saved queries needs their folder: name it with --queries")
    from tenantry.datasources import QueryFolder
    from tenantry.groups import read_schemas
    from tenantry.sql.checks import QueryContract

    try:
        queries, schemas = QueryFolder(chosen.queries), read_schemas(chosen.queries)
    except OSError as error:
        raise InvalidSettings(f"the folder of queries {chosen.queries} cannot be read: {error}") from None
    return QueryContract(queries, schemas, refuses=chosen.query_contract == "refuse" if refuses is None else refuses)
