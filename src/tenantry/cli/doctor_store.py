from __future__ import annotations

import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tenantry.errors import InvalidKeys, MigrationNeeded, TenantryError

if TYPE_CHECKING:
    from tenantry.backends.sql import SQLStore


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
    """Empty if nothing is wrong, or if ``found`` says how to fix it."""

    @property
    def sentence(self) -> str:
        return f"{self.found}. {self.fix}" if self.fix else self.found


_STORE_FIX: Final = "Check --database (TENANTRY_DATABASE), and the server or the file that it names"


def check_keys(path: Path) -> CheckResult:
    from tenantry.tokens.keys import list_keys

    try:
        active = next(each.id for each in list_keys(path) if each.active)
    except InvalidKeys as error:
        return CheckResult("keys", CheckState.FAILED, error.message)
    return CheckResult("keys", CheckState.OK, f"the key {active} of {path} signs new tokens")


async def check_store(store: SQLStore) -> list[CheckResult]:
    """Return the results for the store, its migrations and the run folder, in this order."""
    problem = await _problem(store.ready())
    if isinstance(problem, MigrationNeeded):
        return [
            CheckResult("store", CheckState.SKIPPED, f"the {store.label} has no tables of this version"),
            CheckResult("migrations", CheckState.FAILED, problem.message),
            CheckResult("run folder", CheckState.SKIPPED, "the store cannot be used"),
        ]
    if problem is not None and await _problem(store.environments.list()) is not None:
        return [
            CheckResult("store", CheckState.FAILED, problem.message, _STORE_FIX),
            CheckResult("migrations", CheckState.SKIPPED, "the store cannot be read"),
            CheckResult("run folder", CheckState.SKIPPED, "the store cannot be read"),
        ]
    of_folder = problem and await _problem(store.changes(sys.maxsize))  # opens the run folder, and writes nothing
    if problem is None:
        usable = CheckResult("store", CheckState.OK, f"the {store.label} can be read and written")
    elif of_folder is not None:
        usable = CheckResult("store", CheckState.OK, f"the {store.label} can be read")
    else:
        usable = CheckResult("store", CheckState.FAILED, problem.message, _STORE_FIX)
    migrations = CheckResult("migrations", CheckState.OK, "this version can use the tables")
    if of_folder is not None:
        return [usable, migrations, CheckResult("run folder", CheckState.FAILED, of_folder.message)]
    where = "the run folder" if store.slots is None else str(store.slots.path.parent)
    return [usable, migrations, CheckResult("run folder", CheckState.OK, f"this user can write to {where}")]


async def _problem(call: Awaitable[object]) -> TenantryError | None:
    try:
        await call
    except TenantryError as error:
        return error
    return None
