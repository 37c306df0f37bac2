"""Real pages: the two whole sites, and this repository's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from engines.corpus import SITES, needs_corpus
from tenantry_site.addresses import Addresses, page_path
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.markdown import CODES, PageReader
from tests.markdown.safety import wrong

ROOT = Path(__file__).parents[3]
FOLDERS = [ROOT / "docs", *SITES]


@cache
def read_all(folder: Path) -> tuple[Diagnostic, ...]:
    files = [each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()]
    pages = [each for each in files if each.endswith((".md", ".mdx"))]
    snippets = {each: (folder / each).read_text("utf-8") for each in pages if "snippets/" in each}
    reader = PageReader(Addresses([page_path(each) or "" for each in pages], files), snippets)
    reported: list[Diagnostic] = []
    for each in pages:
        page = reader.read(each, (folder / each).read_text("utf-8"))
        assert wrong(page.html) == [], each
        assert page.title
        assert "<h1" not in page.html
        reported += page.diagnostics
    return tuple(reported)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_whole_folder(folder: Path) -> None:
    """Red when a real page raises, breaks out, or is wrongly spoken of."""
    reported = read_all(folder)
    assert not [each for each in reported if each.severity is Severity.ERROR]
    unclear = [
        each for each in reported if each.code in ("PAGE001", "PAGE004", "PAGE005", "PAGE016", "PAGE018", "PAGE020")
    ]
    assert unclear == []


@needs_corpus
def test_what_the_sites_really_lack() -> None:
    """Red when the reader sees mistakes that are none, or overlooks those that are some."""
    reported = {
        (each.path, each.code) for folder in SITES for each in read_all(folder) if each.severity is not Severity.INFO
    }
    assert reported == {
        ("api-reference/reporting/get-campaign-summary.mdx", "PAGE010"),
        ("mintlify/introduction.mdx", "PAGE010"),
        ("mintlify/migration/overview.mdx", "PAGE010"),
        ("mintlify/quickstart/first-campaign.mdx", "PAGE006"),
    }


def test_codes_are_explained() -> None:
    """Red when the docs do not list a code, or list one that is never given."""
    listed = (ROOT / "docs" / "site-diagnostics.md").read_text("utf-8")
    sources = "".join(each.read_text("utf-8") for each in (ROOT / "site/src/tenantry_site/markdown").glob("*.py"))
    for code, meaning in CODES.items():
        assert f"`{code}`" in listed, code
        assert meaning.endswith(".")
        assert sources.count(f'"{code}"') >= 2, f"{code} is never given"
