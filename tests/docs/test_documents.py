"""Every code block of the README and of docs/ runs, in order, as its reader would run it."""

from __future__ import annotations

import ast
import builtins
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from engines.fork_servers import ForkServer
from scripts.distributions import DISTRIBUTIONS, ROOT
from tests.docs.blocks import Block, blocks
from tests.docs.environments import Environments
from tests.docs.names import bound, read
from tests.docs.reader import Reader, has_commands, requirements, runs

READMES = [folder / "README.md" for folder in DISTRIBUTIONS.values()]
DOCUMENTS = [*READMES, *sorted((ROOT / "docs").rglob("*.md"))]

Sit = Callable[..., Reader]


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Sit]:
    """``sit(python)``: a reader in an empty folder, with this interpreter."""
    readers = []

    def sat(python: Path, **options: Any) -> Reader:
        readers.append(Reader(tmp_path, python, **options))
        return readers[-1]

    yield sat
    for reader in readers:
        reader.close()


@pytest.fixture(scope="module")
def base(environments: Environments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer | None]:
    """A server of the environment that every page with ``tenantry`` has at least."""
    if sys.platform != "linux":
        yield None
        return
    environ = {"HOME": str(tmp_path_factory.mktemp("base")), "TENANTRY_RUN_DIR": os.environ["TENANTRY_RUN_DIR"]}
    server = ForkServer(environments.python(["tenantry"]).with_name("tenantry"), environ)
    yield server
    server.close()


@pytest.mark.parametrize("line", ["false", "! true", "false && true", "true && ! true", "true && ! true && true"])
def test_a_failure_in_a_chain_or_a_negation_is_seen(line: str, sit: Sit) -> None:
    """Red for all but the first without ``_strict``: several checks of the tutorial could not fail."""
    with pytest.raises(AssertionError):
        sit(Path(sys.executable)).follow(Block("bash", "", f"{line}\ntrue\n", 1), ROOT)


@pytest.mark.parametrize("code", ["1 / 0", "import warnings; warnings.warn('old')", "await nothing"])
def test_a_failure_in_the_session_is_seen(code: str, sit: Sit) -> None:
    """With its place in the document, and the session goes on."""
    reader = sit(Path(sys.executable))
    reader.follow(Block("python", "", "a = 1\n", 1), ROOT / "page.md")
    with pytest.raises(AssertionError, match=r'File "page.md", line 7'):
        reader.follow(Block("python", "", code, 7), ROOT / "page.md")
    reader.follow(Block("python", "", "assert a == 1\n", 9), ROOT / "page.md")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no session is forked elsewhere")
def test_a_forked_session_is_as_any_other(sit: Sit) -> None:
    """Red when it warns only, when it has our modules that the commands import, and when it is in another folder."""
    reader = sit(Path(sys.executable), forks=True)
    reader.follow(Block("bash", "", "tenantry migrate\nexport NAME=value\n", 1), ROOT / "page.md")
    code = (
        "import os, tenantry, warnings\nassert 'cli' not in vars(tenantry)\n"
        "assert os.path.exists('tenantry.db')\nassert os.environ['NAME'] == 'value'\n"
    )
    reader.follow(Block("python", "", code, 3), ROOT / "page.md")
    with pytest.raises(AssertionError, match=r'File "page.md", line 7'):
        reader.follow(Block("python", "", "warnings.warn('old')", 7), ROOT / "page.md")


@pytest.mark.slow
def test_an_environment_holds_nothing_else(environments: Environments, base: ForkServer | None, sit: Sit) -> None:
    """What the extras of the tests bring is not there. Red when a page runs on the interpreter of the tests, or on that
    of the server that its session is forked from."""
    python = environments.python(["tenantry[server]"])
    reader = sit(python, base=base)
    code = f"import sys, tenantry, uvicorn\nassert sys.executable == {str(python)!r}\n"
    reader.follow(Block("python", "", code, 1), ROOT / "page.md")
    # Several distributions have files in the folder opentelemetry, and one of them is required.
    for missing in ("httpx2", "duckdb", "pytest", "pip", "opentelemetry.sdk"):
        with pytest.raises(AssertionError, match=f"No module named '{missing}'"):
            reader.follow(Block("python", "", f"import {missing}\n", 1), ROOT / "page.md")


