"""What a file of a site is, by its name alone: the table of the system that serves it is not asked."""

from __future__ import annotations

_TEXT = "; charset=utf-8"

MEDIA_TYPES = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "css": f"text/css{_TEXT}",
    "csv": f"text/csv{_TEXT}",
    "eot": "application/vnd.ms-fontobject",
    "gif": "image/gif",
    "gz": "application/gzip",
    "htm": f"text/html{_TEXT}",
    "html": f"text/html{_TEXT}",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": f"text/javascript{_TEXT}",
    "json": "application/json",
    "map": "application/json",
    "md": f"text/markdown{_TEXT}",
    "mdx": f"text/markdown{_TEXT}",
    "mjs": f"text/javascript{_TEXT}",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "toml": f"text/plain{_TEXT}",
    "tsv": f"text/tab-separated-values{_TEXT}",
    "ttf": "font/ttf",
    "txt": f"text/plain{_TEXT}",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webmanifest": "application/manifest+json",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}

_PACKABLE = ("text/", "application/json", "application/xml", "application/yaml", "application/manifest", "image/svg")


def media_type(path: str) -> str:
    """``text/html; charset=utf-8``; what is not known is only to be saved."""
    name = path.rpartition("/")[2]
    return MEDIA_TYPES.get(name.rpartition(".")[2].lower() if "." in name else "", "application/octet-stream")


def is_packable(kind: str) -> bool:
    """Whether it shrinks much."""
    return kind.startswith(_PACKABLE)
