"""``tenantry-site``: what its commands print, and how they end. ``tenantry site`` has the same ones."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tenantry_site.cli.output import Progress, spared
from tests.cli.conftest import Terminal

CONFIG = {"name": "Acme", "favicon": "/f.svg", "colors": {"primary": "#2f5bd8"}, "navigation": []}


@pytest.fixture
def docs(folder: Path) -> Path:
    """A site with nothing to say about it."""
    docs = folder / "docs"
    docs.mkdir()
    config = CONFIG | {"navigation": [{"group": "Start", "pages": ["index"]}]}
    (docs / "site.json").write_text(json.dumps(config))
    (docs / "f.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (docs / "index.md").write_text("---\ntitle: Home\ndescription: The first page.\n---\n\nHello.\n")
    return docs


def test_check_reports_nothing_of_a_good_site(terminal: Terminal, docs: Path) -> None:
    assert terminal("check", "docs", "--strict").out == "nothing to say\n"
    assert terminal("check", "docs/site.json", "--strict").out == "nothing to say\n"


def test_check_reports_errors_and_with_strict_warnings(terminal: Terminal, docs: Path) -> None:
    """By its exit code, for scripts; with the line, for people. Red when a warning fails a check that did not ask."""
    (docs / "index.md").write_text("---\ntitle: Home\n---\n\n[x](nowhere)\n")
    reported = terminal("check", "docs")
    assert "index.md:5" in reported.out
    assert "[x](nowhere)" in reported.out  # the line itself
    assert "LINK001" in reported.out
    terminal("check", "docs", "--strict", fails=1)
    (docs / "site.json").write_text('{"name": "Acme"')
    assert "site.json" in terminal("check", "docs", fails=1).out
    assert "site.json" in terminal("check", "docs/site.json", fails=1).out
    terminal("check", "missing", fails=2)
    terminal("check", "docs", "--format", "xml", fails=2)


def test_check_reads_stdin(terminal: Terminal) -> None:
    assert "name" in terminal("check", "-", given='{"navigation": []}', fails=1).out
    terminal("check", "-", given="", fails=1)


def test_check_waits_for_no_pipe_and_reads_no_end(
    terminal: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when a pipe without a writer is waited for, or stdin is read to an end that it may not have."""
    os.mkfifo(folder / "pipe.json")
    assert "CFG001" in terminal("check", "pipe.json", fails=1).out
    monkeypatch.setattr("tenantry_site.loading.LARGEST", 20)
    assert "CFG001" in terminal("check", "-", given=" " * 21, fails=1).out


@pytest.mark.parametrize("target", ["docs", "docs/site.json", "-"])
def test_check_writes_for_programs(terminal: Terminal, docs: Path, target: str) -> None:
    """Both forms are JSON, and the words for people are nowhere in them."""
    (docs / "site.json").write_text('{"navigation": [], "colour": 1}')
    given = (docs / "site.json").read_text()
    reported = terminal("check", target, "--format", "json", given=given, fails=1)
    assert reported.err == ""
    assert "CFG" in reported.out
    json.loads(reported.out)
    sarif = terminal("check", target, "--format", "sarif", given=given, fails=1).json()
    assert sarif["version"] == "2.1.0"
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert {"CFG001", "PAGE001", "LINK001", "FILE001"} <= rules.keys()
    assert [code for code, meaning in rules.items() if code == meaning] == []


def test_build_writes_and_sums_up(terminal: Terminal, docs: Path) -> None:
    """Where it went alone on stdout; what was found by code, with the first places."""
    for number in range(6):
        (docs / f"p{number}.md").write_text(f"# P\n\n[x](nowhere{number})\n")
    reported = terminal("build", "docs", "--out", "out", "--base-url", "https://docs.example.com/x")
    assert reported.out == "out\n"
    assert re.search(r"7 pages, \d+ files, .* MB in ", reported.err)
    assert "LINK001 warning, 6 ×: p0.md:3" in reported.err
    assert "also p1.md:3, p2.md:3 and 3 more" in reported.err
    assert "https://docs.example.com/x/" in (Path("out") / "sitemap.xml").read_text()