@pytest.mark.slow
def test_pip_finds_nothing_missing_in_an_environment(environments: Environments) -> None:
    """What all pages together tell to install, so every extra that one of them names. pip has no index here: it would
    fail for what it had to install. Red when ``_needed`` left out what the extras require."""
    extras: dict[str, set[str]] = {}
    for requirement in (Requirement(word) for document in DOCUMENTS for word in requirements(blocks(document))):
        extras.setdefault(requirement.name, set()).update(requirement.extras)
    wanted = [f"{name}[{','.join(sorted(extras[name]))}]" for name in sorted(extras)]
    options = ["--dry-run", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "--python", environments.python(wanted), "install", *options, *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout


RUNNING = [document for document in DOCUMENTS if any(map(runs, blocks(document)))]
"""The documents with a block that runs."""


def test_documents_without_a_block_that_runs() -> None:
    """They have no shell commands. Red when the reader skips such a block."""
    assert len(RUNNING) > 20
    shown = {document: [block.language for block in blocks(document)] for document in DOCUMENTS}
    assert [document for document in DOCUMENTS if document not in RUNNING and "bash" in shown[document]] == []


@pytest.mark.slow
@pytest.mark.parametrize("document", RUNNING, ids=lambda path: path.name)
def test_every_block_runs(document: Path, environments: Environments, base: ForkServer | None, sit: Sit) -> None:
    """Each block of the document does what it says, in order, from an empty folder and an environment that holds what
    the document told to install before its first block."""
    found = blocks(document)
    run = [block for block in found if runs(block)]
    wanted = requirements(found)
    assert wanted, "this page runs code and tells to install nothing"
    assert requirements(found[: found.index(run[0]) + 1]), "the first block stands before what it needs"
    if "curl " in document.read_text("utf-8") and shutil.which("curl") is None:
        pytest.skip("this document uses curl, which is not on this machine")
    python = environments.python(wanted)
    with_tenantry = python.with_name("tenantry").exists()  # and all that it requires
    reader = sit(python, forks=has_commands(found), base=base if with_tenantry else None)
    for block in found:
        reader.follow(block, document)


STAYS = re.compile(
    r"^(tenantry (serve|demo|edit|dashboards serve|site serve)|make demo|uvicorn|hypercorn|granian"
    r"|python -m http\.server|docker compose up(?!.* -d\b))\b",
    re.MULTILINE,
)
"""What goes on until it is stopped."""
ASKS = re.compile(r"\bcurl\b.*?(127\.0\.0\.1|localhost)", re.DOTALL)


def _prose(text: str) -> str:
    """What a reader reads, without code and what only the tests see."""
    return re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.DOTALL | re.MULTILINE)


def test_a_page_says_what_needs_a_terminal_of_its_own() -> None:
    """A newcomer types the next line where a server is running, and nothing comes. Each block that starts one says so
    just before or after it; a page that asks one with curl says so before. Red without the sentence, and on the README
    until it said it of the demo."""
    for document in DOCUMENTS:
        _check_terminals(document, document.read_text("utf-8"))


def _check_terminals(document: Path, text: str) -> None:
    for fence in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if fence[1] != "bash":
            continue
        before = text[: fence.start()].rstrip().rpartition("\n\n")[2]
        after = text[fence.end() :].lstrip().partition("\n\n")[0]
        if "server" in fence[2].split() or STAYS.search(fence[3]):
            assert "terminal" in before + after, (document.name, fence[0])
        if ASKS.search(fence[3]):
            assert "terminal" in _prose(text[: fence.start()]), (document.name, fence[0])


def test_no_block_needs_what_only_the_tests_see() -> None:
    """Hidden blocks check, and set nothing up: a newcomer does not see them. Red on the README, whose hidden block made
    the warehouse that the tour asks, and on ten pages of docs/, whose hidden blocks made keys, groups and names."""
    for document in DOCUMENTS:
        _check_hidden_blocks(document)


def _check_hidden_blocks(document: Path) -> None:
    seen = set(dir(builtins))
    for block in blocks(document):
        if block.language == "python" and block.hidden:
            assert re.search(r"\b(assert|raise|aclose)\b", block.text), (
                f"{document.name}:{block.line}: a hidden block that checks and closes nothing"
            )
        if block.language == "bash" and block.hidden:
            assert re.search(r"^(export|tenantry) ", block.text, re.MULTILINE) is None, (
                f"{document.name}:{block.line}: a hidden block sets up"
            )
        if block.language == "python" and not block.hidden and runs(block):
            tree = ast.parse(block.text)
            seen |= bound(tree)
            assert read(tree) <= seen, f"{document.name}:{block.line}: no visible block made {read(tree) - seen}"
