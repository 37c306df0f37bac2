"""Installs what the Makefile names, in the versions of a file of constraints, each file checked by its hashes.

``--constraint FILE``, then ``--editable FOLDER``, ``--target FOLDER`` and requirements. Any other words are uv's.
pip, which every virtual environment has, brings uv; the user's settings of pip count for both.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from ast import literal_eval
from importlib.metadata import distributions
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
UV = (sys.executable, "-m", "uv")
LOCK = Path(__file__).with_name("constraints.txt")
CHECKED = ("--no-deps", "--require-build-hashes", "--preview-features=build-dependency-hashes")
BUILT_AGAIN = ("--reinstall-package=tenantry", "--reinstall-package=tenantry-site")
"""uv's cache knows that they were built, and not that `make clean` has removed the bundles."""
VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "no-index": "UV_NO_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}
"""Setting of pip -> uv's variable."""
HIDDEN = re.compile(r"Resolved |Using | [-+~] | ?Downloaded |Downloading .*\((?!\d\d+\.\dMiB)")
"""What uv prints for each package, however small it is."""


def main(words: list[str]) -> int:
    prepare()
    if words[:1] != ["--constraint"]:
        return run(*words)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--constraint", type=Path)
    parser.add_argument("--editable", action="append", default=[])
    parser.add_argument("--target")
    parser.add_argument("requirements", nargs="*")
    given = parser.parse_args(words)
    lines = needed([*(f"-e {folder}" for folder in given.editable), *given.requirements], given.constraint)
    options = [*CHECKED, *BUILT_AGAIN, "--python", sys.executable, "--build-constraints", str(LOCK)]
    options += ["--target", given.target] if given.target else []
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines))
        file.flush()
        return run("pip", "install", *options, "--requirement", file.name)


def prepare() -> None:
    """Installs uv and sets its variables, but for those that the user has set."""
    (line,) = (line for pinned, line in locked(LOCK).items() if pinned.startswith("uv=="))
    if [f"uv=={each.version}" for each in distributions(name="uv")] != [line.split()[0]]:
        options = ["--quiet", "--no-deps", "--require-hashes", "--requirement", "/dev/stdin"]
        subprocess.run([*PIP, "install", *options], input=line, text=True, check=True)  # noqa: S603  # our own words
    for command, variables in (([*PIP, "config", "list"], of_pip), ([*UV, "cache", "dir"], of_cache)):
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603
        os.environ.update(variables(printed) | os.environ)


def locked(constraints: Path) -> dict[str, str]:
    """``name==version`` -> its line, with hashes."""
    lines = re.finditer(r"^(\S+==\S+).*(?:\\\n.*)*--hash=.*", constraints.read_text("utf-8"), re.MULTILINE)
    return {found[1]: found[0] for found in lines}


def of_pip(printed: str) -> dict[str, str]:
    """uv's variables, by ``pip config list``; what counts more for pip comes later."""
    found = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # as pip: no registry comes first
    for section in ("global", "install", ":env:"):
        for key, value in re.findall(rf"^{section}\.(\S+)=(.*)", printed, re.MULTILINE):
            if key in VARIABLES:
                words = literal_eval(value).split()
                if key == "find-links":  # uv's separator; pip warns of a folder that is not there, and uv stops
                    words = [",".join(word for word in words if "://" in word or Path(word).exists())]
                found[VARIABLES[key]] = " ".join(words)
    return found


def of_cache(printed: str) -> dict[str, str]:
    """By ``uv cache dir``: nothing is linked from another file system, and a read-only cache is not used."""
    there = next(folder for folder in (Path(printed.strip()) / "x").parents if folder.exists())
    if not os.access(there, os.W_OK):
        return {"UV_CACHE_DIR": f"{sys.prefix}/cache"}
    return {} if there.stat().st_dev == Path(sys.prefix).stat().st_dev else {"UV_LINK_MODE": "copy"}


def needed(asked: list[str], constraints: Path) -> list[str]:
    """The line of each package that is needed: uv says which, and builds nothing for that but our own folders."""
    options = ["--no-build", "--no-header", "--no-annotate", "--python", sys.executable, "--constraints", constraints]
    command = [*UV, "pip", "compile", *options, "-"]
    done = subprocess.run(command, input="\n".join(asked), stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"If {constraints} has another version than is asked for, run `make lock`")
    lines, names = locked(constraints), done.stdout.splitlines()
    if missing := [name for name in names if name not in lines and not name.startswith("-e ")]:
        raise SystemExit(f"{', '.join(missing)}: no line with hashes in {constraints}: run `make lock`")
    return [lines.get(name, name) for name in names]


def run(*words: str) -> int:
    """Passes on what uv prints, but for the many lines."""
    with subprocess.Popen([*UV, *words], stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        for line in process.stderr or ():
            if HIDDEN.match(line) is None:
                sys.stderr.write(line)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
