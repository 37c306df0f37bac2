from __future__ import annotations

from contextlib import suppress

from tenantry.cli.options import sealing_keys, settings
from tenantry.cli.output import print_note
from tenantry.errors import TenantryError
from tenantry.ports import Store


async def note_unsealed(store: Store, keys: str | None = None) -> None:
    """Warn if the command's audit entries have no seal while others have one, for commands that work without the key
    file."""
    if sealing_keys(settings(keys=keys)) is not None:
        return
    with suppress(TenantryError):  # the command itself has succeeded
        if await store.audit.head() is not None:
            print_note("no key file: this command's audit entries are not sealed; set TENANTRY_KEYS")
