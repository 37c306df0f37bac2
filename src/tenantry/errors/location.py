"""What a log may say of an exception that somebody else raised."""

from __future__ import annotations

import traceback


def error_location(error: Exception) -> str:
    """Type and location of an exception. Its message may hold a URL with a password or a query with values."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
