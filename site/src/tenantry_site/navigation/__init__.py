"""Computes the tabs, anchors, sidebar, and previous and next pages of each page, from the configuration file and the
front matter of all pages."""

from tenantry_site.navigation.destinations import Destination, LinkTarget, VersionChoice
from tenantry_site.navigation.navigation import Navigation, PageView, SidebarScope
from tenantry_site.navigation.sidebar import CollapsedGroup, ExpandedGroup, OmittedEntries, SidebarNode
from tenantry_site.navigation.tree import GroupEntry, PageEntry, SitePart

__all__ = [
    "CollapsedGroup",
    "Destination",
    "ExpandedGroup",
    "GroupEntry",
    "LinkTarget",
    "Navigation",
    "OmittedEntries",
    "PageEntry",
    "PageView",
    "SidebarNode",
    "SidebarScope",
    "SitePart",
    "VersionChoice",
]
