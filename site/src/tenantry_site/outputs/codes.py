"""The codes of what is said about links."""

from __future__ import annotations

CODES: dict[str, str] = {
    "LINK001": "A link leads to a page or file that does not exist.",
    "LINK002": "A link leads to a part of a page that does not exist.",
    "LINK003": "A link leads out of the site's folder.",
    "LINK010": "A redirect leads to a page that does not exist.",
    "LINK011": "A redirect starts from no path of this site, or leads to an address that must not be written.",
    "LINK012": "A redirect starts where a page is; the page is shown.",
    "LINK013": "A redirect from any number of addresses works where the site is served, not in a built folder.",
    "LINK014": "There are more redirects with placeholders than are followed.",
}
"""Each code and the meaning that it keeps."""
