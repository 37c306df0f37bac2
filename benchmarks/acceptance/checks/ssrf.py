"""S13: what a server can be tricked into asking: every trick on the docs site's relay, each of its defences removed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Final

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import ROOT

_SECONDS: Final = 60


def tricks(effort: Effort) -> Measured:
    """Connections to listeners that nobody allowed. The whole internet is one of them: nothing leaves the machine."""
    command = [sys.executable, "-m", "tests.relay.figures"]
    printed = subprocess.run(command, cwd=ROOT / "site", stdout=subprocess.PIPE, timeout=_SECONDS, check=True).stdout
    found: dict[str, int] = json.loads(printed)
    tried, reached, removed, noticed = (found[name] for name in ("tried", "reached", "removed", "noticed"))
    figure = f"{reached} connections in {tried} tricks; {noticed} of {removed} removed defences reached a listener"
    return Measured(
        figure, not reached and noticed == removed, {"tried": tried, "reached": reached, "removed": removed}
    )


CHECKS = (Check("S13", "SSRF tricks: connections that nobody allowed", "0 in ≥ 60; controls found", tricks, (60, 60)),)
