"""What ``tenantry serve`` writes on stderr."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engines.warm_python import run
from tests.cli.conftest import Terminal
from tests.cli.serving import client, serving


def test_json_lines_with_every_request_and_no_secret(ready: Terminal, folder: Path) -> None:
    """One object a line from the first, with the request id that the answer carried; no token wherever it was sent.

    Red when the path is written as it came, and when the announcement is prose.
    """
    secret = ready("api-token", "create").out.strip()
    with serving(folder, "--log-format", "json") as server:
        with client(server, secret) as caller:
            answer = caller.request("GET", "/api/user", json={"user_group_id": "acme", "properties": {"a": "canary"}})
            token = answer.json()["user_group"]["token"]
            caller.get(f"/{token}", params={"USER_GROUP_TOKEN": token})
            caller.put("/api/user", json={"user_group_id": token}, headers={"X-Request-Id": "r-1"})
        log = server.ended(signal.SIGTERM)
    lines = [json.loads(line) for line in log.splitlines()]
    assert server.url in lines[0]["message"]
    requests = {line["request_id"]: line for line in lines if line["logger"] == "tenantry.access"}
    assert len(requests) == 3
    found = requests[answer.headers["x-request-id"]]
    assert (found["method"], found["path"], found["status"]) == ("GET", "/api/user", 200)
    assert requests["r-1"]["status"] == 422  # a token is no id
    assert all(0 <= line["seconds"] < 60 for line in requests.values())
    for canary in (token, secret, token[8:30], secret[8:30], "canary"):
        assert canary not in log


def test_text_is_quiet(ready: Terminal, folder: Path) -> None:
    """The announcement, and nothing for each request."""
    secret = ready("api-token", "create").out.strip()
    with serving(folder) as server:
        with client(server, secret) as caller:
            caller.request("GET", "/api/user", json={"user_group_id": "acme"})
        assert len(server.ended(signal.SIGTERM).splitlines()) == 1


LOGGED = """
import logging.config, sys
from tenantry.server.telemetry import log_config
logging.config.dictConfig(log_config("text"))
logging.getLogger(sys.argv[1]).warning("received %s", sys.argv[2])
"""


@pytest.mark.parametrize("logger", ["uvicorn.error", "tenantry"])
def test_a_token_in_a_message_is_redacted_in_text_too(logger: str) -> None:
    """Red without the filter of the handlers."""
    secret = "ugkt_" + "Q" * 49
    done = run([sys.executable, "-c", LOGGED, logger, secret], stderr=subprocess.PIPE, text=True, check=True)
    assert "received ugkt_[redacted]" in done.stderr
    assert secret not in done.stderr


def test_a_broken_store_is_logged_with_its_request(ready: Terminal, folder: Path) -> None:
    """The log says which file, which other users do not see; in the format that was asked for."""
    secret = ready("api-token", "create").out.strip()
    with serving(folder, "--log-format", "json") as server:
        (folder / "tenantry.db").rename(folder / "away.db")
        with client(server, secret) as caller:
            answer = caller.request("GET", "/api/user", json={"user_group_id": "acme"}, headers={"X-Request-Id": "r-9"})
        log = server.ended(signal.SIGTERM)
    assert answer.status_code == 503
    assert "tenantry.db" not in answer.text
    warned = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert any(line["level"] == "warning" and line["request_id"] == "r-9" for line in warned)


def test_an_unknown_format_is_named(ready: Terminal) -> None:
    """As every wrong setting is."""
    assert "--log-format" in ready("serve", "--log-format", "xml", fails=2).err
