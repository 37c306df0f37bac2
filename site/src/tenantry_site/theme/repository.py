"""Repository: the addresses that the feedback buttons lead to, at the hosts of code whose forms are known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from tenantry_site.config.model import SiteConfig
from tenantry_site.options import SiteOptions

BRANCH = "main"
"""The branch that is edited where the address names none."""

_FORMS = (
    (re.compile(r"/-/(?:tree|blob)/"), "/-/edit/{}", "/-/issues/new?issue[title]="),
    (re.compile(r"/src/branch/"), "/_edit/{}", "/issues/new?title="),
    (re.compile(r"/(?:tree|blob|edit)/"), "/edit/{}", "/issues/new?title="),
)
"""What stands before the branch in an address, how the one to edit is written, and how a new issue is: three kinds of
host, the last being the default."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository. ``home`` is its address, ``folder`` the branch with the path to the pages, ``edits`` and ``issues``
    how its host writes addresses."""

    home: str
    folder: str
    edits: str
    issues: str

    def edit(self, source: str) -> str:
        """Where the file of a page is edited."""
        return self.home + self.edits.format(f"{self.folder}/{quote(source)}")

    def issue(self, title: str, path: str) -> str:
        """Where an issue about a page is raised, with its title written."""
        return self.home + self.issues + quote(f"Docs: {title} ({path})", safe="")


def repository(config: SiteConfig, options: SiteOptions) -> Repository | None:
    """The one of the options, else that of the call to action of the code-host type; None if there is neither."""
    button = config.topbar_cta_button
    url = options.repository or (button.url if button and button.type == "github" else "")
    return read(url)


def read(url: str) -> Repository | None:
    """Takes an address like ``https://github.com/owner/name/tree/main/docs`` apart; None for no http address."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        return None
    address = f"{parts.scheme}://{parts.netloc}{quote(parts.path.rstrip('/'), safe='/%-._~@')}"
    for mark, edits, issues in _FORMS:
        home, *rest = mark.split(address, maxsplit=1)
        if rest:
            return Repository(home, rest[0], edits, issues)
    edits, issues = _FORMS[0][1:] if "gitlab" in parts.netloc else _FORMS[-1][1:]
    return Repository(address.removesuffix(".git"), BRANCH, edits, issues)


def short_name(url: str) -> str:
    """``owner/name`` of the address of a repository, or the address without its scheme."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    words = [word for word in parts.path.split("/") if word][:2]
    return "/".join(words).removesuffix(".git") if len(words) == 2 else (parts.netloc + parts.path).rstrip("/") or url
