"""Reports: diagnostics as text for a person, as JSON for a script, as SARIF for a code host."""

from tenantry_site.report.json import write_json
from tenantry_site.report.sarif import write_sarif
from tenantry_site.report.summary import summary
from tenantry_site.report.text import write_text

__all__ = ["summary", "write_json", "write_sarif", "write_text"]
