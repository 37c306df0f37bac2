"""The codes of what the theme has to say about a configuration file."""

from __future__ import annotations

CODES: dict[str, str] = {
    "SITE001": "A feedback button is asked for, but no repository is known that it could lead to.",
    "SITE002": "A logo, favicon or background image is on another host, and is not shown.",
    "SITE003": "A link of the frame leads to no page or file of the site.",
    "SITE004": "An icon's name is not that of any icon.",
}
"""What each code means."""
