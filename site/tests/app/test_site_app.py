"""A site over HTTP: alone and mounted, for readers who are friendly and for those who are not."""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tenantry_site import SiteOptions, site_app, site_routes
from tenantry_site.app import cache
from tenantry_site.building import scan
from tenantry_site.rendering import Site
from tests.app.wire import Got, ask


async def test_each_address_of_a_page(docs: Path) -> None:
    """With and without its suffix, as Markdown, and with a slash too many."""
    app = site_app(docs)
    page = await ask(app, "/guides/start")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<h1" in page.text
    assert (await ask(app, "/guides/start.html")).body == page.body
    assert "Home" in (await ask(app, "/")).text
    source = await ask(app, "/guides/start.md")
    assert (source.headers["content-type"], source.text[:7]) == ("text/markdown; charset=utf-8", "# Start")
    slash = await ask(app, "/guides/start/?a=b")
    assert (slash.status, slash.headers["location"]) == (308, "../../guides/start?a=b")
    mount = await ask(app, "", root_path="/outer/docs")
    assert (mount.status, urljoin("http://host/outer/docs", mount.headers["location"])) == (
        308,
        "http://host/outer/docs/",
    )
    picture = await ask(app, "/images/a.png")
    assert (picture.headers["content-type"], len(picture.body)) == ("image/png", 104)
    large = await ask(app, "/files/large.zip")
    assert large.body == (docs / "files" / "large.zip").read_bytes()
    again = await ask(app, "/files/large.zip", headers={"If-None-Match": large.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert (await ask(app, "/files/large.zip", "HEAD")).body == b""


async def test_every_link_of_every_page_is_answered(docs: Path) -> None:
    """Below a mount, from the site's address on. Red when a redirect or a link forgets the mount."""
    app = site_app(docs)
    seen: dict[str, int] = {}
    waiting = ["http://host/docs/"]
    while waiting:
        url = waiting.pop()
        got = await ask(app, url.removeprefix("http://host/docs"), root_path="/docs")
        seen[url] = got.status
        if got.status == 308:
            waiting.append(urljoin(url, got.headers["location"]))
        if got.headers["content-type"].startswith("text/html"):
            waiting += [link for link in _links(url, got) if link not in seen and link not in waiting]
    assert all(url.startswith("http://host/docs/") for url in seen)
    assert [url for url, status in seen.items() if status != 200] == []
    assert len(seen) > 6


def _links(url: str, got: Got) -> list[str]:
    found = [urljoin(url, link).partition("#")[0] for link in re.findall(r'(?:href|src)="([^"#][^"]*)"', got.text)]
    return [link for link in found if link.startswith("http://host/")]


@pytest.mark.parametrize("target", ["/nowhere", "/guides/nowhere", "/a/b/c/d", "/a/b/", "/guides/start.md/x"])
async def test_the_page_for_nothing_has_links_that_work(docs: Path, target: str) -> None:
    """At any depth, with the status of an error. Red when its links begin at the address that was asked for."""
    app = site_app(docs)
    got = await ask(app, target, root_path="/docs")
    assert got.status == 404
    links = _links(f"http://host/docs{target}", got)
    assert any(link.endswith(".css") for link in links)
    for link in links:
        assert link.startswith("http://host/docs/")
        assert (await ask(app, link.removeprefix("http://host/docs"), root_path="/docs")).status == 200, link


async def test_a_program_gets_markdown_where_a_browser_gets_the_page(docs: Path) -> None:
    """At the same address, which caches are told. Red when the header is not read."""
    app = site_app(docs)
    for target in ("/guides/start", "/guides/start.html", "/"):
        page = await ask(app, target, headers={"Accept": "text/html,*/*;q=0.8"})
        text = await ask(app, target, headers={"Accept": "text/markdown, text/html, */*"})
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert text.headers["content-type"] == "text/markdown; charset=utf-8"
        assert text.text.startswith("# ")
        assert page.headers["vary"] == text.headers["vary"] == "accept, accept-encoding"
    assert (await ask(app, "/nowhere", headers={"Accept": "text/markdown"})).status == 404
    assert "# Start" in (await ask(app, "/llms-full.txt")).text


async def test_an_address_of_any_depth_costs_little(docs: Path) -> None:
    """Red when what is drawn for each depth is kept for ever."""
    got = await ask(site_app(docs), "/" + "a/" * 5_000)
    assert (got.status, len(got.body) < 100) == (404, True)


async def test_redirects_are_real_and_lead_where_their_author_wrote(docs: Path) -> None:
    """A request cannot make one lead to another host. Red when what stands for :slug* is written as it comes."""
    app = site_app(docs)
    leads = {
        "/old": "./guides/start",
        "/old/": "../guides/start",
        "/old.html": "./guides/start",
        "/was/here?q=1": "../guides/deep/end?q=1#more",
        "/away": "https://elsewhere.example/there",
        "/blog/start": "../guides/start",
    }
    for target, location in leads.items():
        got = await ask(app, target, root_path="/docs")
        assert (target, got.status, got.headers.get("location")) == (target, 308, location)
    assert (await ask(app, "/evil")).status == 404
    for evil in ("//evil.example", "/blog//evil.example", "/blog/https://evil.example", "/blog/%5c%5cevil.example/",
                 "/blog/%0d%0aSet-Cookie:%20a=b", "//evil.example/guides/start/", "/blog/..//..//evil.example",
                 "/%2f%2fevil.example/%2e%2e/"):  # fmt: skip
        got = await ask(app, evil, root_path="/docs")
        location = got.headers.get("location", "./")
        assert urljoin(f"http://host/docs{evil}", location).startswith("http://host/"), (evil, location)
        assert location.startswith(("./", "../"))
        assert "\\" not in location
        assert location.isprintable()


TRICKS = [
    "/../secret.md", "/..%2fsecret.md", "/%2e%2e/secret.md", "/%2e%2e%2fsecret.md", "/%252e%252e/secret.md",
    "/guides/../../secret.md", "/guides/%2e%2e/%2e%2e/secret.md", "/..\\secret.md", "/..%5csecret.md",
    "/guides\\..\\..\\secret.md", "//secret.md", "/./../secret.md", "/%00/../secret.md", "/secret.md%00.html",
    "/....//secret.md", "/..;/secret.md", "/.git/config", "/%2egit/config", "/.git/config.html", "/site.json",
    "/images/link.png", "/images/../../secret.png", "/images/%2e%2e/%2e%2e/secret.png", "/C:/secret.md",
    "/file:///etc/passwd", "/etc/passwd", "//etc/passwd", "/%2fetc/passwd", "/guides/start.md/../../../secret.md",
    "/\u2025/secret.md", "/%c0%ae%c0%ae/secret.md", "/%ff", "/assets/../../secret.md", "/_reload", "/_relay",
]  # fmt: skip


@pytest.mark.parametrize("root_path", ["", "/docs"])
async def test_no_spelling_reaches_outside(docs: Path, root_path: str) -> None:
    """Everything is looked up, nothing is joined. Red when a path is put together with the folder."""
    app = site_app(docs)
    (docs / "images" / "b.png").write_bytes(b"x")
    for trick in TRICKS:
        got = await ask(app, trick, root_path=root_path)
        assert got.status == 404, (trick, got.status)
        assert b"SECRET" not in got.body
        assert str(docs.parent) not in got.text


async def test_what_is_put_in_the_way_later_is_not_followed(docs: Path, tmp_path: Path) -> None:
    """Red when a picture is opened by its path alone: its folder became a link after the site was made."""
    app = site_app(docs)
    assert (await ask(app, "/images/a.png")).status == 200
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.png").write_text("SECRET")
    (docs / "images").rename(docs / "moved")
    (docs / "images").symlink_to(tmp_path / "other")
    assert (await ask(app, "/images/a.png")).status == 404


async def test_only_reading_is_allowed(docs: Path) -> None:
    app = site_app(docs)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        got = await ask(app, "/guides/start", method)
        assert (got.status, got.headers["allow"]) == (405, "GET, HEAD")
    head, get = await ask(app, "/guides/start", "HEAD"), await ask(app, "/guides/start")
    assert (head.status, head.body) == (200, b"")
    assert head.headers == get.headers


async def test_browsers_get_cache_headers(docs: Path) -> None:
    """Pages are asked after each time, files with a hash in their name never. Red when a release shows old styles."""
    app = site_app(docs)
    page = await ask(app, "/guides/start", headers={"Accept-Encoding": "gzip"})
    assert page.headers["cache-control"] == "no-cache"
    assert "First" in gzip.decompress(page.body).decode()
    again = await ask(app, "/guides/start", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    sheet = re.search(r'href="(assets/site\.[^"]+\.css)"', (await ask(app, "/")).text)
    assert sheet is not None
    assert "immutable" in (await ask(app, f"/{sheet[1]}")).headers["cache-control"]
    assert (await ask(app, "/images/a.png")).headers["cache-control"] == "no-cache"


async def test_every_answer_has_a_policy(docs: Path) -> None:
    """Red when an error or a picture goes out without its policy."""
    app = site_app(docs)
    for target in ("/", "/nowhere", "/images/a.png", "/old", "/guides/start.md", "/" + "a/" * 40):
        got = await ask(app, target)
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["referrer-policy"] == "same-origin"
        assert "default-src 'none'" in got.headers["content-security-policy"], target
        assert "unsafe" not in got.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in (await ask(app, "/")).headers["content-security-policy"]
    picture = await ask(app, "/images/a.svg")
    assert "sandbox" in picture.headers["content-security-policy"]
    assert (await ask(app, "/", "POST")).headers["x-content-type-options"] == "nosniff"


async def test_the_site_is_made_once_and_off_the_loop(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask at once. Red when each of the first readers makes it, or when all others stand still."""
    made: list[str] = []
    scanned: list[object] = []
    real = Site.update
    monkeypatch.setattr(cache, "scan", lambda folder: scanned.append(folder) or scan(folder))

    goes_on = threading.Event()

    def update(self: Site, *given: Any) -> Any:
        made.append(threading.current_thread().name)
        if not goes_on.wait(20):
            goes_on.set()  # the next ones need not wait
            raise AssertionError("the loop stands still")
        return real(self, *given)

    monkeypatch.setattr(Site, "update", update)
    app = site_app(docs)
    assert made == []  # mounting costs nothing

    async def beat() -> None:
        while not made:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # who else would make it has had its turn
        goes_on.set()

    *answers, _ = await asyncio.gather(*(ask(app, "/guides/start") for _ in range(20)), beat())
    assert {got.status for got in answers} == {200}
    assert len(made) == len(scanned) == 1
    assert made[0] != threading.current_thread().name


async def test_a_site_that_cannot_be_made_shows_nothing_to_readers(docs: Path) -> None:
    """Red when a reader sees the author's mistakes, or where the files are."""
    (docs / "site.json").write_text("{ broken")
    got = await ask(site_app(docs), "/")
    assert (got.status, got.text) == (503, "This site cannot be shown now.\n")


async def test_an_error_of_ours_is_tried_again(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when one failure is kept, or half of an update is gone on from."""
    real = Site.update
    fails = [True]

    def update(self: Site, *given: Any) -> Any:
        for piece in real(self, *given):
            if fails:
                fails.clear()
                raise MemoryError
            yield piece

    monkeypatch.setattr(Site, "update", update)
    app = site_app(docs, live=True)
    with pytest.raises(MemoryError):
        await ask(app, "/")
    assert (await ask(app, "/")).status == 200


async def test_the_relay_has_its_path_and_nobody_else_may_write(docs: Path) -> None:
    async def relay(scope: Any, receive: Any, send: Any) -> None:
        await JSONResponse({"relayed": scope["method"]})(scope, receive, send)

    app = site_app(docs, relay=relay)
    assert (await ask(app, "/_relay", "POST", root_path="/docs")).text == '{"relayed":"POST"}'
    assert (await ask(app, "/_relay/x", "POST")).status == 405
    assert (await ask(site_app(docs), "/_relay", "POST")).status == 405


async def test_api_pages_know_the_relay(docs: Path) -> None:
    """Red when the playground does not get the address of the relay, or gets one without a relay."""

    async def relay(scope: Any, receive: Any, send: Any) -> None:
        await JSONResponse({})(scope, receive, send)

    (docs / "guides" / "api.md").write_text('---\ntitle: A\napi: "GET https://api.example.com/x"\n---\n')
    assert "../_relay" in (await ask(site_app(docs, relay=relay), "/guides/api")).text
    assert "_relay" not in (await ask(site_app(docs), "/guides/api")).text


@pytest.mark.parametrize("frame", [Starlette, FastAPI])
def test_it_is_mounted_anywhere(docs: Path, frame: Any) -> None:
    """In both frameworks, below a path, with the framework's own routes beside it."""
    app = frame(routes=[Mount("/outer", Starlette(routes=[Mount("/docs", site_app(docs))]))])
    if isinstance(app, FastAPI):
        app.mount("/more", site_app(docs, options=SiteOptions()))
    with TestClient(app) as client:
        assert client.get("/outer/docs").url.path == "/outer/docs/"
        assert client.get("/outer/docs/guides/start/").url.path == "/outer/docs/guides/start"
        assert client.get("/outer/docs/old").url.path == "/outer/docs/guides/start"
        assert client.get("/outer/docs/nowhere").status_code == 404
        if isinstance(app, FastAPI):
            assert client.get("/more/guides/start").status_code == 200
            assert client.get("/more").url.path == "/more/"


@pytest.mark.parametrize("prefix", ["/docs", "/docs/", "/a/deep/prefix", "/docs/v1.2"])
@pytest.mark.parametrize("around", ["", "/outer"])
def test_every_prefix_leads_to_the_site_without_its_slash(docs: Path, prefix: str, around: str) -> None:
    """Beside a mount that takes everything else, and within another app. Red with ``Mount`` in place of its routes."""
    inner = Starlette(routes=[*site_routes(prefix, site_app(docs)), Mount("/", _teapot)])
    app = Starlette(routes=[Mount(around, inner)]) if around else inner
    bare = around + prefix.rstrip("/")
    with TestClient(app) as client:
        moved = client.get(f"{bare}?a=b", follow_redirects=False)
        assert (moved.status_code, moved.headers["location"]) == (308, f"./{bare.rpartition('/')[2]}/?a=b")
        for address in (bare, f"{bare}/"):
            assert client.get(address).url.path == f"{bare}/"
            assert client.get(address).status_code == 200
        assert client.get(f"{bare}/guides/start").status_code == 200
        assert client.head(bare).status_code == 200
        assert client.post(bare).status_code == 405
        assert client.get(f"{bare}x").status_code == client.get(f"{around}/other").status_code == 418


async def _teapot(scope: Any, receive: Any, send: Any) -> None:
    await JSONResponse({}, 418)(scope, receive, send)


@pytest.mark.parametrize("prefix", ["", "/", "docs"])
def test_the_root_is_no_prefix(docs: Path, prefix: str) -> None:
    with pytest.raises(ValueError, match="Mount"):
        site_routes(prefix, site_app(docs))


def test_it_works_alone(docs: Path) -> None:
    """With the messages of a server that starts and stops, and for a websocket that nobody expects."""
    with TestClient(site_app(docs)) as client:
        assert client.get("/").status_code == 200
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/"):
            pass


async def test_files_of_one_size_and_time_are_two_files(docs: Path) -> None:
    """Copies, images of containers and archives give all files one time. Red when what was packed of one is sent for
    another of the same size."""
    for name in "ab":
        (docs / "files" / f"{name}.txt").write_text(name * 2000)
        os.utime(docs / "files" / f"{name}.txt", (0, 0))
    app = site_app(docs)
    first, second = [await ask(app, f"/files/{name}.txt", headers={"accept-encoding": "gzip"}) for name in "ab"]
    assert gzip.decompress(first.body) == b"a" * 2000
    assert gzip.decompress(second.body) == b"b" * 2000
