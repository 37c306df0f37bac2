"""The page of the editor, and its bundles."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry.dashboards.frame import POLICY
from tests.editor.served import served_editor


async def test_the_page_is_the_same_for_everybody_and_strict(tmp_path: Path) -> None:
    """Red when the policy is left out, or when the page needs an author, who could then not open a link."""
    async with served_editor(tmp_path) as site:
        page = await site.client.get("/editor/")
        site.author = None
        assert (await site.client.get("/editor/")).text == page.text
    policy = page.headers["content-security-policy"]
    assert policy == f"{POLICY}; frame-src 'self'; frame-ancestors 'none'"
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|\son\w+=|<script(?! type=\"module\" src)", page.text)
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-cache")
    assert 'content="/editor"' in page.text
    assert "tenantry-links" not in page.text


async def test_every_bundle_that_the_page_names_is_served(tmp_path: Path) -> None:
    """Red when page_routes builds fewer files than the page names."""
    async with served_editor(tmp_path) as site:
        page = (await site.client.get("/editor/")).text
        addresses = re.findall(r'(?:href|src|content)="(/editor/-/assets/[^"]+)"', page)
        assert len(addresses) > 5
        for address in addresses:
            assert (await site.client.get(address)).status_code == 200, address
        assert (await site.client.get("/editor/-/assets/other.js")).status_code == 404
