"""Checks dashboards without asking a data source. Columns are compared with those that a source has reported before."""

from tenantry.dashboards.checks.columns import columns_in as columns_in
from tenantry.dashboards.checks.columns import templates_of as templates_of
from tenantry.dashboards.checks.columns import unknown_columns as unknown_columns
from tenantry.dashboards.checks.panels import panel_findings as panel_findings
from tenantry.dashboards.checks.texts import missing_in_texts as missing_in_texts
from tenantry.dashboards.checks.texts import uncovered_texts as uncovered_texts
