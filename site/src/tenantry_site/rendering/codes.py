"""The codes of what is said about the files of a site as a whole."""

from __future__ import annotations

CODES: dict[str, str] = {
    "SITE100": "There is no configuration file.",
    "SITE101": "Two files would be one page; one of them is taken.",
    "SITE102": "Two pages differ in capitals only: many disks and hosts cannot hold both.",
    "SITE103": "The path of a file cannot be part of an address; it is left out.",
    "SITE104": "A page is not UTF-8; what cannot be read is shown as a replacement character.",
    "SITE105": "A page could not be drawn. This is a mistake of Tenantry.",
    "SITE106": "The site has no page.",
    "SITE107": "A file has the name of a secret, and is not published.",
    "SITE108": "An SVG holds a script, and is left out.",
}
"""Each code and the meaning that it keeps."""
