"""``python -I benchmarks/micro/alone.py COMMAND…``: runs it and prints how long it took and what it used, as JSON.

In a process of its own, because a child's peak memory begins with that of the process that it was forked from.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main() -> None:
    """Runs the command and prints its figures as JSON."""
    start = time.perf_counter()
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    figures = {
        "exit": os.waitstatus_to_exitcode(status),
        "seconds": time.perf_counter() - start,
        "busy": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
