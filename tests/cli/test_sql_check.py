"""``tenantry sql check``: files and folders, text and JSON, with and without a store's groups; and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal

RATED = (
    "select * from orders where region = {{ region }}\n"
    "[[ and amount >= {{ params.min }} * {{ rate | not_a_filter }} and d = {{ discount }} ]]"
)


def write(folder: Path, **files: str) -> None:
    """Writes ``queries/NAME.sql``."""
    (folder / "queries").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / "queries" / f"{name}.sql").write_text(text)


@pytest.fixture(autouse=True)
def tables(folder: Path) -> Path:
    """The declaration that most queries here are checked with: every table is shared, so a query stays as it is."""
    shared = "".join(f"  {name}: shared\n" for name in ("orders", "t", "countries", "seats", "base"))
    (folder / "tables.yaml").write_text(f"tables:\n{shared}")
    return folder / "tables.yaml"


def test_a_file_is_checked_without_a_store(terminal: Terminal, folder: Path) -> None:
    """What a viewer can drop is a note, and a note fails nothing. Red when the command opens the store, which is not
    there."""
    (folder / "rates.sql").write_text(RATED)
    checked = terminal("sql", "check", "rates.sql", "--optional", "discount")
    lines = checked.out.splitlines()
    assert [line for line in lines if not line.startswith("    fix: ")] == [
        f"rates.sql:2:{column}: note droppable: {name} is left out with its clause when a viewer chooses nothing"
        for column, name in ((37, "rate (not_a_filter)"), (71, "discount (optional)"))
    ]
    assert checked.err == "1 template, 1 guarded: 2 notes\n"
    assert terminal("sql", "check", "rates.sql", "--optional", "discount", "--dialect", "mysql").out == checked.out
    assert not (folder / "tenantry.db").exists()


def test_what_a_collation_takes_for_equal_is_said_once(terminal: Terminal, folder: Path) -> None:
    """On MySQL and MariaDB, where a value of the group is compared, and whatever the format. Broken: without the
    dialects nothing says that acme sees ACME."""
    (folder / "mine.sql").write_text("select * from orders where region = {{ region }} and day in {{ days }}")
    (folder / "viewers.sql").write_text("select * from orders where region = {{ params.region }} limit {{ rows }}")
    for dialect, file, said in (
        *(("mysql", "mine.sql", 1), ("mariadb", "mine.sql", 1), ("postgresql", "mine.sql", 0)),
        ("mysql", "viewers.sql", 0),
    ):
        for style in ("text", "json"):
            checked = terminal("sql", "check", file, file, "--dialect", dialect, "--format", style)
            assert checked.err.count("acme sees the rows of ACME and of acmé") == said, (dialect, file)


def test_each_file_is_checked_whatever_the_others_are(terminal: Terminal, folder: Path) -> None:
    """What does not compile, is no UTF-8 or is too long is a finding of its file. Red when the first one ends the
    command."""
    bad = "select * from orders [[ where region = {{ region }} and day > {{ params.day }} ]]"
    write(folder, a_bad=bad, b_right="select 1", d_long="select 1" + " " * 300_000, e_last=RATED)
    (folder / "queries" / "c_latin.sql").write_bytes(b"select 1,\n  \xff")
    checked = terminal("sql", "check", "queries", "--optional", "discount", fails=1)
    found = [line.split(" ", 3)[:3] for line in checked.out.splitlines() if not line.startswith(" ")]
    assert found == [
        ["queries/a_bad.sql:1:40:", "error", "template-error:"],
        ["queries/c_latin.sql:2:3:", "error", "template-error:"],
        ["queries/d_long.sql:1:1:", "error", "template-error:"],
        ["queries/e_last.sql:2:37:", "note", "droppable:"],
        ["queries/e_last.sql:2:71:", "note", "droppable:"],
    ]
    assert checked.err == "5 templates, 2 guarded: 3 errors, 2 notes\n"


def test_wrong_usage_ends_with_2(terminal: Terminal, folder: Path) -> None:
    """A file that is not there, no file, a file of another language, a path that is none. Red when a check in CI is
    green because it looked at nothing."""
    (folder / "a.sql").write_text("select 1")
    (folder / "one.py").write_text("print(1)")
    for wrong in (
        ["nothing.sql"],
        [],
        ["one.py"],
        ["a.sql", "one.py"],
        ["a.sql", "--optional", "a b"],
        ["a.sql", "--given", "-"],
        ["a.sql", "--format", "x"],
    ):
        assert terminal("sql", "check", *wrong, fails=2).out == ""
    assert terminal("sql", "check", "a.sql").err == "1 template, 1 guarded: nothing found\n"
    assert "the name of one.py does not end in .sql" in terminal("sql", "check", "one.py", fails=2).err
    (folder / "B.SQL").write_text("select 1")
    assert terminal("sql", "check", "B.SQL").out == ""


def test_json_has_what_the_text_has(terminal: Terminal, folder: Path) -> None:
    """For other programs. Red when a field is only in the text."""
    (folder / "or.sql").write_text("select * from t where a = {{ region }}\n or b")
    checked = terminal("sql", "check", "or.sql", "--format", "json")
    document = json.loads(checked.out)
    assert (document["templates"], document["groups"], document["guarded"]) == (1, None, 1)
    (finding,) = document["findings"]
    assert finding["message"].startswith("this `or` is next to the predicate on region")
    assert {**finding, "message": "", "fix": ""} == {
        "file": "or.sql",
        "code": "or-beside-guarded",
        "severity": "note",
        "line": 2,
        "column": 2,
        "message": "",
        "fix": "",
        "variable": "region",
    }


def test_with_groups_it_says_what_they_lack(ready: Terminal, folder: Path) -> None:
    """Over more than one page of groups; an unknown variable has the name that was meant. Red when only the first page
    is read, or another environment's groups count."""
    import tenantry.cli.options as module

    module.PAGE, before = 2, module.PAGE
    try:
        for name, properties in (("a", ["plan=free"]), ("b", ["plan=[1]"]), ("c", []), ("d", ["region=eu"]), ("e", [])):
            ready("group", "create", name, *(f"--property={each}" for each in properties))
        write(folder, plans="select * from t where plan = {{ plan }} and r = {{ regoin }} and s = {{ shop }}")
        checked = ready("sql", "check", "queries", "--groups", "--given", "shop", "--format", "json", fails=1)
    finally:
        module.PAGE = before
    document = json.loads(checked.out)
    assert document["groups"] == 5
    found = {each["code"]: each for each in document["findings"]}
    assert sorted(found) == ["missing-property", "property-type", "unknown-variable"]
    assert found["missing-property"]["message"] == "plan is missing in 3 of 5 groups: c, d, e"
    assert (found["missing-property"]["groups"], found["missing-property"]["named"]) == (3, ["c", "d", "e"])
    assert found["property-type"]["named"] == ["b"]
    assert found["unknown-variable"]["fix"] == "did you mean region?"
    assert "shop" not in checked.out
    ready("environment", "create", "empty", "--tag", "Testing")
    empty = ready("sql", "check", "queries", "--groups", "--environment", "empty")
    assert "no groups" in empty.err
    assert ready("sql", "check", "queries", "--groups", "--environment", "nope", fails=1).out == ""


