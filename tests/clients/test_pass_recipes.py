"""The recipes of docs/passes.md: in each language the same inputs give the same viewer, or the same refusal."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from starlette.applications import Starlette

from tenantry import DataSources, Resolver, mount_dashboards
from tenantry.clock import utc_now
from tenantry.groups import GroupDraft, Tag, thaw
from tenantry.testing import MemoryStore, make_token
from tenantry.tokens import read_pass
from tests.clients.languages import Runner, go, node, php, ruby
from tests.resolver.fake import KEYS

pytestmark = pytest.mark.slow

DOCS: Final = (Path(__file__).parents[2] / "docs" / "passes.md").read_text("utf-8")
REFUSED: Final = "refused"
"""A line in place of a pass: the recipe raised the error that it has for what is no token."""

PROGRAMS: Final = {
    "pass.mjs": """
import { makePass } from "./pass.mjs";
import { readFileSync } from "node:fs";
for (const line of readFileSync(0, "utf8").trim().split("\\n")) {
  let made;
  try { made = makePass(...JSON.parse(line)); }
  catch (error) { made = error instanceof TypeError ? "refused" : error; }
  console.log(made);
}""",
    "pass.php": """<?php
require "pass.php";
foreach (file("php://stdin") as $line) {
    try { $made = make_pass(...json_decode($line, true)); } catch (ValueError) { $made = "refused"; }
    echo "$made\\n";
}""",
    "pass.rb": """
require "./pass"
STDIN.each_line do |line|
  puts make_pass(*JSON.parse(line))
rescue ArgumentError
  puts "refused"
end""",
    "pass.go": """package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\\n')
		if err != nil {
			return
		}
		var given struct {
			Key, Id string
			Viewer  map[string]any
			Seconds int64
		}
		parts := []any{&given.Key, &given.Id, &given.Viewer, &given.Seconds}
		if err := json.Unmarshal(line, &parts); err != nil {
			panic(err)
		}
		made, err := MakePass(given.Key, given.Id, given.Viewer, given.Seconds)
		if err != nil {
			made = "refused"
		}
		fmt.Println(made)
	}
}""",
}
"""For each file of the page a program that reads arguments from lines of JSON and prints a pass for each."""

RUNNERS: Final[dict[str, Callable[[Path], Runner]]] = {
    "pass.mjs": lambda _: node(),
    "pass.php": lambda _: php(),
    "pass.rb": lambda _: ruby(),
    "pass.go": go,
}

ANN: Final = ("ann", {"region": "eu"}, 600)
OPENS: Final = {
    "plain": ANN,
    "no attributes": ("ann", {}, 600),
    "of a day": ("ann", {}, 86_400),
    "other letters": ("žofie o'neil/<&>\"\\ 🙂", {"ú<b>": ["</script>", "ÿþ~~~???>>>"]}, 60),
    "numbers": ("1", {"n": {"big": 2**53 - 1, "share": 0.1, "none": None, "on": True, "list": [[1]]}}, 1_000),
}
IS_REFUSED: Final = {
    "no id": ("", {}, 600),
    "an id of two lines": ("a\nb", {}, 600),
    "a long id": ("a" * 256, {}, 600),
    "an attribute id": ("ann", {"id": "bob"}, 600),
    "many attributes": ("ann", {f"a{n}": n for n in range(65)}, 600),
    "deep attributes": ("ann", {"a": {"b": {"c": {"d": {}}}}}, 600),
    "large attributes": ("ann", {"text": "x" * 3_000}, 600),
    "over a day": ("ann", {}, 86_401),
    "no time": ("ann", {}, 0),
    "an ended one": ("ann", {}, -1),
}


class Stage:
    """A dashboard, and the token of the group acme."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "dashboards"
        self.folder.mkdir()
        (self.folder / "sales.yaml").write_text("title: Sales\nrows: [{heading: A}]\n")

    async def prepare(self) -> None:
        store = MemoryStore()
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token(key_id="k1"))
        self.token = KEYS.mint(made.token)
        app = Starlette()
        mount_dashboards(app, self.folder, Resolver(store, keys=KEYS), DataSources(store))
        self.http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://dash.test")

    async def status(self, made: str) -> int:
        """Of the panels of the dashboard."""
        headers = {"X-User-Group-Token": made}
        return (await self.http.post("/dashboards/sales/-/panels", json={}, headers=headers)).status_code


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path)
    await made.prepare()
    async with made.http:
        yield made


