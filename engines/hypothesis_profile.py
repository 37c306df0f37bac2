"""Property tests without Hypothesis's 200 ms an example: on a busy machine any example can take longer."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tenantry", settings.default, deadline=None)
settings.load_profile("tenantry")
