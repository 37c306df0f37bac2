"""The other files of examples/deploy: what can be checked of them without Docker, systemd and Kubernetes.

What is not: no image was built, no container, unit or pod was started. docs/deploy/overview.md says so.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from engines.debian_packages import environment, require
from engines.ports import free_port
from engines.reverse_proxies import FILES
from tenantry.cache.slots.folder import run_folder
from tenantry.errors import StoreUnavailable
from tenantry.server.settings import Settings
from tenantry.server.uvicorn import DRAIN_SECONDS
from tenantry.tokens.keys import create_key_file
from tests.cli.serving import serving

ROOT = FILES.parents[1]
PAGES = ROOT / "docs" / "deploy"
VERSIONS = ("1.31", "1.37")
"""Of Kubernetes: the oldest and the newest that the manifests are checked against."""
MOST_EXPOSED = 2.0
"""Of 10, as ``systemd-analyze security`` counts; a unit without any of these lines has 9.6."""
PROBED = ("startupProbe", "livenessProbe", "readinessProbe")


@pytest.mark.parametrize(
    "file",
    [path for path in sorted(FILES.rglob("*")) if path.is_file()],
    ids=lambda path: path.relative_to(FILES).as_posix(),
)
def test_a_page_shows_each_file_as_it_is(file: Path) -> None:
    """Whole, in a block with its name. Red when a file is changed and its page is not."""
    name = file.relative_to(ROOT).as_posix()
    shown = "\n".join(page.read_text("utf-8") for page in PAGES.glob("*.md"))
    found = re.search(rf'^```\w+ title="{re.escape(name)}"\n(.*?)^```$', shown, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no page of docs/deploy shows {name}"
    assert found[1] == file.read_text("utf-8"), f"docs/deploy shows another {name}: python -m tests.deploy.shown"


def test_the_overview_says_of_each_file_what_is_tested() -> None:
    """Red for a file without a row in its table: HAProxy's was missing."""
    (_, table) = (PAGES / "overview.md").read_text("utf-8").split("## What is tested")
    rows = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(.*?)`", row)]
    names = [path.relative_to(FILES).as_posix() for path in FILES.rglob("*") if path.is_file()]
    assert [name for name in names if not any(fnmatch(name, row) for row in rows)] == []
    assert [row for row in rows if not any(fnmatch(name, row) for name in names)] == []


# --- Dockerfile


@cache
def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile, its lines joined."""
    text = re.sub(r"^#.*\n", "", (FILES / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.strip().partition(" ") for line in lines) if word]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    return found[max(at for at, (word, _) in enumerate(found) if word == "FROM") :]


def test_the_image_is_of_several_stages_and_its_user_is_not_root() -> None:
    """No compiler, no source and no pip cache come into the last stage; the user is a number, which Kubernetes needs to
    see that it is not root."""
    assert len([word for word, _ in instructions() if word == "FROM"]) == 2
    assert [rest for word, rest in last_stage() if word == "COPY"] == ["--from=environment /opt/tenantry /opt/tenantry"]
    assert ("USER", "10001:10001") in last_stage()
    words = [word for word, _ in last_stage()]
    assert words.index("RUN") < words.index("USER")
    assert ("ENTRYPOINT", '["tenantry"]') in last_stage()


def test_what_the_dockerfile_copies_is_there_and_is_sent_to_docker() -> None:
    """Red when a file that the wheel is built from is moved, or left out by the list beside the Dockerfile."""
    sent = [line[1:] for line in (FILES / "Dockerfile.dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"]
    assert [name for name in sent if not (ROOT / name).exists()] == []
    assert ("COPY", ". .") in instructions()
    for word in re.findall(r"requirements/[\w.]+", (FILES / "Dockerfile").read_text("utf-8")):
        assert (ROOT / word).exists()
        assert "requirements" in sent
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for needed in (
        *project["build-system"]["backend-path"],
        "hatch_build.py",
        project["project"]["readme"],
        *project["project"]["license-files"],
    ):
        assert any(fnmatch(needed, name) for name in sent), f"{needed} is not sent to docker"


def test_the_commands_of_the_dockerfile() -> None:
    """A shell reads them, and the extras are those of the package. That a wheel is built and installed in a fresh
    environment is a test of tests/packaging."""
    for rest in (rest for word, rest in instructions() if word == "RUN"):
        done = subprocess.run(["sh", "-n"], input=rest, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{rest}\n{done.stderr}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = [found[1] for _, rest in instructions() if (found := re.search(r"'\.\[([\w,]+)\]'", rest))]
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_the_variables_of_the_image_are_settings() -> None:
    """Red when one is renamed, or misspelt here: nothing reads it then."""
    (variables,) = [rest for word, rest in last_stage() if word == "ENV"]
    named = set(re.findall(r"\bTENANTRY_(\w+)=", variables))
    assert named
    assert named <= {name.upper() for name in Settings.model_fields}


def test_the_health_check(tmp_path: Path) -> None:
    """The command of the image, and that of compose, against a server that runs and against none."""
    (health,) = [rest for word, rest in last_stage() if word == "HEALTHCHECK"]
    command = json.loads(health[health.index("[") :])
    compose = yaml.safe_load((FILES / "compose.yaml").read_text("utf-8"))
    ready = compose["services"]["tenantry"]["healthcheck"]["test"][1:]
    create_key_file(tmp_path / "tenantry.keys")
    with serving(tmp_path) as server:
        for each in (command, ready):
            assert _run(each, server.url.removeprefix("http://")) == 0
    for each in (command, ready):
        assert _run(each, f"127.0.0.1:{free_port()}") == 1


def _run(command: list[str], address: str) -> int:
    words = [word.replace("127.0.0.1:8000", address) for word in command]
    assert words[0] == "python"
    return subprocess.run([sys.executable, *words[1:]], capture_output=True, check=False).returncode


# --- compose.yaml


def test_the_compose_file_gives_nothing_away() -> None:
    """compose-lint finds nothing of high severity: no root, no capability, no writable root file system, no port for
    the world. What it says of less (a digest for each image) is for you to choose; the page says so."""
    done = subprocess.run(
        [sys.executable, "-m", "compose_lint", "check", "--fail-on", "high", str(FILES / "compose.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_secret_of_the_compose_file_is_given_to_who_reads_it() -> None:
    """A file of mode 0600 in a bind mount keeps its owner: 10001 for what Tenantry reads, and 999, the user postgres of
    the image, for the password. Red when the page leaves one with whoever made it: that container does not start."""
    compose = yaml.safe_load((FILES / "compose.yaml").read_text("utf-8"))
    page = (PAGES / "docker.md").read_text("utf-8")
    for service, user, more in (("tenantry", 10001, {"secrets/keys"}), ("postgres", 999, set())):
        (given,) = re.findall(rf"^    sudo chown {user}:{user} (.*)$", page, re.MULTILINE)
        assert set(given.split()) == {f"secrets/{name}" for name in compose["services"][service]["secrets"]} | more


def test_the_services_of_the_compose_file() -> None:
    """Named things are there; variables are settings; who stops has the time for it."""
    compose = yaml.safe_load((FILES / "compose.yaml").read_text("utf-8"))
    assert set(compose["services"]) == {"postgres", "valkey", "migrate", "tenantry", "command"}
    for service in compose["services"].values():
        assert set(service.get("secrets", ())) <= set(compose["secrets"])
        for mount in service.get("volumes", ()):
            assert mount.partition(":")[0] in (*compose["volumes"], "./secrets/keys")
        assert set(service.get("depends_on", ())) <= set(compose["services"])
        names = {
            name.removeprefix("TENANTRY_").lower() for name in service.get("environment", ()) if "TENANTRY" in name
        }
        assert names <= set(Settings.model_fields)
    served = compose["services"]["tenantry"]
    grace = int(served["stop_grace_period"].removesuffix("s"))
    assert grace >= int(served["environment"]["TENANTRY_DRAIN_SECONDS"]) + DRAIN_SECONDS + 5
    file = compose["services"]["migrate"]["build"]
    assert (FILES / file["context"] / file["dockerfile"]).resolve() == FILES / "Dockerfile"


# --- systemd


def _systemd(*words: str) -> subprocess.CompletedProcess[str]:
    root = require("systemd")
    variables = environment(root)
    variables["LD_LIBRARY_PATH"] += "".join(f":{each}" for each in root.glob("**/lib/**/systemd") if each.is_dir())
    command = [root / "usr/bin/systemd-analyze", *words]
    return subprocess.run(command, capture_output=True, text=True, env=variables, check=False)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that is on this machine."""
    text = (FILES / "tenantry.service").read_text("utf-8")
    assert "/opt/tenantry/bin/tenantry" in text
    file = tmp_path / "tenantry.service"
    file.write_text(text.replace("/opt/tenantry/bin/tenantry", "/bin/true"), "utf-8")
    return file


def test_systemd_understands_the_unit(unit: Path) -> None:
    """Not a word. Red for a misspelt key, which systemd passes over: it is said on stderr, and the status is 0."""
    done = _systemd("verify", str(unit))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_with_apps_of_other_users(unit: Path) -> None:
    """What the page adds to it: systemd understands it, and the group may be given files. Red without @chown, which
    @privileged takes away: the service would be killed (SIGSYS) when it makes a file of the run folder."""
    page = (PAGES / "systemd.md").read_text("utf-8")
    found = re.search(r'^```ini title="[\w./]+/group.conf"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    assert found is not None
    unit.write_text(unit.read_text("utf-8") + found[1], "utf-8")
    done = _systemd("verify", str(unit))
    assert (done.returncode, done.stderr) == (0, "")
    done = _systemd("security", "--offline=true", "--json=short", str(unit))
    (privileged,) = [each for each in json.loads(done.stdout) if each["json_field"] == "SystemCallFilter_privileged"]
    assert "e.g. chown is allowed" in privileged["description"]


