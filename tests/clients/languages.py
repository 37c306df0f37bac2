"""Programs that run other languages: this machine's own, or those of the distribution's packages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engines.debian_packages import environment, require


@dataclass(frozen=True)
class Runner:
    """``command`` starts a program whose files follow it; ``variables`` are its environment."""

    command: list[str]
    variables: dict[str, str] = field(default_factory=lambda: dict(os.environ))


def node() -> Runner:
    """There is no package of it here: the builds of the frontend need it anyway."""
    if shutil.which("node") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("this machine has no node")
    return Runner(["node"])


def php() -> Runner:
    return _runner("php", "php-cli", "usr/bin/php[0-9]*", lambda root: {})


def ruby() -> Runner:
    def libraries(root: Path) -> dict[str, str]:
        return {"RUBYLIB": ":".join(map(str, (*root.glob("usr/lib/ruby/3.*"), *root.glob("usr/lib/*/ruby/3.*"))))}

    return _runner("ruby", "ruby", "usr/bin/ruby[0-9]*", libraries, "--disable-gems")


def go(cache: Path) -> Runner:
    """About 80 MB to download and 470 MB unpacked."""
    found = _runner("go", "golang-go", "usr/lib/go-*/bin/go", lambda root: {}, "run")
    return Runner(found.command, {**found.variables, "GO111MODULE": "off", "CGO_ENABLED": "0", "GOCACHE": str(cache)})


def _runner(
    program: str, package: str, pattern: str, variables: Callable[[Path], dict[str, str]], *options: str
) -> Runner:
    if shutil.which(program):
        return Runner([program, *options])
    root = require(package)
    return Runner([str(next(root.glob(pattern))), *options], {**environment(root), **variables(root)})
