"""A site that is being written: each change shows, and what is wrong is reported."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tenantry_site import site_app
from tenantry_site.app import cache
from tenantry_site.app.application import SiteApp
from tenantry_site.rendering import Site
from tests.app.conftest import CONFIG
from tests.app.wire import ask


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is looked at for each request."""
    monkeypatch.setattr(cache, "CHECK_SECONDS", 0)


async def version(app: Any, target: str) -> str:
    """The version that a page carries."""
    found = re.search(r'data-version="([^"]+)"', (await ask(app, target)).text)
    assert found is not None
    return found[1]


async def test_a_change_shows_and_changes_the_version(docs: Path) -> None:
    """The page's own, and nobody else's. Red when a page is drawn from what was read before."""
    app = site_app(docs, live=True)
    assert isinstance(app, SiteApp)
    before = await version(app, "/guides/start"), await version(app, "/guides/deep/end")
    assert await version(app, "/guides/start") == before[0] == await app._version("guides/start")
    (docs / "guides" / "start.md").write_text("---\ntitle: Start\n---\n\nIt is another text.\n")
    assert "another text" in (await ask(app, "/guides/start")).text
    after = await version(app, "/guides/start"), await version(app, "/guides/deep/end")
    assert after[0] != before[0]
    assert after[1] == before[1]
    assert await app._version("guides/start") == after[0]


async def test_only_what_changed_is_made_again(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when each request, or each save, makes the whole site."""
    yielded: list[list[str]] = []
    changed: list[Any] = []
    real = Site.update

    def update(self: Site, *given: Any) -> Any:
        yielded.append([])
        changed.append(given[1])
        for path, content in real(self, *given):
            yielded[-1].append(path)
            yield path, content

    monkeypatch.setattr(Site, "update", update)
    app = site_app(docs, live=True)
    for _ in range(3):
        await ask(app, "/guides/start")
    assert len(yielded) == 1
    (docs / "guides" / "start.md").write_text("---\ntitle: Start\n---\n\nIt is another text.\n")
    await ask(app, "/guides/start")
    assert changed == [None, {"guides/start.md"}]
    assert "guides/start.html" in yielded[1]
    assert "guides/deep/end.html" not in yielded[1]


async def test_pages_come_and_go(docs: Path) -> None:
    """And whoever waits at the address of a page that is not there yet is reported when it is."""
    app = site_app(docs, live=True)
    assert isinstance(app, SiteApp)
    absent = await version(app, "/guides/new")
    assert await app._version("guides/new") == absent
    (docs / "guides" / "new.md").write_text("# New\n")
    assert (await ask(app, "/guides/new")).status == 200
    assert await app._version("guides/new") != absent
    (docs / "guides" / "new.md").unlink()
    assert (await ask(app, "/guides/new")).status == 404
    assert (await ask(app, "/guides/new.md")).status == 404


async def test_a_picture_that_changes_is_shown_anew(docs: Path) -> None:
    app = site_app(docs, live=True)
    before = await version(app, "/")
    (docs / "images" / "a.png").write_bytes(b"other")
    assert await version(app, "/") != before
    assert (await ask(app, "/images/a.png")).body == b"other"


async def test_a_broken_configuration_leaves_the_site_and_is_reported(docs: Path) -> None:
    """What else changed meanwhile shows when it is mended. Red when a slip of the pen loses the page being written."""
    app = site_app(docs, live=True)
    await ask(app, "/")
    (docs / "site.json").write_text('{"name": "Acme", "navi')
    (docs / "guides" / "start.md").write_text("# Start\n\nIt is another text.\n")
    got = await ask(app, "/guides/start")
    assert got.status == 200
    assert 'class="author-notes"' in got.text
    assert "site.json" in got.text
    (docs / "site.json").write_text(json.dumps(CONFIG))
    got = await ask(app, "/guides/start")
    assert "another text" in got.text


async def test_a_site_that_never_was_reports_how_to_repair_it(docs: Path, tmp_path: Path) -> None:
    """And shows itself when it can. The path of the machine is in nothing that is reported."""
    (docs / "site.json").write_text('{"name": "<script>alert(1)</script>", ')
    app = site_app(docs, live=True)
    got = await ask(app, "/guides/start", root_path="/docs")
    assert got.status == 503
    assert "<script>alert" not in got.text
    assert 'src="../_reload.js"' in got.text
    assert str(tmp_path) not in got.text
    assert "default-src 'none'" in got.headers["content-security-policy"]
    (docs / "site.json").write_text(json.dumps(CONFIG))
    assert (await ask(app, "/guides/start")).status == 200


async def test_what_is_wrong_with_a_page_is_on_it(docs: Path) -> None:
    """With the file and the line, escaped. Readers of a site that is not live see nothing of it."""
    (docs / "index.md").write_text("one\n\n[x](nowhere<b>)\n")
    reported = (await ask(site_app(docs, live=True), "/")).text
    assert "1 of them on this page" in reported
    assert "index.md:3" in reported
    assert "nowhere<b>" not in reported
    quiet = (await ask(site_app(docs), "/")).text
    assert "author-notes" not in quiet
    assert "_reload" not in quiet


async def test_the_files_of_a_live_site(docs: Path) -> None:
    """Are there at any mount, and only then."""
    app = site_app(docs, live=True)
    for name, kind in {"_reload.js": "text/javascript", "_reload.css": "text/css", "_tokens.css": "text/css"}.items():
        got = await ask(app, f"/{name}", root_path="/docs")
        assert got.status == 200
        assert got.headers["content-type"].startswith(kind)
        assert (await ask(site_app(docs), f"/{name}")).status == 404
    page = (await ask(app, "/guides/deep/end")).text
    assert 'src="../../_reload.js" data-stream="../../_reload" data-page="guides/deep/end"' in page
    assert page.rstrip().endswith("</body>\n</html>")
    assert (await ask(app, "/_reload", "HEAD")).status == 404