@pytest.fixture(scope="module", params=[*RUNNERS, "python"])
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[Any]], list[str]]:
    """Runs the recipe of one language for many arguments at once."""
    if request.param == "python":
        return _in_python
    folder = tmp_path_factory.mktemp("recipe")
    (text,) = re.findall(rf'^```\w+ title="{request.param}"\n(.*?)^```', DOCS, re.DOTALL | re.MULTILINE)
    (folder / request.param).write_text(text, "utf-8")
    runner = RUNNERS[request.param](folder / "cache")
    program = folder / f"main{Path(request.param).suffix}"
    program.write_text(PROGRAMS[request.param], "utf-8")
    files = [program.name, request.param] if program.suffix == ".go" else [program.name]

    def run(arguments: list[Any]) -> list[str]:
        lines = "".join(json.dumps(each) + "\n" for each in arguments)
        options: dict[str, Any] = {"cwd": folder, "env": runner.variables, "timeout": 240, "check": False}
        done = subprocess.run([*runner.command, *files], input=lines, capture_output=True, text=True, **options)
        assert done.returncode == 0, done.stderr
        printed: str = done.stdout
        return printed.splitlines()

    return run


def _in_python(arguments: list[Any]) -> list[str]:
    (text,) = re.findall(r"^```python\n(import hashlib.*?)^```", DOCS, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(compile(text, "passes.md", "exec"), names)
    made = []
    for each in arguments:
        try:
            made.append(names["make_pass"](*each))
        except ValueError:
            made.append(REFUSED)
    return made


async def test_a_pass_opens_a_dashboard_as_its_viewer(stage: Stage, make: Any) -> None:
    """Red when PHP sends an empty array of attributes as a list, and when a recipe leaves base64 padded."""
    passes = make([(stage.token, *each) for each in OPENS.values()])
    for (viewer_id, attributes, seconds), made in zip(OPENS.values(), passes, strict=True):
        assert await stage.status(made) == 200
        viewer = read_pass(KEYS, made.encode(), utc_now).viewer
        assert (viewer.id, thaw(viewer.attributes)) == (viewer_id, attributes)
        assert (viewer.expires_at - viewer.issued_at).total_seconds() == seconds


async def test_what_no_pass_may_say_is_refused(stage: Stage, make: Any) -> None:
    """By Tenantry, whatever the language. Red when a recipe cuts an id short, or caps the time."""
    passes = make([(stage.token, *each) for each in IS_REFUSED.values()])
    found = {name: await stage.status(made) for name, made in zip(IS_REFUSED, passes, strict=True)}
    assert found == dict.fromkeys(IS_REFUSED, 401)


async def test_only_a_token_makes_a_pass(stage: Stage, make: Any) -> None:
    """Red when the pattern is not anchored: PHP and Python take a line break at the end with ``$``, Ruby a token on
    any line."""
    (good,) = make([(stage.token, *ANN)])
    token = stage.token
    wrong = [
        "",
        good,
        f"{token}\n",
        f"\n{token}",
        f"{token}0",
        token[:-1],
        f"ugkc_{token[5:]}",
        f"{token[:8]}é{token[9:]}",
    ]
    assert make([(each, *ANN) for each in wrong]) == [REFUSED] * len(wrong)
    foreign = KEYS.mint(make_token(key_id="k1"))
    (unknown,) = make([(foreign, *ANN)])
    assert await stage.status(unknown) == 401
