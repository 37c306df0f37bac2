"""S24: the leak kit on the demo. Every template for every group of canaries, twice, and every route of its app."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.acceptance.attacks.leak_demo import PARAMS, leak_demo, templates
from benchmarks.acceptance.check import Check, Effort, Measured
from tenantry.sql import SQLTemplate
from tenantry.testing import LeakFound

_GROUPS: Final = 412
_SECONDS: Final = 60.0
_SHOWN: Final = 3  # crossings that are printed


def measure(effort: Effort) -> Measured:
    """Crossings between 412 groups by 20 templates, and by the app; whether a query without its filter is found."""
    with tempfile.TemporaryDirectory(prefix="tenantry-leaks-") as folder:
        return asyncio.run(_measure(effort, Path(folder)))


async def _measure(effort: Effort, folder: Path) -> Measured:
    crossings: list[str] = []
    async with leak_demo(folder, _GROUPS) as demo:
        began = time.perf_counter()
        for name, template in templates().items():
            try:
                demo.leaks.check_template(template, name=name)
                await demo.leaks.check_rows(template, demo.sources, "flights", params=PARAMS, name=name)
            except LeakFound as found:
                crossings += map(str, found.crossings)
        seconds = time.perf_counter() - began
        effort.say(f"{len(templates())} templates: {seconds:.1f} s; now the app")
        try:
            await demo.check_app()
        except LeakFound as found:
            crossings += map(str, found.crossings)
        unfiltered = SQLTemplate("select * from flights where {{ carrier }} <> ''")
        try:
            await demo.leaks.check_rows(unfiltered, demo.sources, "flights")
            control = False
        except LeakFound:
            control = True
    for crossing in crossings[:_SHOWN]:
        effort.say(crossing)
    app_seconds = time.perf_counter() - began - seconds
    figure = (
        f"{len(crossings)} crossings of {_GROUPS} groups × {len(templates())} templates in {seconds:.1f} s "
        f"(the app {app_seconds:.1f} s more; control: {'found' if control else 'NOT FOUND'})"
    )
    numbers = {"crossings": len(crossings), "seconds": seconds, "app_seconds": app_seconds, "control": control}
    return Measured(figure, not crossings and control and seconds <= _SECONDS, numbers)


CHECKS = (
    Check(
        "S24",
        "Leak kit on the demo, 412 groups of canaries × 20 templates, two runs: crossings",
        "0 in ≤ 60 s; control found",
        measure,
        (300, 300),
    ),
)
