"""The workflow of a release. It cannot run here: its form is checked, and the commands that need no forge are run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from jsonschema_rs import validator_for

from scripts.distributions import DISTRIBUTIONS, project
from scripts.release_check import missing

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
BIN = Path(sys.executable).parent
VENDORED = "vendor/github-workflows.json"


def test_it_is_a_workflow() -> None:
    """By the schema that check-jsonschema brings; its command takes two seconds for the same. Red with a job that has
    no ``runs-on``."""
    spec = find_spec("check_jsonschema")
    assert spec is not None
    assert spec.origin is not None
    schema = json.loads(Path(spec.origin).with_name("builtin_schemas").joinpath(VENDORED).read_text("utf-8"))
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    workflow["on"] = workflow.pop(True)  # the word means true in YAML 1.1
    assert [f"{each.instance_path}: {each.message}" for each in validator_for(schema).iter_errors(workflow)] == []


def test_it_is_a_careful_one() -> None:
    """By zizmor's rules, which ask no service here. Red with an action by a tag, and with credentials left in the
    checkout."""
    command = (str(BIN / "zizmor"), "--offline", "--no-config", "--pedantic", "--quiet", str(WORKFLOW))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def jobs() -> dict[str, Any]:
    made = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    assert isinstance(made, dict)
    return made


def test_actions_are_pinned_and_few() -> None:
    """To a commit, with the version beside it, the same each time. Red with ``@v7``."""
    used = re.findall(r"^ +uses: (.*)$", WORKFLOW.read_text("utf-8"), re.MULTILINE)
    assert [line for line in used if re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) is None] == []
    assert len({line.partition("@")[0] for line in used}) == len({*used})


def test_nothing_is_published_untested() -> None:
    """The files that are attested and published are those that were built twice alike, after the tests. Nobody who
    builds or tests may publish, and no secret is stored. Red when ``attest`` does not wait for ``again``."""
    made = jobs()
    assert {*made["attest"]["needs"]} == {"test", "again"}
    assert (made["again"]["needs"], made["publish"]["needs"]) == ("build", "attest")
    may_sign = {name for name, job in made.items() if "id-token" in job["permissions"]}
    assert may_sign == {"attest", "publish"}
    assert [name for name in may_sign if any("run" in step for step in made[name]["steps"])] == []
    assert "secrets." not in WORKFLOW.read_text("utf-8")


def test_the_tests_find_what_they_need() -> None:
    """All of the history, of which tests/deploy/test_two_versions.py takes an earlier version, and the distribution
    whose packages are the engines (engines/debian_packages.py). Red with a checkout of one commit, and on Ubuntu."""
    job = jobs()["test"]
    (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
    assert checkout["with"]["fetch-depth"] == 0
    assert job["container"].startswith("debian:")
    installed = job["steps"][0]["run"].split()  # first, for without git a checkout is files alone
    assert {"git", "make", "npm", "python3-venv"} <= {*installed}
    assert "safe.directory" in job["steps"][-2]["run"]


def test_the_files_that_it_names_are_there() -> None:
    """Red when a script is renamed."""
    lines = "\n".join(step["run"] for job in jobs().values() for step in job["steps"] if "run" in step)
    named = re.findall(r"(?:scripts|\.ci)/[\w.]+", re.sub(r"-m (\w+)\.(\w+)", r"\1/\2.py", lines))
    assert len(named) == 4
    for name in named:
        assert (ROOT / name).is_file()
        if not name.endswith(".py"):
            subprocess.run(["bash", "-n", ROOT / name], check=True, timeout=60)


def test_a_release_is_refused_before_it_is_ready(tmp_path: Path) -> None:
    """Each reason is told. Red when one of them is not looked at."""
    for folder in DISTRIBUTIONS.values():
        target = tmp_path / folder.relative_to(ROOT)
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "pyproject.toml", target)
    (tmp_path / "changes").mkdir()
    change, changelog = tmp_path / "changes" / "x.added.md", tmp_path / "CHANGELOG.md"
    change.touch()
    changelog.write_text("# Changelog\n\n## 0.1.0 (unreleased)\n")
    assert [told.split()[0] for told in missing("v0.1.0", tmp_path)] == ["CHANGELOG.md", "changes/"]
    assert [told.split()[0] for told in missing("v0.2.0", tmp_path)][:-2] == [*DISTRIBUTIONS]
    change.unlink()
    changelog.write_text("# Changelog\n\n## 0.1.0 (2030-01-31)\n")
    assert [*missing("v0.1.0", tmp_path)] == []


def test_no_address_is_invented() -> None:
    """Neither of a person nor of a place: a copy may be anywhere. Red with ``[project.urls]`` or an e-mail address."""
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        assert re.findall(r"\S+@\S+|\w+://\S+", (ROOT / name).read_text("utf-8")) == []
    for folder in DISTRIBUTIONS.values():
        assert not {"urls", "authors", "maintainers"} & project(folder).keys()


def test_the_version_here_is_supported() -> None:
    """Red when a release forgets SECURITY.md."""
    version = project(ROOT)["version"]
    assert f"| {version.rpartition('.')[0]} | yes" in (ROOT / "SECURITY.md").read_text("utf-8")
