"""What the shell completes: click's scripts for bash, zsh and fish, loaded by the real shells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from engines import debian_packages
from tenantry.cli import commands, plugins
from tenantry.cli.plugins import GroupCommands

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"

BASH = """
complete_words() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _tenantry_completion tenantry; echo "${COMPREPLY[*]}"
}
complete -p tenantry > /dev/null
complete_words tenantry group up
complete_words tenantry data-source create --tr
complete_words tenantry dash
"""
# zsh completes in its line editor only: what would be listed there is printed.
ZSH = """
compadd() { :; }
_describe() { for each in ${(P)3}; do print -r -- ${each%%:*}; done }
[[ -n $_comps[tenantry] ]]
complete_words() { words=("$@"); CURRENT=$#; _tenantry_completion; }
complete_words tenantry group up
complete_words tenantry data-source create --tr
complete_words tenantry dash
"""
FISH = """
complete -C "tenantry group up" | string split -f 1 \\t
complete -C "tenantry data-source create --tr" | string split -f 1 \\t
complete -C "tenantry dash" | string split -f 1 \\t
"""


def line_of(shell: str) -> str:
    """What docs/command-line.md tells to put into the file of this shell."""
    found = re.search(rf"^\| {shell}[^|]* \| [^|]+ \| `(.+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1].replace("\\|", "|")  # as a table has it


def program(shell: str) -> tuple[list[str], dict[str, str], str]:
    """How to start the shell, with nobody's files; its environment; and what its user's files do before."""
    if shell == "bash":
        assert shutil.which("bash") is not None
        return ["bash", "--norc", "--noprofile", "-e"], dict(os.environ), ""
    root = debian_packages.require(shell)
    environment = debian_packages.environment(root)
    if shell == "fish":
        return [str(root / "usr/bin/fish"), "--no-config"], environment, ""
    (modules,) = root.glob("usr/lib/*/zsh/*")
    prepare = (
        f"module_path=({modules}); fpath=({root}/usr/share/zsh/functions/*(/)); autoload -Uz compinit; compinit -D -u"
    )
    return [str(root / "bin/zsh"), "-f", "-e"], environment, prepare


@pytest.mark.parametrize(("shell", "asks"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_the_line_of_the_page_makes_the_shell_complete(shell: str, asks: str, tmp_path: Path) -> None:
    """Commands, their options and their groups. Red when the page names another variable, and when a command cannot be
    loaded to be completed."""
    start, environment, prepare = program(shell)
    script = tmp_path / "script"
    script.write_text(f"{prepare}\n{line_of(shell)}\n{asks}", "utf-8")
    scripts = Path(sys.executable).parent
    environment |= {
        "PATH": f"{scripts}:{environment['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [*start, script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.split() == ["update", "--trusted", "dashboards"]


def test_a_command_that_is_not_installed_completes_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """``tenantry site`` without tenantry-site. Red when what is missing is raised: a traceback in the user's line."""
    monkeypatch.setattr(plugins, "entry_points_of", lambda _group: {})
    monkeypatch.setattr(plugins, "load_entry_point", lambda *_, **__: None)
    monkeypatch.setattr(commands, "commands", GroupCommands(commands.commands._own))
    complete = ShellComplete(commands, {}, "tenantry", "_TENANTRY_COMPLETE")
    assert "check" not in {each.value for each in complete.get_completions(["site"], "")}
    assert [each.value for each in complete.get_completions(["group"], "up")] == ["update"]


def test_a_completion_shows_no_secret(tmp_path: Path) -> None:
    """Options that have their value from the environment are completed by name. Red when a value is offered."""
    environment = {
        **os.environ,
        "_TENANTRY_COMPLETE": "zsh_complete",
        "COMP_WORDS": "tenantry data-source create warehouse --",
        "COMP_CWORD": "4",
        "TENANTRY_DATABASE": "postgresql://tenantry:letmein@db.example/tenantry",
    }
    tool = Path(sys.executable).with_name("tenantry")
    done = subprocess.run([tool], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "--database" in done.stdout
    assert "letmein" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []
