"""The frame of a dashboard, the browser files, and where they are mounted."""

from __future__ import annotations

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette

from tenantry import DashboardFolder, DataSources, mount_dashboards
from tenantry.dashboards import assets
from tenantry.dashboards.frame import FURTHER
from tenantry.errors import InvalidDashboards, InvalidSettings
from tenantry.resolver import Resolver
from tests.dashboards import mounts
from tests.dashboards.served import write_files
from tests.datasources.conftest import Directory
from tests.resolver.fake import KEYS, FakeBackend

pytestmark = pytest.mark.usefixtures("mount")

FILES = {
    "dashboards/sales.yaml": "title: Sales & more\nrows: [[{figure: a, query: {sql: select 1 as a}}]]\n",
    "dashboards/eu/regions.yaml": "title: Of {{ region }}\nrows: [{heading: A}, {table: {sql: select 1 as a}}]\n",
}


@pytest.fixture
def bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with built bundles whose content differs from the real ones."""
    folder = tmp_path / "static" / "bundles"
    folder.mkdir(parents=True)
    (folder / "page.js").write_text("let page;" * 100)
    (folder / "page.js.br").write_bytes(b"packed by brotli")
    (folder / "page.js.gz").write_bytes(gzip.compress(b"let page;" * 100))
    (folder / "page.css").write_text("body {}")
    for name in FURTHER:
        (folder / name).write_text(f"let {name.removesuffix('.js')};")
    monkeypatch.setattr(assets, "files", lambda package: tmp_path)
    return folder


def client(app: Any, root_path: str = "") -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app, root_path=root_path)
    prefix = "" if root_path else mounts.current.prefix
    return httpx2.AsyncClient(transport=transport, base_url=f"http://testserver{prefix}")


def mounted(folder: Path, app: Any = None, **options: Any) -> Any:
    """``app`` with the dashboards; without ``app``, one in the mount of the test."""
    write_files(folder, FILES)
    resolver = Resolver(FakeBackend(), keys=KEYS)

    def mount_on(app: Any) -> Any:
        mount_dashboards(app, folder / "dashboards", resolver, DataSources(Directory()), **options)
        return app

    return mounts.current.build(resolver, mount_on) if app is None else mount_on(app)


@pytest.fixture
async def http(tmp_path: Path, bundles: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(mounted(tmp_path, frame_ancestors=["https://app.example.com", "http://localhost:3000"])) as each:
        yield each


async def test_a_frame_is_the_same_for_everybody(http: httpx2.AsyncClient) -> None:
    """It names the dashboard, the hosts and the mount, and contains no token and no variable of a group. Red when the
    title of the file is written unchanged."""
    page = await http.get("/dashboards/sales")
    assert page.status_code == 200
    assert "<title>Sales &amp; more</title>" in page.text
    assert '<div id="dashboard" data-name="sales">' in page.text
    assert '<meta name="tenantry-hosts" content="https://app.example.com http://localhost:3000">' in page.text
    assert f'<meta name="tenantry-mount" content="{mounts.current.prefix}/dashboards">' in page.text
    place = '<div class="skeleton-panel" data-id="1-1" data-kind="figure" data-width="0">'
    assert f'<div class="skeleton-row">{place}' in page.text
    other = (await http.get("/dashboards/eu/regions")).text
    assert "<title>Regions</title>" in other
    assert "{{" not in other
    assert 'data-name="eu/regions"' in other


async def test_a_frame_loads_the_script_of_its_charts_at_once(tmp_path: Path, bundles: Path) -> None:
    """It names the address of each bundle, and preloads those of the kinds on the page, each once. Red when nothing is
    preloaded: the browser would find out about the script of a donut when its rows come."""
    several = ", ".join(f"{{{kind}: n, by: a, query: {{sql: 'select 1 as n, 2 as a'}}}}" for kind in ("donut", "line"))
    text = f"title: Shares\nrows: [[{several}], [{several}]]\n"
    write_files(tmp_path, {"dashboards/shares.yaml": text})
    async with client(mounted(tmp_path)) as http:
        page = (await http.get("/dashboards/shares")).text
        files = dict(re.findall(r'<meta name="tenantry-file" data-file="([^"]+)" content="([^"]+)">', page))
        assert [*files] == [*FURTHER]
        assert re.findall(r'<link rel="modulepreload" href="([^"]+)">', page) == [files["donut.js"]]
        for name, address in files.items():
            assert (await http.get(f"http://testserver{address}")).text == f"let {name.removesuffix('.js')};"
        assert "modulepreload" not in (await http.get("/dashboards/sales")).text


async def test_a_frame_obeys_a_strict_policy(http: httpx2.AsyncClient) -> None:
    """Nothing from other hosts, no inline script or style; only the named hosts may embed it. Red when a part is
    missing."""
    page = await http.get("/dashboards/sales")
    policy = page.headers["content-security-policy"].split("; ")
    assert "default-src 'self'" in policy
    assert "connect-src 'self'" in policy
    assert "object-src 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "trusted-types 'none'" in policy
    assert "frame-ancestors https://app.example.com http://localhost:3000" in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "style=" not in page.text
    assert page.text.count("<script") == 1


async def test_nobody_may_embed_a_frame_by_default(tmp_path: Path, bundles: Path) -> None:
    """Red when the default is another."""
    async with client(mounted(tmp_path)) as http:
        page = await http.get("/dashboards/sales")
    assert page.headers["content-security-policy"].endswith("frame-ancestors 'none'")
    assert '<meta name="tenantry-hosts" content="">' in page.text


async def test_browser_files_may_be_kept_for_ever(http: httpx2.AsyncClient, bundles: Path) -> None:
    """Their address has a hash of their content. Each built coding is sent, and nothing is compressed here. Red when
    the address is only the name: a browser would run the old script with the new server."""
    page = (await http.get("/dashboards/sales")).text
    address = page.partition('src="')[2].partition('"')[0]
    assert address.startswith(f"{mounts.current.prefix}/dashboards/-/assets/page.")
    address = f"http://testserver{address}"
    plain = await http.get(address, headers={"Accept-Encoding": "identity"})
    assert plain.text == "let page;" * 100
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    packed = await http.get(address, headers={"Accept-Encoding": "gzip, deflate"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    async with http.stream("GET", address, headers={"Accept-Encoding": "br;q=1.0, gzip"}) as smallest:
        assert smallest.headers["content-encoding"] == "br"
        assert [part async for part in smallest.aiter_raw()] == [b"packed by brotli"]
    (bundles / "page.js").write_text("let other;")
    assert assets.BuiltFiles(["page.js"]).address("page.js") != address.rpartition("/")[2]
    plain = assets.HashedFile("a.js", b"a", {}).response("br, gzip")
    assert (plain.body, plain.headers.get("content-encoding")) == (b"a", None)


async def test_an_unknown_dashboard_is_a_page_that_tells_its_host(http: httpx2.AsyncClient) -> None:
    """With the headers of every frame, so that a host may embed it. Red when it is a text: the element waited."""
    answer, known = [await http.get(f"/dashboards/{name}") for name in ("sales/nothing", "sales")]
    assert answer.status_code == 404
    assert 'data-name="sales/nothing"' in answer.text
    assert answer.headers["content-security-policy"] == known.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path", ["-/assets/page.js", "-/assets/page.0000000000000000.js", "favicon.ico", "sales/-/panels"]
)
async def test_what_is_not_there_is_plainly_not_there(http: httpx2.AsyncClient, path: str) -> None:
    """Plain text, without data of a group."""
    answer = await http.get(f"/dashboards/{path}")
    assert answer.status_code in (404, 405)
    assert answer.headers["content-type"].startswith("text/plain")


async def test_without_bundles_a_frame_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data routes work even in a clone without node."""
    monkeypatch.setattr(assets, "files", lambda package: tmp_path)
    async with client(mounted(tmp_path)) as http:
        page = await http.get("/dashboards/sales")
        assert (page.status_code, "python hatch_build.py" in page.text) == (503, True)
        assert (await http.post("/dashboards/sales/-/panels", json={})).status_code == 401


