"""Git in the editor: what changed since HEAD, and a commit message. Nothing that a repository configures runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tenantry.editor.files import git_head
from tests.editor.served import FILES, EditorSite, served_editor

QUERY = "queries/by_day.sql"


def _git(folder: Path, *arguments: str, given: str = "") -> str:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    options: dict[str, Any] = {"cwd": folder, "check": True, "capture_output": True, "env": os.environ | identity}
    done = subprocess.run(["git", *arguments], input=given, text=True, **options)
    return done.stdout.strip()


def _commit(folder: Path) -> None:
    if not (folder / ".git").exists():
        _git(folder, "init", "-q")
    _git(folder, "add", "queries", "dashboards", "tables.yaml")
    _git(folder, "commit", "-q", "-m", "all")


async def _statuses(site: EditorSite) -> dict[str, str | None]:
    return {each["path"]: each["status"] for each in (await site.ask("files"))["files"]}


async def _message(site: EditorSite) -> str | None:
    found: str | None = (await site.ask("commit-message"))["message"]
    return found


async def test_without_git_there_is_no_status(tmp_path: Path) -> None:
    """Red when a folder outside a repository is an error, or its files are new."""
    async with served_editor(tmp_path) as site:
        assert (await site.ask("files"))["git"] is False
        assert set((await _statuses(site)).values()) == {None}
        assert await _message(site) is None
        assert await site.ask("file/head", path=QUERY) == {"text": None}


async def test_a_machine_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a missing program is an error."""
    async with served_editor(tmp_path) as site:
        _commit(tmp_path)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert (await site.ask("files"))["git"] is False


async def test_a_git_that_does_not_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the command has no time limit."""
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(git_head, "SECONDS", 0.2)
    async with served_editor(tmp_path / "app") as site:
        assert (await site.ask("files"))["git"] is False


async def test_a_tree_with_millions_of_paths_is_not_read(tmp_path: Path) -> None:
    """Each tree names the next one twice. Red without the limit of the output: the server read all paths."""
    async with served_editor(tmp_path) as site:
        _commit(tmp_path)
        tree = _git(tmp_path, "rev-parse", "HEAD^{tree}")
        for _ in range(15):
            tree = _git(tmp_path, "mktree", given="".join(f"040000 tree {tree}\t{name}\n" for name in "ab"))
        tree = _git(tmp_path, "mktree", given=f"040000 tree {tree}\tqueries\n")
        _git(tmp_path, "reset", "-q", "--soft", _git(tmp_path, "commit-tree", "-m", "x", tree))
        assert (await site.ask("files"))["git"] is False


async def test_files_are_compared_with_head(tmp_path: Path) -> None:
    """Red when the status compares times or the index, or the root of the repository is taken as that of the paths."""
    async with served_editor(tmp_path / "in/a/repository") as site:
        folder = site.folder
        _git(tmp_path, "init", "-q")
        assert set((await _statuses(site)).values()) == {"new"}
        _git(tmp_path, "add", ".")
        _git(tmp_path, "commit", "-q", "-m", "all")
        assert set((await _statuses(site)).values()) == {"same"}
        assert await _message(site) == ""
        (folder / QUERY).write_text("select 2\n")
        (folder / "queries/ü new.sql").write_text("select 1\n")
        (folder / "tables.yaml").unlink()
        _git(tmp_path, "add", ".")
        assert await _statuses(site) == {
            "dashboards/flights.yaml": "same",
            QUERY: "changed",
            "queries/ü new.sql": "new",
        }
        assert await site.ask("file/head", path=QUERY) == {"text": FILES[QUERY]}
        assert await site.ask("file/head", path="tables.yaml") == {"text": FILES["tables.yaml"]}
        assert await site.ask("file/head", path="queries/ü new.sql") == {"text": None}
        assert await _message(site) == "Add queries/ü new.sql, change queries/by_day.sql, remove tables.yaml"


async def test_other_line_breaks_are_no_change(tmp_path: Path) -> None:
    """Git may store \\n for a file with CRLF (core.autocrlf). Red when only the bytes are compared."""
    async with served_editor(tmp_path) as site:
        _commit(tmp_path)
        (tmp_path / QUERY).write_bytes(FILES[QUERY].replace("\n", "\r\n").encode())
        assert (await _statuses(site))[QUERY] == "same"


async def test_a_long_message_counts_and_lists_the_files(tmp_path: Path) -> None:
    """Red when the first line names all files."""
    async with served_editor(tmp_path) as site:
        _commit(tmp_path)
        for number in range(20):
            (tmp_path / f"queries/query_{number:02}.sql").write_text("select 1\n")
        (tmp_path / "dashboards/flights.yaml").write_text("title: Other\nrows: []\n")
        message = await _message(site)
        assert message is not None
        first, empty, *lines = message.splitlines()
        assert (first, empty) == ("Change 21 files", "")
        assert lines[0] == "- add queries/query_00.sql"
        assert lines[-1] == "- change dashboards/flights.yaml"
        assert len(lines) == 21


async def test_nothing_of_the_repository_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the status comes from `git status` or `git diff`, which run the monitor, the filters and the external
    diff of the repository's configuration."""
    async with served_editor(tmp_path) as site:
        _commit(tmp_path)
        mark = tmp_path / "executed"
        program = tmp_path / "program.sh"
        program.write_text(f"#!/bin/sh\necho $0 $@ >> {mark}\ncat\n")
        program.chmod(0o755)
        settings = ["core.fsmonitor", "diff.external", "filter.x.clean", "filter.x.smudge", "filter.x.process"]
        settings += ["diff.x.textconv", "core.pager", "core.sshCommand", "pager.ls-tree", "pager.cat-file"]
        for setting in (*settings, "alias.ls-tree", "core.editor", "credential.helper"):
            _git(tmp_path, "config", setting, f"!{program}" if "alias" in setting else str(program))
        hooks = tmp_path / "hooks"
        hooks.mkdir()
        for hook in ("post-checkout", "fsmonitor-watchman", "post-index-change", "pre-commit", "reference-transaction"):
            (hooks / hook).write_text(program.read_text())
            (hooks / hook).chmod(0o755)
        _git(tmp_path, "config", "core.hooksPath", str(hooks))
        (tmp_path / ".gitattributes").write_text("* filter=x diff=x\n")
        (tmp_path / QUERY).write_text("select 2\n")
        monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))
        mark.unlink(missing_ok=True)
        assert (await _statuses(site))[QUERY] == "changed"
        assert await _message(site) == "Change queries/by_day.sql"
        assert await site.ask("file/head", path=QUERY) == {"text": FILES[QUERY]}
        assert not mark.exists(), mark.read_text()
        subprocess.run(["git", "status"], cwd=tmp_path, check=False, capture_output=True)
        assert mark.exists()  # the mark works


