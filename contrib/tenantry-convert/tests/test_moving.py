"""The commands that turn exports of other products into groups. The pages of docs/moving run whole exports, and give
the file to ``tenantry group sync`` (tests/docs/test_documents.py). Here: what each command leaves out, and what it
refuses. The exports have the form that the API documents of the products say; each page names the document."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from engines.terminal import Terminal
from tenantry_convert.moving.superset import read_clause

PAGES = Path(__file__).parents[3] / "docs" / "moving"

Groups = dict[str, dict[str, Any]]
Moved = Callable[..., tuple[Groups, list[str]]]


@pytest.fixture
def moved(terminal: Terminal, folder: Path) -> Moved:
    """``moved("explo", [export])``: the groups by their ids, and the lines of stderr."""

    def run(product: str, exports: list[Any], *words: str, fails: int = 0) -> tuple[Groups, list[str]]:
        files = []
        for number, export in enumerate(exports):
            files.append(folder / f"{number}.json")
            files[-1].write_text(json.dumps(export), "utf-8")
        done = terminal("move", product, *map(str, files), *words, fails=fails)
        return yaml.safe_load(done.out)["groups"], done.err.splitlines()

    return run


@pytest.mark.parametrize("product", ["explo", "metabase", "looker", "superset"])
def test_the_pages_show_what_the_commands_write(product: str, tmp_path: Path) -> None:
    """The exports of the page, by the command of the page. Red after a change of either without the other."""
    page = (PAGES / f"{product}.md").read_text("utf-8")
    for name, text in re.findall(r'^```json title="([\w./]+)"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, "utf-8")
    (lines,) = re.findall(rf"^((?:! )?tenantry move {product} .* > groups.*\ncat .*)$", page, re.MULTILINE)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", lines],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert done.stdout == shown, done.stderr


def test_explo(moved: Moved) -> None:
    """Several pages, of both versions; ids stay texts; other visibility groups are left out, and what has no place is
    told. What is empty is written, for ``group sync`` keeps what a file does not name. Red when own properties are
    taken where inherited ones are there, too, and when an empty field is left out."""
    customer = {"name": None, "is_demo_group": False, "emails": [], "group_tags": [], "access_group": "Production"}
    one = {**customer, "provided_id": "12", "properties": {"a": 1}, "computed_properties": {"a": 1, "b": [2]}}
    two = {
        **customer,
        "provided_id": "two",
        "emails": ["x@example.com"],
        "parent_schema_datasource_mapping": {"40": 213},
    }
    three = {**customer, "provided_id": "three", "access_group": "Development"}
    pages = [{"total_count": 1, "results": {"customers": [one]}}, {"success": 1, "customers": [two, three]}]
    groups, told = moved("explo", pages, "--access-group", "Production", "--source", "213=eu")
    assert groups == {
        "12": {"name": "12", "properties": {"a": 1, "b": [2]}},
        "two": {"name": "two", "properties": {}, "mapping": {"40": "eu"}},
    }
    assert told == ["not moved: emails of two"]


def test_metabase(moved: Moved) -> None:
    """Red when a deactivated tenant gets a group, with a token that works."""
    tenant = {"id": 1, "name": "A", "slug": "a", "is_active": True, "member_count": 0, "tenant_collection_id": 1}
    attributes = {"share": "0.5", "ids": " 1,, 2 ", "text": "1,2"}
    tenants = [
        tenant | {"attributes": attributes},
        tenant | {"slug": "b", "is_active": False, "attributes": {"x": "1"}},
    ]
    words = ("--number", "share", "--number", "absent", "--list", "ids")
    groups, told = moved("metabase", [{"data": tenants}], *words)
    assert groups == {"a": {"name": "A", "properties": {"share": 0.5, "ids": ["1", "2"], "text": "1,2"}}}
    assert told == ["left out: b is deactivated"]


def test_looker(moved: Moved) -> None:
    """The group's own value before the default, as Looker has it; what it hides is no default, and an empty number is
    none. Red when a hidden value, which its answers show as null, counts as absent."""
    exports = [
        [{"id": "3", "name": "A", "external_group_id": "a"}, {"id": "5", "name": "Staff", "external_group_id": None}],
        [
            {"id": "7", "name": "vip", "type": "yesno", "default_value": "no"},
            {"id": "8", "name": "place", "type": "advanced_filter_string", "default_value": "%west%"},
            {"id": "9", "name": "key", "type": "string", "default_value": "shared"},
            {"id": "10", "name": "seats", "type": "number", "default_value": ""},
        ],
        [
            {"group_id": "3", "user_attribute_id": "7", "value": "Yes", "value_is_hidden": False},
            {"group_id": "3", "user_attribute_id": "9", "value": None, "value_is_hidden": True},
        ],
    ]
    groups, told = moved("looker", exports)
    assert groups == {"a": {"name": "A", "properties": {"vip": True, "place": "%west%"}}}
    assert told == [
        "check by hand: place is the filter expression '%west%'",
        "not moved: Looker hides the values of key",
        "left out: Staff has no external_group_id",
    ]
    groups, _ = moved("looker", exports, "--all")
    assert groups["5"] == {"name": "Staff", "properties": {"vip": False, "place": "%west%", "key": "shared"}}


@pytest.mark.parametrize(
    ("clause", "properties"),
    [
        ("region = 'eu'", {"region": "eu"}),
        ("orders.\"region\"='O''Brien' AND n In (1, -2.5)", {"region": "O'Brien", "n": [1, -2.5]}),
        ("1 = 0", None),
        ("region = 'eu' or 1 = 1", None),
        ("region = 'eu' and", None),
        ("region <> 'eu'", None),
        ("region in ()", None),
        ("region = 'eu' and region = 'us'", None),
        ("not region = 'eu'", None),
        ("(region = 'eu')", None),
        ("region = 'eu' and lower(city) = 'rome'", None),
        ("region = '{{ current_username() }}'", None),
        ("region = 'eu' -- and n = 1", None),
    ],
)
def test_superset(clause: str, properties: dict[str, Any] | None) -> None:
    """A clause is read whole or not at all. Red when the rest after the last condition is ignored, and for Jinja when
    braces have no meaning: the property would be the template itself."""
    assert read_clause(clause) == properties


def test_superset_guest_tokens(moved: Moved) -> None:
    """A user is a customer. What is not read makes the status 1, and the group is there without the property: a query
    that names it is an error for that group. Red when the status is 0, and when a user without rules is lost."""
    bodies = [
        {
            "user": {"username": "a"},
            "resources": [],
            "rls": [{"clause": "region = 'eu'"}, {"dataset": 1, "clause": "n = 1"}],
        },
        {"user": {"username": "b"}, "resources": [], "rls": [{"clause": "region like 'e%'"}]},
        {"user": {"username": "c"}, "resources": [], "rls": []},
    ]
    groups, told = moved("superset", [bodies], fails=1)
    assert groups == {"a": {"properties": {"region": "eu", "n": 1}}, "b": {}, "c": {"properties": {}}}
    assert told == ["not read: b: region like 'e%'"]


def test_pages_that_are_missing_are_told(moved: Moved) -> None:
    """By the count that each page gives. Red when the first page alone is taken for all: its customers would move, and
    the rest would not, without a word."""
    rule = {"name": "r", "filter_type": "Regular", "tables": [], "clause": "n = 1"}
    pages = [{"count": 2, "result": [rule | {"roles": [{"id": 1, "name": name}]}]} for name in ("a", "b")]
    groups, told = moved("superset", pages)
    assert (list(groups), told) == (["a", "b"], [])
    _, told = moved("superset", pages[:1], fails=1)
    assert told == ["only 1 of 2 rules are in these files: save the other pages, too"]
    _, told = moved("explo", [{"total_count": 2, "customers": [{"provided_id": "a"}]}])
    assert told == ["only 1 of 2 customers are in these files: save the other pages, too"]


def test_wrong_arguments_are_reported(terminal: Terminal, folder: Path) -> None:
    """A file that is missing, and a name without its other half. Red without the checks: a traceback, and a mapping to
    a data source without a name."""
    (folder / "page.json").write_text('{"customers": []}')
    (folder / "page.yaml").write_text("customers: []")
    for words, status, message in (
        (["absent.json"], 1, "cannot read absent.json: No such file or directory"),
        (["page.yaml"], 1, "page.yaml is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (["page.json", "--source", "213"], 2, "'213' is not ID=NAME"),
    ):
        done = terminal("move", "explo", *words, fails=status)
        assert done.out == ""
        assert message in done.err.splitlines()[-1]


@pytest.mark.parametrize("text", ["", "1e", "nan", "a", None])
def test_a_value_that_is_not_a_number_is_named(terminal: Terminal, folder: Path, text: str | None) -> None:
    """With its attribute and its tenant. Red when the error of Python is the whole message."""
    tenant = {"name": "A", "slug": "a", "is_active": True, "attributes": {"n": text}}
    (folder / "export.json").write_text(json.dumps({"data": [tenant]}))
    done = terminal("move", "metabase", "export.json", "--number", "n", fails=1)
    assert done.out == ""
    assert done.err == f"Error: n of a is {text!r}, which is not a number: correct it in the export\n"


def test_superset_rules_that_disagree(moved: Moved) -> None:
    """Both are shown in the end: the first as a property, the other as not read. Red when the last one wins."""
    rule = {"name": "r", "filter_type": "Regular", "roles": [{"id": 1, "name": "acme"}], "tables": []}
    rules = {"result": [rule | {"clause": "region = 'eu'"}, rule | {"clause": "region = 'us'"}]}
    groups, told = moved("superset", [rules], fails=1)
    assert groups["acme"]["properties"] == {"region": "eu"}
    assert told == ["not read: acme: region = 'us'"]


def test_values_arrive_as_they_were(terminal: Terminal, folder: Path) -> None:
    """In the store, by ``group sync``, whatever they look like in YAML. Red without the representer of strings: YAML
    folded each character that it reads as the end of a line."""
    odd = [
        "yes",
        "1.5",
        "2026-01-01",
        "",
        "a: b # c",
        "'\"",
        "x " * 200,
        "a\r\nb",
        "é\x85\u2028c",
        "two  spaces " * 20,
        "- x",
        "{{ x }}",
        "null",
    ]
    properties = {"odd": odd, "again": odd, "none": None, "no": False, "12": 1e20, "deep er": {"x": [{"y": [[]]}]}}
    export = {"customers": [{"provided_id": "012", "name": "on", "properties": properties}]}
    (folder / "export.json").write_text(json.dumps(export))
    (folder / "groups.yaml").write_bytes(terminal("move", "explo", "export.json").out.encode())
    terminal("keys", "new")
    terminal("migrate")
    terminal("environment", "create", "production", "--tag", "Customer")
    terminal("group", "sync", "groups.yaml")
    group = terminal("group", "get", "012", "--json").json()
    assert (group["name"], group["properties"]) == ("on", properties)


@pytest.mark.parametrize(
    ("product", "exports"),
    [
        ("explo", [{"customers": [{}]}]),
        ("looker", [[{"id": 1}], []]),
        ("metabase", [{"data": [1]}]),
        ("superset", [{"count": 0}]),
    ],
)
def test_an_export_of_another_form(product: str, exports: list[Any], terminal: Terminal, folder: Path) -> None:
    """It is reported, and no groups are printed. Red without the ``except`` in groups_file.py."""
    files = [f"{number}.json" for number in range(len(exports))]
    for file, export in zip(files, exports, strict=True):
        (folder / file).write_text(json.dumps(export))
    done = terminal("move", product, *files, fails=1)
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("Error: an export does not have the form that this command reads: ")
