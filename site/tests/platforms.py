"""The platforms of ``footerSocials`` that the configuration's format had first."""

from __future__ import annotations

PLATFORMS = (
    "website", "facebook", "twitter", "discord", "slack", "github", "linkedin", "instagram", "hacker-news",
)  # fmt: skip
