"""The address of a folder at its code host, from the files that git keeps. No test needs git."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry_site import SiteOptions, build
from tenantry_site.building.git_remote import remote_address


def repository(root: Path, url: str, *, name: str = "origin", default: str = "", current: str = "") -> Path:
    """A working tree with one remote, and the folder ``docs`` in it."""
    git = root / ".git"
    (git / "refs" / "remotes" / name).mkdir(parents=True)
    (git / "config").write_text(
        f'[core]\n\tbare = false\n[remote "{name}"]\n\tfetch = +refs/heads/*:refs/remotes/{name}/*\n\turl = {url}\n'
        '[branch "work"]\n\turl = https://wrong.example/x/y\n'
    )
    if default:
        (git / "refs" / "remotes" / name / "HEAD").write_text(f"ref: refs/remotes/{name}/{default}\n")
    (git / "HEAD").write_text(f"ref: refs/heads/{current}\n" if current else "0123abc\n")
    (root / "docs").mkdir()
    return root / "docs"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://github.com/acme/things.git", "https://github.com/acme/things/tree/main/docs"),
        ("https://me:s3cret@github.com/acme/things", "https://github.com/acme/things/tree/main/docs"),
        ("git@github.com:acme/things.git", "https://github.com/acme/things/tree/main/docs"),
        ("ssh://git@gitlab.example.com:2222/a/b/things.git", "https://gitlab.example.com/a/b/things/-/tree/main/docs"),
        ("https://codeberg.org/acme/things", "https://codeberg.org/acme/things/src/branch/main/docs"),
        ("https://github.example.com:8443/acme/things", "https://github.example.com:8443/acme/things/tree/main/docs"),
        ("https://bitbucket.org/acme/things", None),
        ("https://git.example.com/acme/things", None),
        ("/srv/git/things.git", None),
        ("../things", None),
        ("file:///srv/git/things.git", None),
    ],
)
def test_the_remotes_that_people_have(tmp_path: Path, url: str, address: str | None) -> None:
    """Red when a password of the remote gets into the address."""
    assert remote_address(repository(tmp_path, url)) == address


def test_the_branch_is_the_default_of_the_remote(tmp_path: Path) -> None:
    """Else the current one. Red when a preview of a branch leads to that branch."""
    url = "https://github.com/acme/things"
    docs = repository(tmp_path / "a", url, default="trunk", current="work/1")
    assert remote_address(docs) == f"{url}/tree/trunk/docs"
    assert remote_address(docs.parent) == f"{url}/tree/trunk"
    assert remote_address(repository(tmp_path / "b", url, current="work/1")) == f"{url}/tree/work/1/docs"
    assert remote_address(repository(tmp_path / "c", url, name="upstream")) == f"{url}/tree/main/docs"


def test_an_installed_package_is_not_part_of_the_repository_around_it(tmp_path: Path) -> None:
    docs = repository(tmp_path, "https://github.com/acme/things")
    for folder in ("venv/lib/site-packages/a/docs", ".venv/docs"):
        (docs / folder).mkdir(parents=True)
        assert remote_address(docs / folder) is None


def test_a_linked_working_tree_and_a_submodule(tmp_path: Path) -> None:
    """Their ``.git`` is a file. Red when only folders are read."""
    docs = repository(tmp_path / "main", "https://github.com/acme/things")
    linked = tmp_path / "linked"
    (linked / "docs").mkdir(parents=True)
    own = docs.parent / ".git" / "worktrees" / "linked"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    (linked / ".git").write_text(f"gitdir: {own}\n")
    assert remote_address(linked / "docs") == "https://github.com/acme/things/tree/side/docs"


def test_the_links_of_a_built_page(tmp_path: Path) -> None:
    """The remote's address, the option's where there is one, or no link at all, also next to a repository button.

    Red when the button's repository is edited, which may be another one than that of the pages.
    """
    button = {"type": "github", "url": "https://github.com/other/product"}
    site = {"name": "A", "navigation": [], "feedback": {"suggestEdit": True}, "topbarCtaButton": button}
    docs = repository(tmp_path / "repository", "git@github.com:acme/things.git")
    bare = tmp_path / "bare"
    bare.mkdir()
    for folder in (docs, bare):
        (folder / "site.json").write_text(json.dumps(site))
        (folder / "index.md").write_text("# Hello\n")
    for folder, options, edit in (
        (docs, SiteOptions(), "https://github.com/acme/things/edit/main/docs/index.md"),
        (docs, SiteOptions(repository="https://github.com/x/y"), "https://github.com/x/y/edit/main/index.md"),
        (bare, SiteOptions(), None),
    ):
        build(folder, tmp_path / "out", options)
        html = (tmp_path / "out" / "index.html").read_text("utf-8")
        assert (f'href="{edit}"' in html) if edit else ("Edit this page" not in html)