def test_the_schema_of_the_environment_is_used(
    terminal: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the folder, by the environment's name. Red when another environment's is read, or a folder's without an
    environment."""
    write(folder, orders="select * from orders join countries c on true where region = {{ region }} and p = {{ plan }}")
    schemas = folder / "queries" / "schemas"
    schemas.mkdir()
    declared = {
        "type": "object",
        "properties": {"region": {"type": "string"}, "plan": {"type": "object"}},
        "required": ["region"],
    }
    (schemas / "production.json").write_text(json.dumps(declared))
    assert terminal("sql", "check", "queries").out == ""
    checked = terminal("sql", "check", "queries", "--environment", "production", fails=1)
    codes = [line.split()[2] for line in checked.out.splitlines() if not line.startswith(" ")]
    assert codes == ["missing-property:", "property-type:"]
    assert checked.err == "1 template, 1 guarded: 1 error, 1 warning\n"
    named = terminal("sql", "check", "queries", "--schema", "queries/schemas/production.json", fails=1)
    assert named.out == checked.out
    (schemas / "production.json").write_text('{"type": "object", "minProperties": 1}')
    refused = terminal("sql", "check", "queries", "--environment", "production", fails=1).err
    assert "production.json: in the schema, minProperties is not a supported keyword" in refused
    assert "[invalid_property_schema]" in refused


def test_an_environment_without_a_schema_is_refused(
    terminal: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looked at less, found nothing and ended with 0: a typing error in CI switched the check of tenants off. The
    name of the settings is for other commands too: it is refused where others have a schema. Red when no schema is
    taken for none that is wanted."""
    write(folder, orders="select * from orders where region = {{ region }}")
    check = ("sql", "check", "queries")
    assert "no environment has a schema" in terminal(*check, "--environment", "production", fails=2).err
    monkeypatch.setattr("tenantry.cli.sql_check._configured_environment", lambda: "prodution")
    terminal(*check)
    schemas = folder / "queries" / "schemas"
    schemas.mkdir()
    for name in ("production", "testing"):
        (schemas / f"{name}.json").write_text('{"type": "object", "required": ["plan"]}')
    for options in ([], ["--environment", "prodution"]):
        refused = terminal(*check, *options, fails=2)
        assert refused.out == ""
        said = " ".join(refused.err.replace("│", " ").split())
        assert "the environment 'prodution' has no schema; there are schemas for production, testing." in said
        assert "did you mean production?" in said
    found = terminal(*check, "--schema", "queries/schemas/production.json", fails=1)
    assert "no group has the property region" in found.out
    (folder / "queries" / "deep").mkdir()
    (folder / "queries" / "deep" / "one.sql").write_text("select 1")
    deep = terminal("sql", "check", "queries/deep/one.sql", "--queries", "queries", "--environment", "testing")
    assert deep.err == "1 template, 1 guarded: nothing found\n"


HEADED = """/* ---
title: By day
params:
  since: {type: date}
optional: [discount]
--- */
select * from ({{> base/orders }}) o where true [[ and at >= {{ params.since }} and d = {{ discount }} ]]
"""


def test_headers_and_fragments_are_those_of_the_folder(terminal: Terminal, folder: Path) -> None:
    """A finding in a fragment is told once, with the fragment's own file and line; a query that names a fragment which
    is not there is a finding, and no more. Red when files are read without their folder."""
    orders = "select * from orders\nwhere region = {{ region }} or paid"
    write(folder, by_day=HEADED, by_week="select * from ({{> base/orders }}) o", lost="select * from ({{> none }}) o")
    for name, text in (("base/orders.sql", orders), (".hidden/bad.sql", "select {{")):
        (folder / "queries" / name).parent.mkdir()
        (folder / "queries" / name).write_text(text)
    checked = terminal("sql", "check", "queries", fails=1)
    found = [line.split(" ", 3)[:3] for line in checked.out.splitlines() if not line.startswith(" ")]
    assert found == [
        ["queries/base/orders.sql:2:29:", "note", "or-beside-guarded:"],
        ["queries/by_day.sql:7:89:", "note", "droppable:"],
        ["queries/lost.sql:1:16:", "error", "template-error:"],
    ]
    one = terminal("sql", "check", "queries/by_week.sql")
    assert one.out.splitlines()[0].startswith("queries/base/orders.sql:2:29: note or-beside-guarded")
    named = terminal("sql", "check", "queries/base/orders.sql", "--queries", "queries")
    assert named.out == one.out


LACKS = "/* ---\noptional: [region]\n--- */\nselect * from orders [[ where region = {{ region }} ]]"


@pytest.mark.parametrize(
    ("arguments", "given", "own"),
    [
        (["queries"], None, True),
        ([".", "--queries", "queries"], None, True),
        (["queries/lacks.sql", "--queries", "queries"], None, True),
        (["queries/../queries/lacks.sql", "--queries", "queries"], None, True),
        (["queries/lacks.sql"], None, False),
        (["queries/lacks.sql", "--queries", "other"], None, False),
        (["other/link.sql", "--queries", "other"], None, False),
        (["-"], LACKS, False),
        (["-", "--queries", "queries"], LACKS, False),
        (["queries/lacks.sql", "--optional", "region"], None, True),
        (["-", "--optional", "region"], LACKS, True),
    ],
)
def test_a_header_declares_optional_in_the_programs_own_folder_only(
    arguments: list[str],
    given: str | None,
    own: bool,
    terminal: Terminal,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A folder that is checked or declared is the program's; a file by itself may be anybody's, and lets no condition
    of the group go. Red when every file was trusted, as it was, and when a link was taken for what it is named."""
    write(folder, lacks=LACKS)
    (folder / "other").mkdir()
    (folder / "other" / "link.sql").symlink_to(folder / "queries" / "lacks.sql")
    checked = terminal("sql", "check", *arguments, given=given, fails=not own)
    refusal = "error template-error: optional is allowed only in the program's own query folder"
    assert (refusal in checked.out) is not own
    if "--queries" in arguments and given is None:  # by its variable, too
        monkeypatch.setenv("TENANTRY_QUERIES", arguments.pop())
        assert terminal("sql", "check", *arguments[:-1], fails=not own).out == checked.out


def test_render_trusts_the_same_files(ready: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a path that the program declares, too. Red when --optional made a file of the folder foreign."""
    write(folder, lacks=LACKS)
    ready("group", "create", "acme")
    render = ("sql", "render", "queries/lacks.sql", "--group", "acme")
    assert "own query folder" in ready(*render, fails=1).err
    monkeypatch.setenv("TENANTRY_QUERIES", "queries")
    for more in ([], ["--optional", "discount"]):
        assert ready(*render, *more).out.splitlines()[0].strip() == "select * from orders"


def test_with_groups_it_says_what_session_variables_lack(ready: Terminal, folder: Path, tables: Path) -> None:
    """Of the groups that are mapped to the source, by either of its ids; the others never ask it. No query runs for
    them, so it is an error although no template names the property. Red when only the templates were looked at, when
    all groups counted, and when a property that no group has was left to the templates."""
    url = ("--no-check", "--tables", str(tables), "--url", "postgresql://reader@127.0.0.1:1/db")
    path = "{{ user_group.properties.%s }}"
    sessions = {"tenant": "{{ user_group.id }}", "region": path % "region", "shop": path % "shop.id"}
    options = [f"--session=app.{name}={tag}" for name, tag in sessions.items()]
    source = ready("data-source", "create", "sales", *url, *options).out.strip()
    ready("data-source", "create", "plain", *url)
    for name, mapped, properties in (
        ("a", "sales", ["region=eu", 'shop={"id": 1}']),
        ("b", source, ["region=us"]),
        ("c", "sales", []),
        ("d", "sales", ["region=", 'shop={"id": [1]}']),
        ("e", "plain", []),
        ("f", None, []),
    ):
        ready(
            *("group", "create", name, *(f"--property={each}" for each in properties)),
            *((f"--map=main={mapped}",) if mapped else ()),
        )
    write(folder, one="select 1")
    checked = ready("sql", "check", "queries", "--groups", fails=1)
    prefix = "user_group.properties."
    lacks, wrong = "missing-property is missing", "property-type is a list, an object or empty,"
    assert [line for line in checked.out.splitlines() if not line.startswith(" ")] == [
        f"data source sales:{number}:1: error {what.split()[0]}: app.{name} is set from {prefix}{path}, which "
        f"{what.partition(' ')[2]} in {groups}; their queries do not run on this data source"
        for number, name, path, what, groups in (
            (2, "region", "region", lacks, "1 of 4 groups: c"),
            (2, "region", "region", wrong, "1 of 4 groups: d"),
            (3, "shop", "shop.id", lacks, "2 of 4 groups: b, c"),
            (3, "shop", "shop.id", wrong, "1 of 4 groups: d"),
        )
    ]
    finding = json.loads(ready("sql", "check", "queries", "--groups", "--format", "json", fails=1).out)["findings"][0]
    assert {key: finding[key] for key in ("file", "variable", "groups", "total", "named")} == {
        "file": "data source sales",
        "variable": f"{prefix}region",
        "groups": 1,
        "total": 4,
        "named": ["c"],
    }
    assert ready("sql", "check", "queries").out == ""
