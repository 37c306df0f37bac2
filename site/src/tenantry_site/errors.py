"""SiteError: what the site cannot do with what it was given, in words for whoever gave it."""

from __future__ import annotations


class SiteError(Exception):
    """A folder, an address or an option cannot be used. The message names it and says what to do instead."""

    code = "invalid_settings"
