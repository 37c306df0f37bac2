from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeVar

from tenantry.dashboards.definition.queries import DashboardQueries
from tenantry.dashboards.folder import SavedDashboard
from tenantry.datasources import DataSources, source_timezone
from tenantry.errors import TenantryError
from tenantry.groups import UserGroup
from tenantry.sql import SQLTemplate
from tenantry.sql.parameters import Parameter, ZoneOfGroup

Template = TypeVar("Template", bound=SQLTemplate)

_KEPT: Final = 1_000
"""Maximum number of dashboards whose compiled queries are kept. A dashboard counts once for each time zone."""


async def in_zone_of_source(saved: SavedDashboard, group: UserGroup, sources: DataSources) -> SavedDashboard:
    """If the dashboard's file names no time zone, return the dashboard with the zone of the group's data source. The
    time zone of the group, if any, still takes precedence."""
    # The data source is the one for the dashboard's `schema`, so that all panels share one zone.
    dashboard = saved.dashboard
    if dashboard.zone.otherwise is not None:
        return saved
    try:
        zone = source_timezone(await sources.registered(group, dashboard.schema))
    except TenantryError:  # each panel's own line reports the error
        return saved
    if zone is None:
        return saved
    controls = {
        name: replace(each, parameter=_in_zone(each.parameter, zone)) for name, each in dashboard.controls.items()
    }
    zoned = replace(dashboard, zone=replace(dashboard.zone, otherwise=zone), controls=MappingProxyType(controls))
    return replace(saved, dashboard=zoned, queries=_queries_in_zone(saved.queries, zone))


@lru_cache(_KEPT)
def _queries_in_zone(queries: DashboardQueries, zone: tzinfo) -> DashboardQueries:
    return queries.mapped(lambda each: in_source_zone(each, zone))


def in_source_zone(template: Template, zone: tzinfo) -> Template:
    """Return the template with the data source's ``zone`` for groups that have no time zone."""
    changed = {name: _in_zone(each, zone) for name, each in template.parameters.items()}
    return template if changed == template.parameters else template.redeclaring(changed)


def _in_zone(parameter: Parameter, zone: tzinfo) -> Parameter:
    own = parameter.zone
    return replace(parameter, zone=replace(own, otherwise=zone)) if isinstance(own, ZoneOfGroup) else parameter
