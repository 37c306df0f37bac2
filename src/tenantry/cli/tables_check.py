from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tenantry.cli.options import settings
from tenantry.cli.output import print_note
from tenantry.groups import RegisteredSource, UserGroup, thaw
from tenantry.ports import Store
from tenantry.sql.checks import Located

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables


async def declaration_of(group: UserGroup, store: Store) -> GuardedTables | None:
    """Return the guarded tables that the data sources in the group's mapping declare, and print the names of these data
    sources. If their declarations differ, print how to choose one and return None."""
    references = dict.fromkeys((thaw(group.mapping) or {}).values())
    found = [await store.sources.get(group.environment, each) for each in references if isinstance(each, str)]
    sources = [each for each in found if each is not None]
    texts = {each.tables for each in sources}
    names = ", ".join(each.provided_id for each in sources)
    if len(texts) > 1:
        print_note(
            f"no table is guarded here, because the data sources {names} declare different tables: give --tables FILE"
        )
        return None
    text = "".join(texts)
    if not text:
        return None
    print_note(f"guarded by the tables that data source {names} declares")
    from tenantry.sql.guarding import read_stored_tables  # slow to import

    return read_stored_tables(text)


async def check_declarations(sources: Iterable[RegisteredSource]) -> list[Located]:
    """Return a finding for each declaration of guarded tables that does not match its database. Print a note for each
    database that does not answer."""
    from tenantry.datasources import check_connections
    from tenantry.datasources.checks import wrong_tables

    found: list[Located] = []
    declared = [each for each in sources if each.tables]
    errors = await check_connections(declared, keys=settings().keys) if declared else []
    for source, error in zip(declared, errors, strict=True):
        finding = wrong_tables(error)
        if finding is not None:
            found.append((f"data source {source.provided_id}", finding))
        elif error is not None:
            print_note(f"the guarded tables of data source {source.provided_id} were not tested: {error.message}")
    return found
