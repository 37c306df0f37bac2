"""Reports: diagnostics as text for a person, as JSON for a script, as SARIF for a code host."""

from tenantry_site.report.machine import write_json, write_sarif
from tenantry_site.report.text import summary, write_text

__all__ = ["summary", "write_json", "write_sarif", "write_text"]
