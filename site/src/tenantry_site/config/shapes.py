"""Shapes: the forms that a field's value may have. Each reads a value of the file, and says itself in JSON Schema.

``read`` gives the clean value, or None where there is none to use; what is wrong has then been said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel

from tenantry_site.config.distance import nearest, squash
from tenantry_site.config.forms import in_a_list
from tenantry_site.config.marks import Mark
from tenantry_site.config.quoting import clip, quoted
from tenantry_site.config.tables import ALIASES, NEWER_SOCIALS, NEWER_STYLES, OTHER_PLATFORMS, SOCIALS, UNSET
from tenantry_site.config.texts import read_text, text_schema
from tenantry_site.config.tree import Array, Object, Spot
from tenantry_site.config.walk import Walk

Schema = dict[str, Any]


class Shape(Protocol):
    """A form of values."""

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        """The clean value, or None."""

    def schema(self, *, strict: bool) -> Schema:
        """The values that have no error (``strict``: nor a warning), as far as JSON Schema can say it."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string with a mark."""

    mark: Mark

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        if isinstance(value, str):
            return read_text(self.mark, value, spot, walk)
        if self.mark is Mark.FAVICON and isinstance(value, Object):
            return self._one_side(value, spot, walk)
        fix = (
            f'write "{value}"'
            if isinstance(value, int) and not isinstance(value, bool)
            else f'write "…": {self.mark.value}'
        )
        return walk.wrong_type(spot, value, "a string", clip(fix))

    def _one_side(self, value: Object, spot: Spot, walk: Walk) -> Any:
        """A favicon for each mode, as the newer format has it: the light one is taken."""
        for side in ("light", "dark"):
            if isinstance(value.get(side), str):
                fix = f"write {quoted(value[side])} alone: a favicon is one path"
                walk.notes.say(spot, "CFG057", f"{spot.words()} is an object; its {side} is taken", fix)
                return read_text(self.mark, value[side], spot.below(value, side), walk)
        return walk.wrong_type(spot, value, "a string", f'write "…": {self.mark.value}')

    def schema(self, *, strict: bool) -> Schema:
        return {"$ref": f"#/$defs/{self.mark.name.lower()}"}

    def definition(self, *, strict: bool) -> Schema:
        """The schema that ``schema`` refers to."""
        rules = text_schema(self.mark, strict=strict)
        whole: Schema = {"type": "string"}
        if rules:
            whole["allOf"] = rules
        if self.mark is Mark.FAVICON and not strict:
            light = {"type": "object", "required": ["light"], "properties": {"light": whole}}
            none = {"not": {"type": "string"}}
            dark = {"type": "object", "required": ["dark"], "properties": {"light": none, "dark": whole}}
            return {"anyOf": [whole, light, dark]}
        return whole


