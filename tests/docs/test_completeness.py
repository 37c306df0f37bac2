"""Nothing public is undocumented: error codes, commands, settings and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from importlib.util import find_spec
from inspect import signature
from pathlib import Path

import click

import tenantry
import tenantry_site
from scripts.distributions import DISTRIBUTIONS, ROOT
from tenantry.cli import commands
from tenantry.errors import TenantryError
from tenantry.server.settings import Settings
from tenantry.sql import inspect
from tenantry_site import SiteOptions

DOCS = ROOT / "docs"


def _tree(error: type[TenantryError]) -> Iterator[type[TenantryError]]:
    yield error
    for child in error.__subclasses__():
        yield from _tree(child)


def _leaves(group: click.Group, path: str = "tenantry") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _code(pages: Iterable[Path]) -> str:
    """What stands in code on some pages: a name that is only a word of a sentence is not documented."""
    text = "\n".join(page.read_text("utf-8") for page in pages)
    return "\n".join(re.findall(r"```.*?^```$|`[^`\n]+`", text, re.DOTALL | re.MULTILINE))


OURS = sorted(
    (each for each in set(_tree(TenantryError)) if each.__module__.startswith("tenantry.errors")),
    key=lambda each: each.__name__,
)


def test_every_error_is_documented() -> None:
    """docs/errors.md names the code, the status and the class of each error."""
    page = (DOCS / "errors.md").read_text("utf-8")
    rows = [f"| `{error.code}` | {error.status} | `{error.__name__}` |" for error in OURS]
    assert [row for row in rows if row not in page] == []


def test_every_command_is_documented() -> None:
    """docs/command-line.md shows each command, and each option of it in one of its spellings."""
    code = _code([DOCS / "command-line.md", DOCS / "settings.md"])
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", code))
    for name, command in _leaves(commands):
        assert re.search(rf"`{name}\b", code), name
        options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
        assert [each.opts for each in options if not shown & {*each.opts, *each.secondary_opts}] == [], name


def test_every_setting_is_documented() -> None:
    """docs/settings.md has a row for each setting's environment variable."""
    page = (DOCS / "settings.md").read_text("utf-8")
    assert [name for name in Settings.model_fields if f"\n| `TENANTRY_{name.upper()}` |" not in page] == []


def test_every_public_name_is_documented() -> None:
    """The README or docs/ mentions each public name, and each that can have a docstring has one."""
    code = _code([ROOT / "README.md", *DOCS.glob("*.md")])
    assert [name for name in tenantry.__all__ if not re.search(rf"\b{name}\b", code)] == []
    values = {name: getattr(tenantry, name) for name in tenantry.__all__}
    assert [name for name, value in values.items() if callable(value) and not value.__doc__] == []


def test_every_name_for_tools_is_documented() -> None:
    """docs/sql-checks.md lists what ``tenantry.sql.inspect`` has. Red when a name is added without a word."""
    page = (DOCS / "sql-checks.md").read_text("utf-8")
    assert [name for name in inspect.__all__ if f"`{name}`" not in page] == []


def test_every_public_name_of_the_site_is_documented() -> None:
    """The same of ``tenantry_site``, in the pages about it."""
    code = _code(DOCS.glob("site*.md"))
    assert [name for name in tenantry_site.__all__ if not re.search(rf"(`|import .*\b){name}\b", code)] == []
    assert [name for name in tenantry_site.__all__ if not getattr(tenantry_site, name).__doc__] == []


def test_every_option_of_a_site_is_documented() -> None:
    """docs/site.md has a row for each."""
    page = (DOCS / "site.md").read_text("utf-8")
    assert [each.name for each in fields(SiteOptions) if f"\n| `{each.name}` |" not in page] == []


def test_every_argument_of_a_public_function_of_the_site_is_documented() -> None:
    """Red when one is added in silence."""
    code = _code(DOCS.glob("site*.md"))
    for function in (tenantry_site.build, tenantry_site.render, tenantry_site.site_app, tenantry_site.json_schema):
        for name in signature(function).parameters:
            assert re.search(rf"\b{name}\b", code), f"{function.__name__}({name})"


def test_every_metric_is_documented_and_no_other() -> None:
    """docs/operating.md has the metrics that the code has. Red when one is renamed, or made up."""
    code = "".join(path.read_text("utf-8") for path in (ROOT / "src/tenantry/server/metrics").glob("*.py"))
    page = (DOCS / "operating.md").read_text("utf-8")
    told = {name.removesuffix("_total") for name in re.findall(r"\btenantry_[a-z_]+[a-z]", page)}
    assert told == set(re.findall(r'"(tenantry_[a-z_]+)"', code))


def test_every_span_and_its_attributes_are_documented() -> None:
    """docs/operating.md names each. Red when one is added in silence."""
    code = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    spans = (ROOT / "src/tenantry/tracing.py").read_text("utf-8")
    told = re.findall(r'(?:Span|set_attribute)\(\s*"(tenantry\.[a-z_.]+)"', code)
    told += [name for name in re.findall(r'"(tenantry\.[a-z_]+)": ', code) if find_spec(name) is None]  # no module
    told += re.findall(r'"((?:db|error|http|network|server|tenantry|url)\.[a-z_.]+)"', spans)
    page = (DOCS / "operating.md").read_text("utf-8")
    assert {"tenantry.look", "tenantry.operation", "http.route", "db.system.name", "tenantry.fresh"} <= set(told)
    assert [name for name in told if f"`{name}`" not in page] == []


def test_every_page_is_in_the_index() -> None:
    """docs/README.md leads to each page, and docs/decisions/README.md to each decision."""
    for folder in (DOCS, DOCS / "decisions"):
        index = (folder / "README.md").read_text("utf-8")
        assert [
            page.name for page in folder.glob("*.md") if page.name != "README.md" and f"({page.name})" not in index
        ] == []


def test_a_decision_is_short() -> None:
    """It says what was decided and why in at most 150 words."""
    words = {each.name: len(each.read_text("utf-8").split()) for each in (DOCS / "decisions").glob("0*.md")}
    assert len(words) > 90
    assert {name: count for name, count in words.items() if count > 150} == {}


def test_links_lead_somewhere() -> None:
    """Each relative link of the README, CONTRIBUTING and docs/ names a file that is there."""

    readmes = [folder / "README.md" for folder in DISTRIBUTIONS.values()]
    for page in [*readmes, ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
