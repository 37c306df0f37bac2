"""The reference page names every field, every code and what the schemas express."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry_site.config.diagnostics import CODE_TABLE
from tenantry_site.config.object_validator import object_validators
from tenantry_site.config.social_accounts import NEWER_SOCIALS, SOCIALS

PAGE = (Path(__file__).parents[3] / "docs" / "site-configuration.md").read_text("utf-8")
SOURCES = Path(__file__).parents[3] / "site" / "src" / "tenantry_site"


def test_every_field_is_documented() -> None:
    """Red when a field of the model is not on the page."""
    names = {key for validator in object_validators() for key in validator.fields}
    assert {name for name in names if not re.search(rf"[`.]{name}\b", PAGE)} == set()
    assert {name for name in (*SOCIALS, *NEWER_SOCIALS) if name not in PAGE} == set()


def test_every_code_is_documented() -> None:
    """Red when a code is not on the page, or the page names one that is none."""
    named = set(re.findall(r"CFG\d\d\d", PAGE))
    ranges = re.findall(r"CFG(\d\d\d) to CFG(\d\d\d)", PAGE)
    named |= {f"CFG{number:03}" for first, last in ranges for number in range(int(first), int(last) + 1)}
    assert named == set(CODE_TABLE)


def test_what_schemas_express_is_documented() -> None:
    """Red when the page names other codes as those of the schemas than the table of codes does."""
    section = PAGE.split("## JSON Schemas")[1].split("## Reports")[0]
    named = set(re.findall(r"CFG\d\d\d", section))
    for first, last in re.findall(r"CFG(\d\d\d) to CFG(\d\d\d)", section):
        named |= {f"CFG{number:03}" for number in range(int(first), int(last) + 1)}
    assert named == {code for code, entry in CODE_TABLE.items() if entry.in_schema}


def test_every_code_is_used() -> None:
    """Red when a code is in the table and nothing says it, or the other way round."""
    files = [path for path in [*(SOURCES / "config").rglob("*.py"), SOURCES / "loading.py"] if path.name != "codes.py"]
    used = {code for path in files for code in re.findall(r'"(CFG\d\d\d)"', path.read_text("utf-8"))}
    assert used == set(CODE_TABLE)
