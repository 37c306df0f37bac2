"""Finds the address of a folder at its code host, from the files of its git repository. Runs no program."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlsplit

from tenantry_site.options import SiteOptions

_REMOTE = re.compile(r'^\[remote "([^"\n]+)"\]\s*\n((?:(?!\[).*(?:\n|\Z))*)', re.MULTILINE)
_URL = re.compile(r'^\s*url\s*=\s*"?([^"\s]+)"?\s*$', re.MULTILINE)
_SSH = re.compile(r"(?:ssh://)?(?:[^@/\s]+@)?([A-Za-z0-9][A-Za-z0-9.-]*)(?::\d+/|:|/)([^:\s]+)")
_BRANCHES = (("gitlab", "/-/tree/"), ("codeberg", "/src/branch/"), ("gitea", "/src/branch/"), ("github", "/tree/"))
"""Part of a host's name -> the part of its addresses before the branch."""


def with_repository(folder: str | os.PathLike[str], options: SiteOptions) -> SiteOptions:
    """The options; if they name no ``repository``, it is the folder's address at the remote of its git repository."""
    return options if options.repository else replace(options, repository=remote_address(Path(folder)))


def remote_address(folder: Path) -> str | None:
    """The address of a folder at its code host: ``https://github.com/owner/name/tree/main/docs``.

    The remote is ``origin``, or else the only one. The branch is the remote's default, or else the current branch. None
    if the folder is in no git repository, or the remote is not at a known host.
    """
    here = folder.resolve()
    root = next((each for each in (here, *here.parents) if (each / ".git").exists()), None)
    git = _git_folder(root / ".git") if root is not None else None
    if root is None or git is None or any(_is_ignored(part) for part in here.relative_to(root).parts):
        return None
    remotes = {name: url[1] for name, body in _REMOTE.findall(_text(git / "config")) if (url := _URL.search(body))}
    name = "origin" if "origin" in remotes else next(iter(remotes), "")
    home = _web_address(remotes[name]) if name == "origin" or len(remotes) == 1 else None
    if home is None:
        return None
    branch = _reference(git / "refs" / "remotes" / name / "HEAD", f"refs/remotes/{name}/")
    path = quote(here.relative_to(root).as_posix()) if here != root else ""
    before = next((before for host, before in _BRANCHES if host in urlsplit(home).netloc), None)
    if before is None:  # a host whose addresses are not known
        return None
    branch = branch or _reference(_own_folder(root / ".git") / "HEAD", "refs/heads/") or "main"
    return f"{home}{before}{quote(branch)}/{path}".rstrip("/")


def _is_ignored(folder: str) -> bool:
    """Whether git usually ignores a folder of this name, such as that of an installed package."""
    return folder.startswith(".") or folder in {"site-packages", "node_modules"}


def _own_folder(git: Path) -> Path:
    """The git folder of a working tree. For a linked working tree and a submodule, ``.git`` is a file that names it."""
    named = _text(git).removeprefix("gitdir:").strip() if git.is_file() else ""
    return git.parent / named if named else git


def _git_folder(git: Path) -> Path | None:
    """The git folder with the configuration, which linked working trees share."""
    own = _own_folder(git)
    common = own / _text(own / "commondir").strip()
    return common if (common / "config").is_file() else None


def _reference(file: Path, prefix: str) -> str:
    target = _text(file).removeprefix("ref:").strip()
    return target.removeprefix(prefix) if target.startswith(prefix) else ""


def _web_address(url: str) -> str | None:
    """The https address of a remote, without a user name or password; None for a path on this machine."""
    parts = urlsplit(url) if url.startswith(("https://", "http://")) else None
    if parts is not None:
        host, path = parts.hostname or "", parts.path
        host += f":{parts.port}" if parts.port else ""
    elif (found := _SSH.fullmatch(url)) is not None and "." in found[1]:
        host, path = found[1], f"/{found[2]}"
    else:
        return None
    bare = path.strip("/").removesuffix(".git")
    return f"https://{host}/{quote(bare)}" if host and bare else None


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace") if file.is_file() else ""
    except OSError:
        return ""
