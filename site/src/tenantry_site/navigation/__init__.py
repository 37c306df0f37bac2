"""Navigation: which pages stand where. From the configuration file and the heads of all pages, without their texts."""

from tenantry_site.navigation.destinations import Destination, Target, VersionChoice
from tenantry_site.navigation.entries import Branch, Entry
from tenantry_site.navigation.navigation import Navigation, Scope, View
from tenantry_site.navigation.outline import Folded, More, Node, Unfolded
from tenantry_site.navigation.parts import Part

__all__ = [
    "Branch",
    "Destination",
    "Entry",
    "Folded",
    "More",
    "Navigation",
    "Node",
    "Part",
    "Scope",
    "Target",
    "Unfolded",
    "VersionChoice",
    "View",
]
