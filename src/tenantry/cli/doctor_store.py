from __future__ import annotations

import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tenantry.errors import InvalidKeys, MigrationNeeded, TenantryError
from tenantry.groups import ChainHead

if TYPE_CHECKING:
    from tenantry.backends.sql import SQLStore, StoreDefects
    from tenantry.tokens.keys import SigningKeys


class CheckState(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not checked: the thing is not set up, or an earlier check failed."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    check: str
    state: CheckState
    found: str
    fix: str = ""
    """How to fix the problem. Empty if there is no problem, or if ``found`` says how."""

    @property
    def sentence(self) -> str:
        return f"{self.found}. {self.fix}" if self.fix else self.found


_STORE_FIX: Final = "Check --database (TENANTRY_DATABASE), and the server or the file that it names"
_NOT_THE_ADDRESS: Final = (
    "has reached",
    "no space left",
    "is read-only",
    "read-only file system",
    "refuses its role",
    "permission denied",
)
"""If a store's problem contains one of these, another address would not fix it."""


def check_keys(path: Path) -> CheckResult:
    from tenantry.tokens.keys import list_keys

    try:
        active = next(each.id for each in list_keys(path) if each.active)
    except InvalidKeys as error:
        return CheckResult("keys", CheckState.FAILED, error.message)
    return CheckResult("keys", CheckState.OK, f"the key {active} of {path} signs new tokens")


async def check_missing_file(path: Path, store: SQLStore) -> CheckResult | None:
    """Return a failed check if the key file is missing but the store has sealed audit entries, otherwise None. Raises
    StoreUnavailable."""
    if await store.audit.head() is None or not _is_missing(path):
        return None
    fix = f"{_KEYS_FIX}. With a new file, no token would be valid, and no data source password could be decrypted"
    return CheckResult("keys", CheckState.FAILED, f"there is no signing-key file {path}", fix)


def _is_missing(path: Path) -> bool:
    try:
        path.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


async def check_stored_keys(path: Path, store: SQLStore) -> CheckResult | None:
    """Return a failed check if the key file lacks a key that the store needs, otherwise None. Raises InvalidKeys,
    StoreUnavailable."""
    from tenantry.tokens.keys import SigningKeys

    ring = SigningKeys.from_file(path)
    counts = sorted((await store.environments.count_tokens()).items())
    missing = {key_id: count.live for key_id, count in counts if count.live and key_id not in ring.ids}
    if missing:
        each = ", ".join(f"{key_id} ({n:,} {'group' if n == 1 else 'groups'})" for key_id, n in missing.items())
        rotate = ", ".join(f"`tenantry group rotate --signed-by {key_id}`" for key_id in missing)
        found = f"{path} lacks keys that signed the tokens of user groups: {each}"
        fix = f"To give the groups new tokens: {rotate}"
        if not missing.keys() <= ring.audit_keys.keys():  # `keys remove` leaves a key's id in the file
            fix = f"{_KEYS_FIX}. {fix}"
        return CheckResult("keys", CheckState.FAILED, found, fix)
    problem = await _seal_problem(ring, store)
    if problem is None:
        return None
    fix = f"{_KEYS_FIX}. `tenantry audit verify` checks the whole audit trail"
    return CheckResult("keys", CheckState.FAILED, f"{path} {problem}", fix)


async def _seal_problem(ring: SigningKeys, store: SQLStore) -> str | None:
    """Return the problem if the key file lacks the key that made the newest seal of the audit trail, or has another
    secret for this key. Return None if there is no problem, or if the last 100 entries do not suffice to find it."""
    from tenantry.backends.audit import ChainCheck

    head = await store.audit.head()
    if head is None:
        return None
    listed = await store.audit.list(after=max(0, head.number - _LAST_ENTRIES), limit=_LAST_ENTRIES)
    entries, start = [each for each in listed if each.number <= head.number], None
    seals = [(each.number, each.seal) for each in entries if each.seal is not None]
    if not seals or (len(seals) == 1 and entries[0].number > 1):
        return None
    if len(seals) > 1:
        before, seal = seals[-2]
        start = ChainHead(before, seal.mac)
        entries = [each for each in entries if each.number > before]
    newest, key_id = seals[-1][0], seals[-1][1].key_id
    if key_id not in ring.audit_keys:
        return f"lacks the key {key_id}, which sealed entry {newest} of the audit trail"
    check = ChainCheck(ring.audit_keys, head=start)
    for entry in entries:
        check.add(entry)
    if check.fault is None:
        return None
    return f"has another key {key_id} than the one that sealed entry {newest} of the audit trail"


_KEYS_FIX: Final = "Name the key file of this store with --keys (TENANTRY_KEYS), or restore it from a backup"

_LAST_ENTRIES: Final = 100


async def check_store(store: SQLStore) -> list[CheckResult]:
    """Return the results for the store, its migrations, the run folder and, if the store can be read, the audit
    trail."""
    problem = await _problem(store.ready())
    if isinstance(problem, MigrationNeeded):
        return [
            CheckResult("store", CheckState.SKIPPED, f"the {store.label} has no tables of this version"),
            CheckResult("migrations", CheckState.FAILED, problem.message),
            CheckResult("run folder", CheckState.SKIPPED, "the store cannot be used"),
        ]
    if problem is not None and await _problem(store.environments.list()) is not None:
        return [
            _of_store(problem),
            CheckResult("migrations", CheckState.SKIPPED, "the store cannot be read"),
            CheckResult("run folder", CheckState.SKIPPED, "the store cannot be read"),
        ]
    of_folder = problem and await _problem(store.changes(sys.maxsize))  # opens the run folder, and writes nothing
    if problem is None:
        usable = CheckResult("store", CheckState.OK, f"the {store.label} can be read and written")
    elif of_folder is not None:
        usable = CheckResult("store", CheckState.OK, f"the {store.label} can be read; writes need the run folder")
    else:
        usable = _of_store(problem)
    migrations = CheckResult("migrations", CheckState.OK, "this version can use the tables")
    if of_folder is not None:
        return [usable, migrations, CheckResult("run folder", CheckState.FAILED, of_folder.message)]
    where = "the run folder" if store.slots is None else str(store.slots.path.parent)
    run_folder = CheckResult("run folder", CheckState.OK, f"this user can write to {where}")
    try:
        defects = await store.defects()
    except TenantryError:
        return [usable, migrations, run_folder]
    if defects.grants and problem is None:
        found = f"the {store.label} can be read, but its role lacks rights to write it"
        fix = f"Run as the owner of the tables: {'; '.join(defects.grants)}"
        usable = CheckResult("store", CheckState.FAILED, found, fix)
    return [usable, migrations, run_folder, _of_trail(defects)]


def _of_store(problem: TenantryError) -> CheckResult:
    is_address = not any(each in problem.message for each in _NOT_THE_ADDRESS)
    return CheckResult("store", CheckState.FAILED, problem.message, _STORE_FIX if is_address else "")


def _of_trail(defects: StoreDefects) -> CheckResult:
    if not defects.triggers:
        return CheckResult("audit trail", CheckState.OK, "its entries cannot be changed or removed")
    found = f"its entries can be changed and removed, because triggers are missing: {', '.join(defects.triggers)}"
    fix = "Create them again with the statements in the documentation of the audit trail (operating.md)"
    return CheckResult("audit trail", CheckState.WARNING, found, fix)


async def _problem(call: Awaitable[object]) -> TenantryError | None:
    try:
        await call
    except TenantryError as error:
        return error
    return None
