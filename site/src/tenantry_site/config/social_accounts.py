"""The platforms that ``footerSocials`` may name, and the validator of that field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.source import JsonArray, JsonObject, JsonPath, quoted
from tenantry_site.config.string_kinds import StringKind
from tenantry_site.config.validators import OTHER_PLATFORMS, Schema, StringValidator, Validator
from tenantry_site.suggestions import nearest, normalize

SOCIALS = (
    "website", "facebook", "twitter", "discord", "slack", "github", "linkedin", "instagram", "hacker-news",
)  # fmt: skip
"""The nine platforms of SPEC 2.2."""

NEWER_SOCIALS = (
    "x", "youtube", "medium", "telegram", "x-twitter", "earth-americas", "bluesky", "threads", "reddit", "podcast",
)  # fmt: skip
"""Platforms that are not in SPEC 2.2 but occur in real files; they are shown like those in ``SOCIALS``."""


@dataclass(frozen=True, slots=True)
class SocialAccountsValidator(Validator):
    """Validates an object of platform -> address of the account, or a list in the older format."""

    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        clean: dict[str, str] = {}
        for platform, address, child in self._entries(value, location, context):
            name = self._name(platform, clean, value, child, context)
            link = StringValidator(StringKind.ACCOUNT).read(address, child, context)
            if link is not None:
                clean[name] = link
        return clean

    def _entries(self, value: Any, location: JsonPath, context: ReadContext) -> list[tuple[str, Any, JsonPath]]:
        if isinstance(value, JsonObject):
            return [(key, item, location.child(value, key)) for key, item in value.items()]
        if not isinstance(value, JsonArray):
            context.wrong_type(location, value, "an object", 'write { "github": "https://…" }')
            return []
        fix = 'write an object: { "github": "https://…" }'
        context.diagnostics.add(location, "CFG057", f"{location.display()} is a list, the older format", fix)
        pairs = (self._pair(item, location.child(value, index), context) for index, item in enumerate(value))
        return [pair for pair in pairs if pair is not None]

    def _pair(self, item: Any, location: JsonPath, context: ReadContext) -> tuple[str, Any, JsonPath] | None:
        """Platform, address and location of an item in the older list format."""
        if not isinstance(item, JsonObject):
            context.wrong_type(location, item, "an object", 'write { "type": "github", "url": "https://…" }')
            return None
        missing = [key for key in ("type", "url") if key not in item]
        if missing:
            context.diagnostics.add(
                location, "CFG043", f"{location.display()} has no {missing[0]}, and is left out", "add it"
            )
            return None
        if not isinstance(item["type"], str):
            context.wrong_type(location.child(item, "type"), item["type"], "a string", 'write "github" or the like')
            return None
        return item["type"], item["url"], location.child(item, "url")

    def _name(
        self, platform: str, taken: Mapping[str, str], value: Any, location: JsonPath, context: ReadContext
    ) -> str:
        if platform in SOCIALS:
            return platform
        if platform in NEWER_SOCIALS:
            message = f"{quoted(platform)} is not one of the nine platforms of the format; it is shown anyway"
            context.diagnostics.add(location, "CFG055", message, of_key=True)
            return platform
        free = [name for name in (*SOCIALS, *NEWER_SOCIALS) if name not in taken and name not in value]
        meant = None if platform.lower() in OTHER_PLATFORMS else nearest(platform, free)
        if meant is None:
            message = f"{quoted(platform)} is not a known platform; it is shown without an icon"
            fix = "write one of " + ", ".join(SOCIALS)
            context.diagnostics.add(location, "CFG056", message, fix, of_key=True)
            return platform
        message = f"{quoted(platform)} is not a known platform"
        context.diagnostics.add(location, "CFG034", message, f'did you mean "{meant}"?', of_key=True)
        return meant if normalize(meant) == normalize(platform) else platform

    def schema(self, *, strict: bool) -> Schema:
        account = StringValidator(StringKind.ACCOUNT).schema(strict=strict)
        known = dict.fromkeys((*SOCIALS, *NEWER_SOCIALS), account)
        if strict:
            return {"type": "object", "properties": known, "additionalProperties": False}
        # An item without "type" or "url" only gives a warning and is dropped, so the lenient schema does not check it.
        pair = {
            "if": {"required": ["type", "url"]},
            "then": {"properties": {"type": {"type": "string"}, "url": account}},
        }
        older = {"type": "array", "items": {"type": "object", **pair}}
        return {"anyOf": [{"type": "object", "properties": known, "additionalProperties": account}, older]}
