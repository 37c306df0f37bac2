"""Forked processes behave as started ones (engines/warm_python.py)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engines import warm_python

STATE = """
import os, signal, sys, threading
print(__name__, sys.argv, sys.path[:2], os.getcwd(), os.environ["OF"], signal.getsignal(signal.SIGINT), os.getppid())
print(threading.enumerate()[1:], sys.stdin.read(), sorted(os.listdir("/proc/self/fd"))[:4], sys.stdout.line_buffering)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture(params=[warm_python.Popen, subprocess.Popen], ids=["forked", "started"])
def start(request: pytest.FixtureRequest) -> type[subprocess.Popen[str]]:
    """Red where one of the two differs."""
    found: type[subprocess.Popen[str]] = request.param
    return found


def test_a_process_has_its_own_state(start: type[subprocess.Popen[str]], tmp_path: Path) -> None:
    command = [sys.executable, "-c", STATE, "7", "b"]
    environ = {**os.environ, "OF": "this", "PYTHONPATH": "/first"}
    pipe = subprocess.PIPE
    with start(command, cwd=tmp_path, env=environ, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        printed, errors = process.communicate("given", timeout=120)
    assert (process.returncode, errors) == (7, "")
    first, second = printed.splitlines()
    assert first.startswith(f"__main__ ['-c', '7', 'b'] ['', '/first'] {tmp_path} this <built-in function default_int")
    assert first.endswith(f" {os.getpid()}")
    assert second == "[] given ['0', '1', '2', '3'] False"


def test_a_process_imports_our_code_itself(start: type[subprocess.Popen[str]], tmp_path: Path) -> None:
    """From where it is told. Red when the process that forks has imported ours, or a package that reads the environment
    when it is imported."""
    (tmp_path / "tenantry").mkdir()
    (tmp_path / "tenantry" / "__init__.py").touch()
    (tmp_path / "tenantry" / "__main__.py").write_text(
        "import sys; print({*sys.modules} & {'engines', 'prometheus_client'}, __spec__.name)"
    )
    command = [sys.executable, "-m", "tenantry"]
    for options in ({"cwd": tmp_path}, {"cwd": "/", "env": {**os.environ, "PYTHONPATH": str(tmp_path)}}):
        with start(command, stdout=subprocess.PIPE, text=True, **options) as process:  # type: ignore[arg-type]
            assert process.communicate(timeout=120)[0] == "set() tenantry.__main__\n"


def test_a_process_ends_by_a_signal_or_an_error(start: type[subprocess.Popen[str]]) -> None:
    command = [sys.executable, "-c", "print('begun', flush=True); import time; time.sleep(600)"]
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        with start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            process.send_signal(number)
            assert process.wait(120) == -number
    with start([sys.executable, "-c", "1 / 0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.communicate(timeout=120)[1].endswith("ZeroDivisionError: division by zero\n")
    assert process.returncode == 1


SUPERVISOR = """
import multiprocessing, os, signal, sys
import ours

def work(pipe, parent):
    is_new = ours.made_in == os.getpid() and os.getppid() == parent
    line = f"{is_new} {os.environ['LATE']} {pipe.recv()} {signal.getsignal(signal.SIGINT)}\\n"
    os.write(1, line.encode())  # in one piece: without a buffer, print could write between the words of another worker
    sys.exit(3)

if __name__ == "__main__":
    os.environ["LATE"] = "set"
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    workers = [context.Process(target=work, args=(there, os.getpid())) for _ in range(2)]
    for worker in workers:
        worker.start()
        here.send("sent")
    for worker in workers:
        worker.join()
        print(worker.exitcode, flush=True)
"""


def test_the_workers_of_a_process_import_our_code_themselves(
    start: type[subprocess.Popen[str]], tmp_path: Path
) -> None:
    """With what their parent has set, and as its children. Red when a worker is a copy of its parent."""
    (tmp_path / "ours.py").write_text("import os; made_in = os.getpid()")
    (tmp_path / "supervisor.py").write_text(SUPERVISOR)
    command = [sys.executable, "-m", "supervisor", "--workers", "2"]
    with start(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        printed, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    *said, first, second = sorted(printed.splitlines(), reverse=True)
    assert (first, second) == ("3", "3")
    assert said == 2 * [f"True set sent {signal.default_int_handler}"]


def test_an_orphan_is_not_adopted() -> None:
    """Red when this process stays the one that adopts: what a server leaves behind would be a zombie of the tests."""
    code = "import os, time\nif os.fork() == 0:\n    time.sleep(0.3)\n    os.execvp('sh', ['sh', '-c', 'echo $PPID'])"
    done = warm_python.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert int(done.stdout) != os.getpid()
