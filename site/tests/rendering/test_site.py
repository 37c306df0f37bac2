"""A site that is made again and again."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site import Severity, SiteOptions
from tenantry_site.rendering import Site
from tests.rendering.folders import DOCUMENT, folder, without

Files = dict[str, str | bytes]


def updated(site: Site, files: Files, changed: set[str] | None = None) -> set[str]:
    return {path for path, _ in site.update(files, changed)}


def fresh(files: Files) -> dict[str, bytes]:
    return dict(Site(incremental=False).update(files))


def test_one_edited_page_is_all_that_is_made_again() -> None:
    """With its Markdown and what of the search has its words. Red when another page is yielded."""
    site, files = Site(), folder()
    assert "guides/links.html" in updated(site, files)
    assert updated(site, files) == set()
    files["guides/start.mdx"] = str(files["guides/start.mdx"]) + "\nA zebra on board.\n"
    made = updated(site, files, {"guides/start.mdx"})
    assert {path for path in made if not path.startswith("search/")} == {
        "guides/start.html",
        "guides/start.md",
        "llms-full.txt",
    }
    assert any(path.startswith("search/words.") for path in made)
    assert {path.partition(".")[0] for path in site.removed} <= {"search/words", "search/parts"}


def test_only_that_page_is_read_and_framed() -> None:
    """Red when an update reads or draws what did not change."""

    class Counted(dict[str, str | bytes]):
        read: list[str]

        def __getitem__(self, path: str) -> str | bytes:
            self.read.append(path)
            return super().__getitem__(path)

    site, files = Site(), Counted(folder())
    files.read = []
    updated(site, files)
    assert not {"logo.svg", "README.md"} & set(files.read) - {"README.md"}
    before = {path: rendered.page for path, rendered in site._pages._rendered.items()}
    files["hidden.md"] = "# Not listed\n\nOther cargo.\n"
    files.read = []
    updated(site, files, {"hidden.md"})
    assert set(files.read) <= {"site.json", "hidden.md"}
    after = {path: rendered.page for path, rendered in site._pages._rendered.items()}
    assert [path for path in after if after[path] is not before[path]] == ["hidden"]


def test_a_new_title_shows_on_other_pages() -> None:
    """Red when a frame is kept that shows the old one."""
    site, files = Site(), folder()
    updated(site, files)
    files["guides/start.mdx"] = "---\ntitle: Cast off\n---\nText.\n"
    pages = dict(site.update(files))
    assert b"Cast off" in pages["guides/links.html"]


def test_a_page_that_appears_repairs_a_link() -> None:
    """Red when the diagnostics of pages that did not change are lost or kept too long."""
    site, files = Site(), folder(**{"hidden.md": "# H\n\n[New](/new)\n"})
    updated(site, files)
    assert [reported.code for reported in site.diagnostics if reported.severity is Severity.WARNING] == ["LINK001"]
    files["new.md"] = "# New\n"
    assert {"new.html", "new.md"} <= updated(site, files)
    assert [reported for reported in site.diagnostics if reported.severity is Severity.WARNING] == []
    del files["new.md"]
    updated(site, files)
    assert {"new.html", "new.md"} <= site.removed
    assert [reported.code for reported in site.diagnostics if reported.severity is Severity.WARNING] == ["LINK001"]


def test_a_snippet_and_a_document_change_the_pages_that_show_them() -> None:
    """Red when only the sources of pages are watched."""
    files = folder(
        {"openapi": "openapi.json"},
        **{
            "openapi.json": DOCUMENT,
            "hidden.md": '# H\n\n<Snippet file="shared.mdx" />\n',
            "a.md": "---\nopenapi: GET /users\n---\n",
        },
    )
    site = Site()
    updated(site, files)
    files["_snippets/shared.mdx"] = "Changed words.\n"
    assert "hidden.html" in updated(site, files, {"_snippets/shared.mdx"})
    files["openapi.json"] = DOCUMENT.replace("Fine.", "Excellent.")
    pages = dict(site.update(files, {"openapi.json"}))
    assert b"Excellent." in pages["a.html"]


def test_a_broken_configuration_takes_nothing_away() -> None:
    """While it is being written: what was made stays. Red when everything is made again, or removed."""
    site, files = Site(), folder()
    updated(site, files)
    good = files["site.json"]
    files["site.json"] = "{"
    assert updated(site, files) == set()
    assert (site.config, site.removed) == (None, frozenset())
    assert "CFG011" in [reported.code for reported in site.diagnostics]
    files["site.json"] = good
    assert updated(site, files) == set()
    assert site.config is not None


def test_without_a_memory_everything_is_yielded() -> None:
    """And no page is kept, nor its text. Red when a build holds all its pages, or a second update leaves some out."""
    site, files = Site(incremental=False), folder()
    assert updated(site, files) == site.outputs
    assert all(rendered.page is None for rendered in site._pages._rendered.values())
    assert all(
        rendered.source_page.text is None for rendered in site._pages._rendered.values() if rendered.source_page.source
    )
    files["guides/start.mdx"] = str(files["guides/start.mdx"]) + "\nA zebra on board.\n"
    assert dict(site.update(files)) == fresh(files)


def test_what_else_it_knows() -> None:
    """Redirects, the page for what is not there, and the source of a page, for who serves it."""
    site = Site(SiteOptions())
    assert (site.redirect("x"), site.not_found("/"), site.source("index")) == (None, "", "")
    updated(site, folder({"redirects": [{"source": "/old/:a*", "destination": "/guides/:a*"}]}))
    moved = site.redirect("old/start")
    assert moved is not None
    assert moved.path == "guides/start"
    assert 'href="../../index.html"' in site.not_found("../../")
    assert site.source("guides/start") == "guides/start.mdx"
    assert site.assets == {"logo.svg"}


TEXTS = [
    "# One\n",
    "---\ntitle: Two\n---\n[x](/a#one) zebra\n",
    "## One\n\n[x](b)\n",
    "---\nnoindex: true\n---\ngnu\n",
    None,
]
EDITS = st.lists(
    st.tuples(st.sampled_from(["a.md", "b.mdx", "index.md", "c/d.md"]), st.sampled_from(TEXTS)), max_size=5
)


@given(EDITS, st.booleans())
@settings(max_examples=examples(25), deadline=None)
def test_what_was_updated_is_as_what_is_new(edits: list[tuple[str, str | None]], named: bool) -> None:
    """Whatever is edited, added and removed. Red when something is kept that has changed."""
    site, files = Site(), folder({"navigation": [{"group": "G", "pages": ["index", "a", "b"]}]})
    shown = dict(site.update(files))
    for path, text in edits:
        files = without(files, path) if text is None else files | {path: text}
        shown |= dict(site.update(files, {path} if named else None))
        shown = {path: content for path, content in shown.items() if path not in site.removed}
    assert shown == fresh(files)
    assert json.dumps(sorted(shown)) == json.dumps(sorted(site.outputs))
