"""The tables of the first release. ``new_store`` creates them, so migration steps begin after this revision."""

from __future__ import annotations

revision = "0015"
down_revision = None
