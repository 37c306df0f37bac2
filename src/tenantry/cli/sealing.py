"""What a command without the key file says of the entries that it adds to the audit trail."""

from __future__ import annotations

from contextlib import suppress

from tenantry.cli.options import sealing_keys, settings
from tenantry.cli.output import print_note
from tenantry.errors import TenantryError
from tenantry.ports import Store


async def note_unsealed(store: Store, keys: str | None = None) -> None:
    """Says that what the command has added to the audit trail has no seal, where others have one. For commands that
    work without the key file."""
    if sealing_keys(settings(keys=keys)) is not None:
        return
    with suppress(TenantryError):  # the command itself has succeeded
        if await store.audit.head() is not None:
            print_note("no key file: what this command adds to the audit trail is not sealed; set TENANTRY_KEYS")
