"""Checks of dashboards that need neither their groups nor their data sources."""

from tenantry.dashboards.checks.panels import panel_findings as panel_findings
from tenantry.dashboards.checks.texts import missing_in_texts as missing_in_texts
from tenantry.dashboards.checks.texts import uncovered_texts as uncovered_texts
