"""The codes of what is said about OpenAPI documents and API pages."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    "API001": "An OpenAPI document cannot be read as JSON or YAML.",
    "API002": "The configuration names an OpenAPI document that is not among the files of the site.",
    "API003": "The configuration names an OpenAPI document by a web address, and it was not fetched (`--fetch`).",
    "API004": "A document is not OpenAPI 3.0 or 3.1.",
    "API005": "A part of a document has another shape than OpenAPI gives it, and is left out.",
    "API006": "A `$ref` leads to nothing.",
    "API007": "A `$ref` leads to a web address or out of the site's folder.",
    "API008": "A chain of `$ref`s leads only to itself.",
    "API009": "A document, or the schema of one operation, is too deep or too large to be shown whole.",
    "API010": "A page names an operation that no document has.",
    "API011": "The `api` of a page has no method.",
    "API012": "The `api` of a page is not a path or an http(s) address.",
    "API013": "A parameter of a path is not declared, or a declared path parameter is not in the path.",
    "API014": "A page or a document asks for a security scheme that the document does not declare.",
    "API015": "The front matter of an API page has a value that is not one of those allowed.",
    "API016": "The address of a server is not an http(s) address or a path.",
    "API017": "The `api` page has a path and the configuration has no `api.baseUrl`.",
}
"""Each code and the meaning that it keeps."""