async def test_it_is_mounted_in_fastapi_below_any_path(tmp_path: Path, bundles: Path) -> None:
    """Addresses follow the mount, and the prefix that a proxy removed (root_path)."""
    app = mounted(tmp_path, FastAPI(), path="/show")
    async with client(app, "/behind") as http:
        page = await http.get("/behind/show/sales")
        assert '<meta name="tenantry-mount" content="/behind/show">' in page.text
        address = page.text.partition('src="')[2].partition('"')[0]
        assert (await http.get(address)).status_code == 200


def test_mistakes_are_found_when_it_is_mounted(tmp_path: Path) -> None:
    """An invalid file, path or host."""
    write_files(tmp_path, FILES | {"dashboards/wrong.yaml": "title: 1\n"})
    given = (Resolver(FakeBackend(), keys=KEYS), DataSources(Directory()))
    with pytest.raises(InvalidDashboards, match=r"wrong\.yaml:1:8"):
        mount_dashboards(Starlette(), str(tmp_path / "dashboards"), *given)
    (tmp_path / "dashboards" / "wrong.yaml").unlink()
    folder = DashboardFolder(tmp_path / "dashboards")
    with pytest.raises(InvalidSettings, match="must begin with /"):
        mount_dashboards(Starlette(), folder, *given, path="show/")
    with pytest.raises(InvalidSettings, match="is not an origin"):
        mount_dashboards(Starlette(), folder, *given, frame_ancestors=["*"])