@dataclass(frozen=True, slots=True)
class Flag:
    """``true`` or ``false``."""

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        if isinstance(value, bool):
            return value
        meant = str(value).strip().lower() if isinstance(value, str) else ""
        fix = f"write {meant} without quotes" if meant in {"true", "false"} else "write true or false"
        return walk.wrong_type(spot, value, "true or false", fix)

    def schema(self, *, strict: bool) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words."""

    words: tuple[str, ...]

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        listed = ", ".join(f'"{word}"' for word in self.words)
        if not isinstance(value, str):
            return walk.wrong_type(spot, value, "a string", f"write one of {listed}")
        if value in self.words:
            if value in NEWER_STYLES:
                message = f"{quoted(value)} is not one of the six styles of the format; it is used all the same"
                walk.notes.say(spot, "CFG055", message)
            return value
        plain = squash(value)
        meant = next((word for word in self.words if squash(word) == plain), None) or ALIASES.get(plain)
        if meant in self.words:
            message = f"{spot.words()} is {quoted(value)}, which is read as {quoted(meant)}"
            walk.notes.say(spot, "CFG045", message, f'write "{meant}"')
            return meant
        near = None if value.lower() in OTHER_PLATFORMS else nearest(value, self.words)
        listed = f"leave the key out, or write one of {listed}" if plain in UNSET else f"write one of {listed}"
        fix = f'did you mean "{near}"? Else {listed}' if near else listed
        walk.notes.say(spot, "CFG046", f"{spot.words()} is {quoted(value)}, which is none of the values allowed", fix)
        return None

    def schema(self, *, strict: bool) -> Schema:
        return (
            {"type": "string", "enum": list(self.words)} if strict else {"type": "string", "examples": list(self.words)}
        )


@dataclass(frozen=True, slots=True)
class Items:
    """A list. ``single``: a string alone stands for a list of one; ``filled``: it should not be empty; ``part``: the
    class of the objects in it."""

    item: Shape
    single: bool = False
    filled: bool = False
    part: type[BaseModel] | None = None

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        if self.single and isinstance(value, str):
            one = self.item.read(value, spot, walk)
            return None if one is None else [one]
        if not isinstance(value, Array):
            expected = "a string or a list" if self.single else "a list"
            of_texts = isinstance(self.item, (Text, Either)) or bool(getattr(self.part, "shorthand", ()))
            return walk.wrong_type(spot, value, expected, in_a_list(self.part, value, of_texts=of_texts))
        if self.filled and not value:
            walk.notes.say(
                spot, "CFG064", f"{spot.words()} is an empty list", "add what belongs in it, or remove it all"
            )
        read = self.item.read
        clean = [read(item, Spot(spot, value, index), walk) for index, item in enumerate(value)]
        return [item for item in clean if item is not None]

    def schema(self, *, strict: bool) -> Schema:
        item = self.item.schema(strict=strict)
        whole: Schema = {"type": "array", "items": item}
        if strict and self.filled:
            whole["minItems"] = 1
        return {"anyOf": [item, whole]} if self.single else whole


@dataclass(frozen=True, slots=True)
class Either:
    """A string or an object."""

    text: Text
    part: Shape

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        if isinstance(value, str):
            return self.text.read(value, spot, walk)
        if isinstance(value, Object):
            return self.part.read(value, spot, walk)
        return walk.wrong_type(spot, value, "a string or an object", f'write "…": {self.text.mark.value}')

    def schema(self, *, strict: bool) -> Schema:
        return {"anyOf": [self.text.schema(strict=strict), self.part.schema(strict=strict)]}


@dataclass(frozen=True, slots=True)
class Accounts:
    """An object of platforms with the address of an account each."""

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        clean: dict[str, str] = {}
        for platform, address, below in self._entries(value, spot, walk):
            name = self._name(platform, clean, value, below, walk)
            link = Text(Mark.ACCOUNT).read(address, below, walk)
            if link is not None:
                clean[name] = link
        return clean

    def _entries(self, value: Any, spot: Spot, walk: Walk) -> list[tuple[str, Any, Spot]]:
        if isinstance(value, Object):
            return [(key, item, spot.below(value, key)) for key, item in value.items()]
        if not isinstance(value, Array):
            walk.wrong_type(spot, value, "an object", 'write { "github": "https://…" }')
            return []
        fix = 'write an object: { "github": "https://…" }'
        walk.notes.say(spot, "CFG057", f"{spot.words()} is a list, the older way to write it", fix)
        pairs = (self._pair(item, spot.below(value, index), walk) for index, item in enumerate(value))
        return [pair for pair in pairs if pair is not None]

    def _pair(self, item: Any, spot: Spot, walk: Walk) -> tuple[str, Any, Spot] | None:
        """Platform, address and place of an item of the older list."""
        if not isinstance(item, Object):
            walk.wrong_type(spot, item, "an object", 'write { "type": "github", "url": "https://…" }')
            return None
        missing = [key for key in ("type", "url") if key not in item]
        if missing:
            walk.notes.say(spot, "CFG043", f"{spot.words()} has no {missing[0]}, and is left out", "add it")
            return None
        if not isinstance(item["type"], str):
            walk.wrong_type(spot.below(item, "type"), item["type"], "a string", 'write "github" or the like')
            return None
        return item["type"], item["url"], spot.below(item, "url")

    def _name(self, platform: str, taken: Mapping[str, str], value: Any, spot: Spot, walk: Walk) -> str:
        if platform in SOCIALS:
            return platform
        if platform in NEWER_SOCIALS:
            message = f"{quoted(platform)} is not one of the nine platforms of the format; it is shown all the same"
            walk.notes.say(spot, "CFG055", message, of_key=True)
            return platform
        free = [name for name in (*SOCIALS, *NEWER_SOCIALS) if name not in taken and name not in value]
        meant = None if platform.lower() in OTHER_PLATFORMS else nearest(platform, free)
        if meant is None:
            message = f"{quoted(platform)} is no platform that is known here; it is shown without its sign"
            fix = "write one of " + ", ".join(SOCIALS)
            walk.notes.say(spot, "CFG056", message, fix, of_key=True)
            return platform
        message = f"{quoted(platform)} is no platform that is known here"
        walk.notes.say(spot, "CFG034", message, f'did you mean "{meant}"?', of_key=True)
        return meant if squash(meant) == squash(platform) else platform

    def schema(self, *, strict: bool) -> Schema:
        account = Text(Mark.ACCOUNT).schema(strict=strict)
        known = dict.fromkeys((*SOCIALS, *NEWER_SOCIALS), account)
        if strict:
            return {"type": "object", "properties": known, "additionalProperties": False}
        # An item without one of the two is left out, whatever the other is.
        pair = {
            "if": {"required": ["type", "url"]},
            "then": {"properties": {"type": {"type": "string"}, "url": account}},
        }
        older = {"type": "array", "items": {"type": "object", **pair}}
        return {"anyOf": [{"type": "object", "properties": known, "additionalProperties": account}, older]}
