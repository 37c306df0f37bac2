"""The rows of the table, in their order."""

from __future__ import annotations

from itertools import chain
from typing import Final

from benchmarks.acceptance.row import Row, number
from benchmarks.acceptance.rows import (
    asvs,
    broken_defences,
    elsewhere,
    faults,
    hostile_sql,
    inputs,
    killed,
    load,
    memory,
    model,
    pooled,
    powercut,
    races,
    restarts,
    same_host,
    secrets_shown,
    slow_clients,
    speed,
    ssrf,
    template_escapes,
)

_ALL: Final = (
    asvs, broken_defences, elsewhere, faults, hostile_sql, inputs, killed, load, memory, model, pooled, powercut, races,
    restarts, same_host, secrets_shown, slow_clients, speed, ssrf, template_escapes,
)  # fmt: skip


ROWS: Final[tuple[Row, ...]] = tuple(sorted(chain(*(each.ROWS for each in _ALL)), key=lambda row: number(row.id)))
