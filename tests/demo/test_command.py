"""``tenantry demo`` as a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx2


def test_behind_tls_the_cookie_is_for_tls_only(tmp_path: Path) -> None:
    """A proxy on this machine says how the client came. Red when the demo is run without ``proxied``."""
    command = [sys.executable, "-m", "tenantry", "demo", "--port", "0", "--folder", str(tmp_path / "demo")]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = next((line for line in process.stderr if "USER_GROUP_TOKEN=" in line), "")
        (address,) = re.findall(r"http://\S+", said)
        cookies = [
            httpx2.get(address, headers=headers).headers["set-cookie"]
            for headers in ({}, {"X-Forwarded-Proto": "http"}, {"X-Forwarded-Proto": "https"})
        ]
    finally:
        process.terminate()
        process.communicate(timeout=20)
    assert ["Secure" in cookie for cookie in cookies] == [False, False, True]