def test_build_keeps_the_old_site_where_it_must(terminal: Terminal, docs: Path) -> None:
    terminal("build", "docs", "--out", "out", "--strict")
    (docs / "index.md").write_text("[x](nowhere)\n")
    reported = terminal("build", "docs", "--out", "out", "--strict", fails=1)
    assert "Nothing was written: out is unchanged." in reported.err
    (docs / "site.json").write_text("{")
    reported = terminal("build", "docs", "--out", "out", fails=1)
    assert "Nothing was written" in reported.err
    assert reported.out == ""
    assert "Hello" in Path("out/index.html").read_text()


def test_build_fails_for_an_error(terminal: Terminal, docs: Path) -> None:
    """Though the rest of the site is written. Red when the exit code is 0, as it is for a warning."""
    config = json.loads((docs / "site.json").read_text())
    (docs / "site.json").write_text(json.dumps(config | {"openapi": "/api.json"}))
    (docs / "api.json").write_text('{"openapi": "3.1.0" "paths": {}}')
    reported = terminal("build", "docs", "--out", "out", fails=1)
    assert "API001 error" in reported.err
    assert "The site was written, but it has errors." in reported.err
    assert Path("out/index.html").exists()


def test_build_refuses_in_words(terminal: Terminal, docs: Path) -> None:
    """A folder that is not ours, the source, an address that is none."""
    Path("mine").mkdir()
    Path("mine/thesis").touch()
    assert "no build made" in terminal("build", "docs", "--out", "mine", fails=1).err
    assert "contains the source" in terminal("build", "docs", "--out", "docs", fails=1).err
    assert "--base-url" in terminal("build", "docs", "--out", "o", "--base-url", "docs.example", fails=1).err
    terminal("build", "docs", fails=2)
    assert not Path("o").exists()


def test_a_name_cannot_steer_the_terminal(terminal: Terminal, docs: Path) -> None:
    """Red when what a page says is printed as it is."""
    (docs / "index.md").write_text("[x](nowhere\x1b[2J)\n\n<Unknown\x07Thing/>\n")
    (docs / "a\x1b[31m.md").write_text("x")
    for command in (["build", "docs", "--out", "out"], ["check", "docs"]):
        reported = terminal(*command)
        assert "\x1b" not in reported.out + reported.err
        assert "\x07" not in reported.out + reported.err


def test_progress_is_a_bar_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere a few lines: a log must not hold a thousand. Red when a bar is drawn into a file."""
    with Progress() as progress:
        for done in range(1, 501):
            progress(done, 500)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"{done} of 500 pages" for done in (100, 200, 300, 400, 500)]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress() as progress:
        for done in range(1, 501):
            progress(done, 500)
    assert "500/500" in capsys.readouterr().err


def test_new_writes_a_site_with_nothing_to_repair(terminal: Terminal) -> None:
    """That builds strictly, and names its schema. Red when the first thing that somebody sees is a warning."""
    reported = terminal("new", "handbook")
    assert reported.out == "handbook\n"
    assert "tenantry-site serve handbook" in reported.err
    config = json.loads(Path("handbook/site.json").read_text())
    assert Path("handbook", config["$schema"]).is_file()
    assert terminal("check", "handbook", "--strict").out == "nothing to say\n"
    terminal("build", "handbook", "--out", "out", "--strict")
    assert "My second page" in Path("out/guides/first-page.html").read_text()


def test_new_overwrites_nothing(terminal: Terminal) -> None:
    Path("mine").mkdir()
    Path("mine/index.md").write_text("mine")
    assert "index.md" in terminal("new", "mine", fails=1).err
    assert [each.name for each in Path("mine").iterdir()] == ["index.md"]
    assert Path("mine/index.md").read_text() == "mine"
    Path("file").touch()
    assert "cannot be written" in terminal("new", "file", fails=1).err


STREAM_SECONDS = 300
_SERVE = f"""
from tenantry_site.cli import main, server
server.SHUTDOWN_SECONDS = {STREAM_SECONDS}
main()
"""


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``tenantry-site serve`` as a process that gives streams ``STREAM_SECONDS`` at its end, and its address."""
    command = [sys.executable, "-c", _SERVE, "serve", "docs", "--port", "0", *options]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"http://[^/]+", line)
        assert found is not None, line + process.stderr.read()
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=120) as answer:
        return str(answer.read().decode())