def test_the_unit_is_locked_down(unit: Path) -> None:
    """As systemd counts what the service could still do. Red without CapabilityBoundingSet, SystemCallFilter or
    RestrictNamespaces; each of the others weighs too little for this, so two are named below."""
    done = _systemd("security", "--offline=true", f"--threshold={MOST_EXPOSED * 10:.0f}", str(unit))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Overall exposure level" in done.stdout


def test_the_unit_and_its_settings() -> None:
    """The folders are those of the file; there is time to drain; SIGHUP reaches a supervisor."""
    unit = (FILES / "tenantry.service").read_text("utf-8")
    given = tomllib.loads((FILES / "tenantry.toml").read_text("utf-8"))
    settings = Settings(**given)
    assert given["run_dir"] == f"/run/{_value(unit, 'RuntimeDirectory')}"
    assert int(_value(unit, "TimeoutStopSec")) >= settings.drain_seconds + DRAIN_SECONDS + 5
    assert settings.workers >= 2
    assert "HUP" in _value(unit, "ExecReload")
    assert (_value(unit, "User"), _value(unit, "ProtectSystem")) == ("tenantry", "strict")


def _value(unit: str, key: str) -> str:
    (found,) = re.findall(rf"^{key}=(.*)$", unit, re.MULTILINE)
    return str(found)


