"""Rendering: from the files of a site to its finished files. Everything here takes and gives values."""

from tenantry_site.rendering.codes import CODES
from tenantry_site.rendering.configuration import configuration_file
from tenantry_site.rendering.pictures import left_out, runs
from tenantry_site.rendering.rendered import RenderedSite, render
from tenantry_site.rendering.site import Site

__all__ = ["CODES", "RenderedSite", "Site", "configuration_file", "left_out", "render", "runs"]
