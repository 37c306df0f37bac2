"""The platforms of the configuration file's ``footerSocials``, with the icon and the words for each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Social(NamedTuple):
    """``icon`` and ``kind`` are for ``svg``; ``label`` is what the link is called for people who do not see it."""

    icon: str
    kind: str
    label: str


def _brand(icon: str, label: str) -> Social:
    return Social(icon, "brands", label)


SOCIALS: Mapping[str, Social] = MappingProxyType(
    {
        # the nine of SPEC 2.2
        "website": Social("globe", "solid", "Website"),
        "facebook": _brand("facebook", "Facebook"),
        "twitter": _brand("twitter", "Twitter"),
        "discord": _brand("discord", "Discord"),
        "slack": _brand("slack", "Slack"),
        "github": _brand("github", "GitHub"),
        "linkedin": _brand("linkedin", "LinkedIn"),
        "instagram": _brand("instagram", "Instagram"),
        "hacker-news": _brand("hacker-news", "Hacker News"),
        # newer ones, of real files
        "x": _brand("x-twitter", "X"),
        "x-twitter": _brand("x-twitter", "X"),
        "youtube": _brand("youtube", "YouTube"),
        "telegram": _brand("telegram", "Telegram"),
        "medium": _brand("medium", "Medium"),
        "bluesky": _brand("bluesky", "Bluesky"),
        "threads": _brand("threads", "Threads"),
        "reddit": _brand("reddit", "Reddit"),
        "mastodon": _brand("mastodon", "Mastodon"),
        "gitlab": _brand("gitlab", "GitLab"),
        "tiktok": _brand("tiktok", "TikTok"),
        "twitch": _brand("twitch", "Twitch"),
        "whatsapp": _brand("whatsapp", "WhatsApp"),
        "stack-overflow": _brand("stack-overflow", "Stack Overflow"),
        "product-hunt": _brand("product-hunt", "Product Hunt"),
        "dev": _brand("dev", "DEV"),
        "npm": _brand("npm", "npm"),
        "docker": _brand("docker", "Docker"),
        "podcast": Social("podcast", "solid", "Podcast"),
        "earth-americas": Social("earth-americas", "solid", "Website"),
        "rss": Social("rss", "solid", "RSS feed"),
        "email": Social("envelope", "solid", "E-mail"),
        "blog": Social("blog", "solid", "Blog"),
    }
)
"""Key of ``footerSocials`` -> how its link is drawn. Other keys get the globe and their own name."""
