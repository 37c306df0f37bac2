"""Checks of compiled templates: lint, coverage of groups, contracts of saved queries (docs/sql-checks.md)."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.sql.checks.contract import QueryContract as QueryContract
    from tenantry.sql.checks.coverage import NAMED as NAMED
    from tenantry.sql.checks.coverage import Coverage as Coverage
    from tenantry.sql.checks.coverage import PropertyTypes as PropertyTypes
    from tenantry.sql.checks.coverage import in_groups as in_groups
    from tenantry.sql.checks.findings import Finding as Finding
    from tenantry.sql.checks.findings import Severity as Severity
    from tenantry.sql.checks.lint import compares_loosely as compares_loosely
    from tenantry.sql.checks.lint import coverage_findings as coverage_findings
    from tenantry.sql.checks.lint import template_error as template_error
    from tenantry.sql.checks.lint import wanted_properties as wanted_properties
    from tenantry.sql.checks.needs import can_lack as can_lack
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.sql.checks.needs": "can_lack",
            "tenantry.sql.checks.contract": "QueryContract",
            "tenantry.sql.checks.coverage": "Coverage NAMED PropertyTypes in_groups",
            "tenantry.sql.checks.findings": "Finding Severity",
            "tenantry.sql.checks.lint": "compares_loosely coverage_findings template_error wanted_properties",
        },
    )