async def test_a_path_is_no_option_and_no_pattern(tmp_path: Path) -> None:
    """Red when content_at_head takes the first file that ls-tree lists for the path."""
    async with served_editor(tmp_path) as site:
        for name in ("--help", "*"):
            (tmp_path / f"queries/{name}.sql").write_text(f"select '{name}'\n")
        _commit(tmp_path)
        assert await site.ask("file/head", path="queries/*.sql") == {"text": "select '*'\n"}
        assert await site.ask("file/head", path="queries/--help.sql") == {"text": "select '--help'\n"}


FETCHES = {
    "ext": {"remote.origin.url": "ext::sh -c PROGRAM"},
    "uploadpack": {"remote.origin.url": "REPOSITORY", "remote.origin.uploadpack": "PROGRAM"},
    "ssh": {"remote.origin.url": "ssh://host/a.git", "core.sshCommand": "PROGRAM"},
    "proxy": {"remote.origin.url": "git://host/a.git", "core.gitProxy": "PROGRAM"},
    "helper": {"remote.origin.vcs": "ext", "remote.origin.url": "sh -c PROGRAM"},
}
"""For each way in which git fetches, the configuration of a repository that names a program for it."""


@pytest.mark.parametrize("way", FETCHES)
async def test_a_missing_object_is_not_fetched(way: str, tmp_path: Path) -> None:
    """A partial clone fetches an object when a command reads it, with the programs that its configuration names. The
    status needs only the names of objects. Red with ``protocol.allow=never``, which the repository's own
    ``protocol.ext.allow`` beats, and when ``ls-tree -l`` reads
    the objects for their sizes."""
    async with served_editor(tmp_path) as site:
        _commit(tmp_path)
        mark = tmp_path / "executed"
        program = tmp_path / "program.sh"
        program.write_text(f"#!/bin/sh\necho $0 $@ >> {mark}\n")
        program.chmod(0o755)
        missing = subprocess.check_output(["git", "rev-parse", f"HEAD:{QUERY}"], cwd=tmp_path, text=True).strip()
        (tmp_path / ".git/objects" / missing[:2] / missing[2:]).unlink()
        settings = {"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin"}
        settings |= {"remote.origin.promisor": "true", "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*"}
        settings |= {f"protocol.{each}.allow": "always" for each in ("ext", "file", "ssh", "git")}
        settings["protocol.allow"] = "always"
        for name, value in (settings | FETCHES[way]).items():
            _git(tmp_path, "config", name, value.replace("PROGRAM", str(program)).replace("REPOSITORY", str(tmp_path)))
        assert (await _statuses(site))[QUERY] == "same"
        (tmp_path / QUERY).write_text("select 2\n")
        assert (await _statuses(site))[QUERY] == "changed"
        assert await _message(site) == "Change queries/by_day.sql"
        assert await site.ask("file/head", path=QUERY) == {"text": None}
        assert not mark.exists(), mark.read_text()
        subprocess.run(["git", "cat-file", "blob", missing], cwd=tmp_path, check=False, capture_output=True)
        assert mark.exists()  # the mark works
