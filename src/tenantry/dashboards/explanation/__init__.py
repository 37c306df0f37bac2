"""Why a group sees what it sees: where the values of each panel come from, and what differs between two groups."""

from tenantry.dashboards.explanation.comparison import compare_explanations
from tenantry.dashboards.explanation.explanation import explain_dashboard
from tenantry.dashboards.explanation.report import explanation_page

__all__ = ["compare_explanations", "explain_dashboard", "explanation_page"]
