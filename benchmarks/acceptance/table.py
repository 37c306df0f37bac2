"""The rows of the table, in their order."""

from __future__ import annotations

from itertools import chain
from typing import Final

from benchmarks.acceptance.check import Check, number
from benchmarks.acceptance.checks import (
    asvs,
    broken_defences,
    cross_host,
    faults,
    guarded_tables,
    hostile_sql,
    inputs,
    killed,
    leak_kit,
    load,
    memory,
    model,
    pass_ends,
    passes,
    pooled,
    powercut,
    races,
    restarts,
    same_host,
    secrets_shown,
    slow_clients,
    speed,
    ssrf,
    starvation,
    structure,
    template_escapes,
    unread,
)

_ALL: Final = (
    asvs, broken_defences, cross_host, faults, guarded_tables, hostile_sql, inputs, killed, leak_kit, load, memory,
    model, pass_ends, passes, pooled, powercut, races, restarts, same_host, secrets_shown, slow_clients, speed, ssrf,
    starvation, structure, template_escapes, unread,
)  # fmt: skip


CHECKS: Final[tuple[Check, ...]] = tuple(sorted(chain(*(each.CHECKS for each in _ALL)), key=lambda row: number(row.id)))
