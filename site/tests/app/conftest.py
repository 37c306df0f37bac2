"""A small site in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CONFIG = {
    "name": "Acme",
    "colors": {"primary": "#2f5bd8"},
    "navigation": [{"group": "Start", "pages": ["index", "guides/start", "guides/deep/end"]}],
    "redirects": [
        {"source": "/old", "destination": "/guides/start"},
        {"source": "/was/here", "destination": "/guides/deep/end#more"},
        {"source": "/away", "destination": "https://elsewhere.example/there"},
        {"source": "/blog/:slug*", "destination": "/guides/:slug*"},
        {"source": "/evil", "destination": "javascript:alert(1)"},
    ],
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """The folder. Beside it lies what nobody may reach through the site."""
    folder = tmp_path / "docs"
    for inner in ("guides/deep", "images", ".git", "files"):
        (folder / inner).mkdir(parents=True)
    (tmp_path / "secret.md").write_text("SECRET")
    (tmp_path / "secret.png").write_text("SECRET")
    (folder / "site.json").write_text(json.dumps(CONFIG))
    (folder / "index.md").write_text("---\ntitle: Home\n---\n\nSee [the start](guides/start).\n")
    (folder / "guides" / "start.md").write_text(f"---\ntitle: Start\n---\n\n## First\n\n{'A paragraph. ' * 100}\n")
    (folder / "guides" / "deep" / "end.md").write_text("---\ntitle: End\n---\n\n## More\n\nThe end.\n")
    (folder / "images" / "a.png").write_bytes(b"\x89PNG" + bytes(100))
    (folder / "images" / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    (folder / "files" / "large.zip").write_bytes(bytes(range(256)) * 12_000)
    (folder / ".git" / "config").write_text("SECRET")
    (folder / "images" / "link.png").symlink_to(tmp_path / "secret.png")
    return folder