# --- Kubernetes


def manifests() -> list[dict[str, Any]]:
    found = []
    for file in sorted((FILES / "kubernetes").glob("*.yaml")):
        found += list(yaml.safe_load_all(file.read_text("utf-8")))
    return found


def pods() -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in manifests() if "template" in each["spec"]]


def of_serve() -> dict[str, Any]:
    (found,) = [pod for pod in pods() if pod["containers"][0].get("args") == ["serve"]]
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_the_manifests_are_valid(version: str) -> None:
    """By the schemas of Kubernetes itself, an unknown field included. Red for a misspelt key."""
    import kubernetes_validate  # takes a second, and every process of the tests loads this file

    assert len(manifests()) == 5
    for each in manifests():
        assert kubernetes_validate.validate(each, version, strict=True) == version


def test_every_pod_passes_the_restricted_standard() -> None:
    """Of the pod security standards: what a namespace with ``enforce: restricted`` lets in."""
    assert len(pods()) == 3
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not pod["automountServiceAccountToken"]
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_the_pods_of_serve() -> None:
    """Liveness does not ask the store; readiness does; the pod is let go only after it has drained; variables are
    settings; nothing is mounted that is not there."""
    pod = of_serve()
    (container,) = pod["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert {name.removeprefix("TENANTRY_").lower() for name in variables} <= set(Settings.model_fields)
    paths = {name: container[name]["httpGet"]["path"] for name in PROBED}
    assert paths == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    ready = container["readinessProbe"]
    assert int(variables["TENANTRY_DRAIN_SECONDS"]) > ready["periodSeconds"] * ready["failureThreshold"]
    assert pod["terminationGracePeriodSeconds"] >= int(variables["TENANTRY_DRAIN_SECONDS"]) + DRAIN_SECONDS + 5
    for each in pods():
        for one in each["containers"]:
            mounted = {mount["name"] for mount in one.get("volumeMounts", ())}
            assert mounted == {volume["name"] for volume in each.get("volumes", ())}


def test_the_run_folder_of_a_pod_is_not_the_volume_itself(tmp_path: Path) -> None:
    """The kubelet makes an emptyDir root's and writable to everybody, and gives it to ``fsGroup``; one in memory has
    the sticky bit, as every new tmpfs. So the run folder is a folder in it. Red with ``/run/tenantry``, the mount: no
    writer could rotate, update or delete."""
    for pod in pods():
        for one in pod["containers"]:
            folder = next((each["value"] for each in one["env"] if each["name"] == "TENANTRY_RUN_DIR"), None)
            if folder is None:
                continue
            above = PurePosixPath(folder).parent
            (name,) = [mount["name"] for mount in one["volumeMounts"] if mount["mountPath"] == str(above)]
            (volume,) = [volume for volume in pod["volumes"] if volume["name"] == name]
            assert volume["emptyDir"]["medium"] == "Memory"
    volume = tmp_path / "volume"
    volume.mkdir()
    volume.chmod(0o3777)
    assert run_folder(volume / "shared", name="unused").path == volume / "shared"
    with pytest.raises(StoreUnavailable, match="can be written to by others"):
        run_folder(volume, name="unused")


def test_no_service_link_becomes_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kubernetes gives each pod ``TENANTRY_PORT=tcp://10.0.0.1:80`` for a Service called tenantry, unless the pod says
    that it wants none: and no server would start with that port."""
    assert [pod["enableServiceLinks"] for pod in pods()] == [False] * len(pods())
    monkeypatch.setenv("TENANTRY_PORT", "tcp://10.0.0.1:80")
    with pytest.raises(ValueError, match="port"):
        Settings()
