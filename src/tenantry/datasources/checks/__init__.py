"""Checks that commands run before a deployment."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports

if TYPE_CHECKING:
    from tenantry.datasources.checks.engine_check import AskedQuery as AskedQuery
    from tenantry.datasources.checks.engine_check import EngineCheck as EngineCheck
    from tenantry.datasources.checks.engine_check import EngineReport as EngineReport
    from tenantry.datasources.checks.engine_check import reported_by as reported_by
    from tenantry.datasources.checks.engine_check import wrong_tables as wrong_tables
    from tenantry.datasources.checks.query_plans import PlanTemplate as PlanTemplate
    from tenantry.datasources.checks.query_plans import plan_prefix as plan_prefix
    from tenantry.datasources.checks.query_plans import plans_without_running as plans_without_running
    from tenantry.datasources.checks.refused_queries import CORRECT_QUERY as CORRECT_QUERY
    from tenantry.datasources.checks.refused_queries import word_at as word_at
    from tenantry.datasources.checks.session_check import SessionCheck as SessionCheck
    from tenantry.datasources.checks.tables_check import TablesCheck as TablesCheck
    from tenantry.datasources.checks.tables_check import read_declaration as read_declaration
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.datasources.checks.engine_check": "AskedQuery EngineCheck EngineReport reported_by wrong_tables",
            "tenantry.datasources.checks.query_plans": "PlanTemplate plan_prefix plans_without_running",
            "tenantry.datasources.checks.refused_queries": "CORRECT_QUERY word_at",
            "tenantry.datasources.checks.session_check": "SessionCheck",
            "tenantry.datasources.checks.tables_check": "TablesCheck read_declaration",
        },
    )
