"""Small sites for the tests of the navigation."""

from __future__ import annotations

from typing import Any

from tenantry_site.config.model import SiteConfig
from tenantry_site.navigation import Navigation
from tenantry_site.page import FrontMatter

Groups = list[dict[str, Any]]


def navigation(groups: Groups, heads: dict[str, FrontMatter] | None = None, **fields: Any) -> Navigation:
    """The navigation of a site. Pages without a head given have an empty one."""
    fields["versions"] = [{"name": name} if isinstance(name, str) else name for name in fields.get("versions", ())]
    config = SiteConfig.model_validate({"name": "Site", "navigation": groups, **fields})
    return Navigation(config, dict.fromkeys(named(groups), FrontMatter()) | (heads or {}))


def named(groups: list[Any]) -> list[str]:
    """Every page that groups name."""
    found = []
    for member in groups:
        found += named(member["pages"]) if isinstance(member, dict) else [member.strip("/")]
    return found


def paths(targets: Any) -> list[str]:
    """The pages of some targets."""
    return [target.path for target in targets]
