"""The commands of a deployment page, and the service that they start."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import httpx2

from engines.ports import free_port
from tests.deploy.machine import ROOT, Machine

SECONDS = 120
LEFT_OUT = ("-m venv", "pip install 'tenantry")
"""What the machine has already."""


def page(name: str) -> str:
    return (ROOT / "docs" / "deploy" / f"{name}.md").read_text("utf-8")


def commands(text: str, section: str = "") -> list[str]:
    """Each indented block under this heading, or above the first heading, without the files that the page shows."""
    parts = re.split(
        r"^## (.*)\n", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE
    )
    under = dict(zip(parts[1::2], parts[2::2], strict=True))[section] if section else parts[0]
    blocks = re.findall(r"(?:^    .*\n)+", under, flags=re.MULTILINE)
    return [
        "".join(line[4:] for line in each.splitlines(True) if not any(word in line for word in LEFT_OUT))
        for each in blocks
    ]


class Service:
    """The service of a page, on a port that is free. ``tenantry`` is what the page writes before a command."""

    def __init__(self, machine: Machine, tenantry: str, log: str) -> None:
        self.machine = machine
        self.port = free_port()
        self._tenantry = tenantry
        self._log = log
        self._secret = ""

    def set_up(self, script: str, **more: str) -> None:
        """Its last command prints an API token."""
        printed = self.machine.run(script, **more)  # type: ignore[arg-type]  # ``fails`` is never given
        (self._secret,) = re.findall(r"^[\w.-]{40,}$", printed, re.MULTILINE)
        self.wait()

    def wait(self) -> None:
        """Until it answers."""
        deadline = time.monotonic() + SECONDS
        while not self._is_ready():
            assert time.monotonic() < deadline, self.machine.run(f"cat {self._log}")
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        try:
            return httpx2.get(f"http://127.0.0.1:{self.port}/readyz", timeout=SECONDS).status_code == 200
        except httpx2.TransportError:
            return False

    def ask(self, method: str, path: str = "/api/user", **body: Any) -> httpx2.Response:
        url, headers = f"http://127.0.0.1:{self.port}{path}", {"Authorization": f"Token {self._secret}"}
        return httpx2.request(method, url, json=body, headers=headers, timeout=SECONDS)

    def token(self) -> str:
        """The token of acme, which is made if it is new."""
        answer = self.ask("GET", user_group_id="acme")
        assert answer.status_code == 200, answer.text
        return str(answer.json()["user_group"]["token"])

    def refuses(self, token: str) -> bool:
        """Whether nobody can rotate with it."""
        return self.ask("POST", "/api/user/rotate", current_token=token).status_code == 404

    def keys(self) -> list[tuple[str, int, int]]:
        """The id of each key, and how many groups and sources need it."""
        printed = self.machine.run(f"{self._tenantry} keys list --json")
        return [(each["id"], each["groups"], each["sources"]) for each in json.loads(printed)]
