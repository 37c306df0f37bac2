"""Checks of compiled templates: lint, coverage of groups, contracts of saved queries (docs/sql-checks.md)."""

from tenantry.sql.checks.contract import QueryContract as QueryContract
from tenantry.sql.checks.coverage import NAMED as NAMED
from tenantry.sql.checks.coverage import Coverage as Coverage
from tenantry.sql.checks.coverage import PropertyTypes as PropertyTypes
from tenantry.sql.checks.coverage import in_groups as in_groups
from tenantry.sql.checks.findings import Finding as Finding
from tenantry.sql.checks.findings import Located as Located
from tenantry.sql.checks.findings import Severity as Severity
from tenantry.sql.checks.findings import template_error as template_error
from tenantry.sql.checks.lint import compares_loosely as compares_loosely
from tenantry.sql.checks.lint import coverage_findings as coverage_findings
from tenantry.sql.checks.lint import wanted_properties as wanted_properties
from tenantry.sql.checks.needs import GROUP_FIELDS as GROUP_FIELDS
from tenantry.sql.checks.needs import can_lack as can_lack
from tenantry.sql.checks.needs import property_path as property_path
from tenantry.sql.checks.needs import unknown_field as unknown_field
from tenantry.sql.checks.placed_tags import TagPlace as TagPlace
from tenantry.sql.checks.placed_tags import tag_places as tag_places
from tenantry.sql.checks.tenant import reads_every_customer as reads_every_customer
from tenantry.sql.checks.tenant import reads_tables as reads_tables
