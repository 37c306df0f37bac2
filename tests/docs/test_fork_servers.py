"""A forked ``tenantry`` is like the console script: pages with several commands run it (reader.py)."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engines.fork_servers import ForkServer
from tests.docs.environments import Environments

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the server waits with a pidfd"),
]

REAL = Path(sys.executable).with_name("tenantry")

SAME = {
    "status 1": "tenantry keys new; tenantry keys new",
    "status 2": "tenantry group list --nope",
    "status 3": "tenantry group list --database postgresql://127.0.0.1:1/none",
    "store": "tenantry migrate; tenantry environment create e --tag Customer; "
    "echo sqlite:///w.db | tenantry data-source create w --url - --no-check | wc -w",
    "a file as stdout": "tenantry --version > out; tenantry --help >> out; cat out",
    "a terminal": """python3 -c 'import pty; pty.spawn(["tenantry", "group", "--help"])'""",
    "no reader": "set -o pipefail; tenantry --help | true",
    "variable, folder and umask": "mkdir sub; cd sub; umask 0200; "
    "TENANTRY_DATABASE=sqlite:///other.db tenantry migrate; ls -l other.db | cut -c1-10; ls ..",
    "completion": "_TENANTRY_COMPLETE=bash_source tenantry",
    "Python's variables": "PYTHONWARNINGS=nothing tenantry --version; PYTHONIOENCODING=latin-1 tenantry --version",
    "other words": "tenantry; tenantry nope; tenantry group 'é\u0301\n'; tenantry $'\\xff'",
}


def environ(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "TENANTRY_RUN_DIR": str(folder / "run")}


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    server = ForkServer(REAL, environ(tmp_path_factory.mktemp("forks")))
    yield server
    server.close()


def outcome(text: str, first: Path, folder: Path) -> tuple[str, str, int]:
    """What bash prints and how it ends, with ``first`` at the beginning of the PATH, in an empty folder."""
    folder.mkdir()
    variables = environ(folder)
    variables["PATH"] = f"{first}{os.pathsep}{variables['PATH']}"
    done = subprocess.run(
        ["bash", "-c", text], cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=300
    )
    out, err = (
        re.sub(r"ds_\w+|[\w.+:-]+Z\b", "…", each.decode(errors="replace")) for each in (done.stdout, done.stderr)
    )
    return out.replace(str(folder), "…"), err.replace(str(folder), "…"), done.returncode


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_a_forked_command_does_the_same(text: str, forks: ForkServer, tmp_path: Path) -> None:
    """Red without the folder, the umask, the variables, the streams, or the status."""
    assert outcome(text, forks.folder, tmp_path / "forked") == outcome(text, REAL.parent, tmp_path / "real")


def test_what_an_environment_lacks_is_missing(environments: Environments, tmp_path: Path) -> None:
    """Red when the server runs on the interpreter of the tests."""
    script = environments.python(["tenantry"]).with_name("tenantry")
    server = ForkServer(script, environ(tmp_path))
    text = "tenantry keys new; tenantry migrate; tenantry sql check ."
    forked = outcome(text, server.folder, tmp_path / "forked")
    server.close()
    assert "pip install 'tenantry[server]'" in forked[1]
    assert forked == outcome(text, script.parent, tmp_path / "real")


def test_only_what_sets_a_variable_of_python_is_the_real_command(tmp_path: Path) -> None:
    """Without the server the others fail. Red when the script always runs the real one: nothing would be tested."""
    server = ForkServer(REAL, environ(tmp_path))
    script = tmp_path / "tenantry"
    script.write_text((server.folder / "tenantry").read_text())
    script.chmod(0o755)
    server.close()
    assert outcome("PYTHONUTF8=1 tenantry --version", tmp_path, tmp_path / "variable")[2] == 0
    assert "FileNotFoundError" in outcome("tenantry --version", tmp_path, tmp_path / "server")[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_command(number: signal.Signals, forks: ForkServer, tmp_path: Path) -> None:
    """As it ends the real one, and no process is left. Red when the script does not pass it on, and for SIGKILL when
    the server does not watch the callers."""
    ended = [_ended_by(number, script, tmp_path) for script in (forks.folder / "tenantry", REAL)]
    assert ended[0] == ended[1]


def test_no_command_outlives_the_server(tmp_path: Path) -> None:
    """Red when the server ends alone."""
    server = ForkServer(REAL, environ(tmp_path))
    with _waiting(server.folder / "tenantry", tmp_path) as process:
        server.close()
        assert process.communicate(timeout=60)[0] == ""


def _ended_by(number: signal.Signals, script: Path, folder: Path) -> tuple[str, int]:
    with _waiting(script, folder) as process:
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)  # at the end of the file, so the command has ended too
        return out, process.returncode


@contextmanager
def _waiting(script: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that has connected to a database and waits for it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"postgresql://127.0.0.1:{server.getsockname()[1]}/none"
        process = subprocess.Popen(
            [script, "group", "list", "--database", url],
            cwd=folder,
            env=environ(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with server.accept()[0] as connection:
            # Its driver prints a traceback when a signal comes in the moment in which the connection becomes writable.
            assert connection.recv(1)
            yield process
