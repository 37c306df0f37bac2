"""Viewers for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tenantry.groups import Record, Viewer


def make_viewer(viewer_id: str | None = "ada", **attributes: Any) -> Viewer:
    """A viewer whose pass ends in an hour."""
    now = datetime.now(UTC).replace(microsecond=0)
    return Viewer(viewer_id, Record(attributes), (), now, now + timedelta(hours=1), 1)