def test_serve_shows_changes_and_ends_at_once(folder: Path, docs: Path) -> None:
    """Even while a page listens. Red when Ctrl-C waits for the stream to end by itself, which is five minutes here."""
    with serving(folder) as (process, url):
        assert "Hello." in get(url)
        stream = urllib.request.urlopen(f"{url}/_reload?page=", timeout=120)
        lines = [stream.readline().decode() for _ in range(4)]
        (docs / "index.md").write_text("# Home\n\nChanged.\n")
        while not (line := stream.readline().decode()).startswith("data:"):
            assert line
        assert line != lines[3]
        assert "Changed." in get(url)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=STREAM_SECONDS / 3) == 0
        stream.close()


def test_serve_for_readers(folder: Path, docs: Path) -> None:
    with serving(folder, "--no-live") as (_, url):
        assert "_reload" not in get(url)


def test_serve_with_a_relay(folder: Path, docs: Path) -> None:
    """It reaches what it is reported of, and nothing else."""
    with serving(folder, "--relay", "https://api.example.com") as (_, url):
        asked = urllib.request.Request(
            f"{url}/_relay",
            json.dumps({"method": "GET", "url": "https://elsewhere.example/", "headers": {}, "body": None}).encode(),
            {"Content-Type": "application/json", "Origin": url},
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=120)
        with refused.value as answer:
            assert "error" in json.loads(answer.read())


def test_build_with_the_stars_of_a_repository_and_without_suffixes(
    terminal: Terminal, folder: Path, docs: Path
) -> None:
    """Red when a command does not pass its options on."""
    button = {"type": "github", "url": "https://github.com/acme/acme"}
    config = json.loads((docs / "site.json").read_text("utf-8"))
    (docs / "site.json").write_text(json.dumps(config | {"topbarCtaButton": button}))
    (docs / "other.md").write_text("# Other\n\n[Home](/)\n")
    terminal("build", "docs", "--out", "plain")
    terminal("build", "docs", "--out", "chosen", "--repository-facts", "--clean-urls")
    plain, chosen = ((folder / out / "other.html").read_text("utf-8") for out in ("plain", "chosen"))
    assert "data-repository-facts" not in plain
    assert 'data-repository-facts="acme/acme"' in chosen
    assert ('href="index.html"' in plain, 'href="./"' in chosen) == (True, True)


def test_serve_refuses_a_port_that_is_taken(terminal: Terminal, docs: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "cannot listen" in terminal("serve", "docs", "--port", port, fails=1).err


def loaded_by(*words: str) -> list[str]:
    """The modules that a command has loaded when it ends well, in a process of its own."""
    code = (
        "import contextlib, io, sys; from tenantry_site.cli.commands import site\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"  # not click's own runner: it loads a debugger
        "    assert not site(sys.argv[1:], standalone_mode=False)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_help_needs_nothing_of_a_site(folder: Path) -> None:
    """Red when a module of the site, or of a framework, is imported before a command needs it."""
    loaded = loaded_by("build", "--help")
    needless = ("markdown_it", "pydantic", "starlette", "jinja2", "uvicorn", "tenantry.")
    assert [name for name in loaded if name.startswith(needless)] == []
    own = {name.split(".")[1] for name in loaded if name.startswith("tenantry_site.")}
    assert own == {"cli", "diagnostic"}


def test_a_build_loads_no_network_and_no_server(folder: Path, docs: Path) -> None:
    """Some thirty megabytes of modules are its memory. Red when a build imports what only a server or a client needs,
    as ``xml.sax.saxutils`` does."""
    needless = {
        "ssl", "http.client", "asyncio", "concurrent.futures", "multiprocessing", "starlette", "sqlalchemy",
        "opentelemetry", "uvicorn", "httpx2",
    }  # fmt: skip
    assert needless.intersection(loaded_by("build", "docs", "--out", "out")) == set()


def test_a_build_gives_the_collector_back(request: pytest.FixtureRequest) -> None:
    """Red when what calls the command in its own process collects less often from then on."""
    request.addfinalizer(partial(gc.set_threshold, *gc.get_threshold()))
    gc.set_threshold(700, 10, 10)  # some versions of Python begin with what a build sets
    before = gc.get_threshold(), gc.get_freeze_count()
    with spared():
        assert gc.get_threshold() != before[0]
        assert gc.get_freeze_count() > before[1]
    assert (gc.get_threshold(), gc.get_freeze_count()) == before
