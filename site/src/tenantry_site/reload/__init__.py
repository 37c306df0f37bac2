"""Reload: while an author writes, an open page of the site shows itself again when it has changed."""

from tenantry_site.reload.stream import ReloadStream
from tenantry_site.reload.tag import FILES, ROUTE, script_tag, static_file

__all__ = ["FILES", "ROUTE", "ReloadStream", "script_tag", "static_file"]
