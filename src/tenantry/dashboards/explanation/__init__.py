from tenantry.dashboards.explanation.comparison import compare_explanations
from tenantry.dashboards.explanation.explanation import explain_dashboard, explain_panel
from tenantry.dashboards.explanation.explanation import reference_origin as reference_origin
from tenantry.dashboards.explanation.report import comparison_text as comparison_text
from tenantry.dashboards.explanation.report import explanation_page, panel_text
from tenantry.dashboards.explanation.report import explanation_text as explanation_text
from tenantry.dashboards.explanation.report import origin_phrase as origin_phrase

__all__ = ["compare_explanations", "explain_dashboard", "explain_panel", "explanation_page", "panel_text"]
