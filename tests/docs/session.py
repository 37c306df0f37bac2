"""A Python session that another process types into: run by the interpreter of any environment, so stdlib only.

It is called with two file descriptors. From the first it reads a JSON object a line: ``code`` to run, with the ``file``
and ``line`` where it stands and the variables of the ``environ``; to the second it writes one: ``error``, a traceback
or null. ``await`` may stand at the top, all in one event loop.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import sys
import traceback
import types
import warnings


def main(commands: int, answers: int) -> None:
    warnings.simplefilter("error")
    _wait_longer()
    module = types.ModuleType("document")
    sys.modules["document"] = module
    with os.fdopen(commands) as lines, os.fdopen(answers, "w", buffering=1) as told, asyncio.Runner() as runner:
        for line in lines:
            try:
                _run(json.loads(line), module, runner)
            except Exception:  # noqa: BLE001  # it is told to who typed it
                error = traceback.format_exc()
            else:
                error = None
            told.write(json.dumps({"error": error}) + "\n")


def _wait_longer() -> None:
    """A resolver waits for a minute, and its lease lasts as long, where the page does not say how long: a busy machine
    must not fail a page."""
    try:
        from tenantry import Resolver
    except ImportError:  # a page about something else
        return
    Resolver.__init__.__kwdefaults__ |= {"patience": 60.0, "staleness": 60.0}


def _run(command: dict[str, object], module: types.ModuleType, runner: asyncio.Runner) -> None:
    os.environ.update(command["environ"])
    text = "\n" * (command["line"] - 1) + command["code"]
    code = compile(text, command["file"], "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, module.__dict__)
    if inspect.iscoroutine(result):
        runner.run(_finish(result))


async def _finish(coroutine: types.CoroutineType[object, object, object]) -> None:
    await coroutine


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
