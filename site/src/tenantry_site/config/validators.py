"""Validators of field values. A validator also writes the JSON Schema of its values."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol

from pydantic import BaseModel

from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.model import (
    Anchor,
    Api,
    ApiAuth,
    ApiPlayground,
    Background,
    CallToAction,
    Colors,
    Group,
    ModeToggle,
    PrimaryTab,
    Tab,
    TopAnchor,
    TopbarLink,
    Version,
)
from tenantry_site.config.source import JsonArray, JsonObject, JsonPath, clip, quoted
from tenantry_site.config.string_checks import check_string, string_schema
from tenantry_site.config.string_kinds import StringKind
from tenantry_site.suggestions import nearest, normalize

Schema = dict[str, Any]


class Validator(Protocol):
    """Validates the values of one type."""

    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        """The value for the model. An unusable value gives None, and its problem is reported."""

    def schema(self, *, strict: bool) -> Schema:
        """A JSON Schema that rejects values with errors and, with ``strict``, values with warnings, as far as JSON
        Schema can express the check."""


_ALIASES: dict[str, str] = {
    "apikey": "key",
    "header": "key",
    "bearertoken": "bearer",
    "jwt": "bearer",
    "basicauth": "basic",
    "interactive": "show",
    "visible": "show",
    "none": "hide",
    "hidden": "hide",
    "button": "link",
}
"""Other words for enumeration values (in lower case, without ``-`` and ``_``) -> the value to use."""

_UNSET = frozenset({"auto", "automatic", "browser", "default", "device", "os", "system"})
"""Values by which authors mean the default. The fix for such a value is to leave the field out."""

_NEWER_STYLES = frozenset({"regular", "sharp-duotone-solid", "sharp-light", "sharp-regular", "sharp-thin"})
"""Icon styles that are not among the six of SPEC 2.2 but occur in real files."""

OTHER_PLATFORMS = frozenset({
    "bitbucket", "codeberg", "crunchbase", "discourse", "docker", "dribbble", "email", "farcaster", "figma", "gitlab",
    "huggingface", "lens", "mail", "mastodon", "matrix", "npm", "patreon", "pinterest", "producthunt", "rss", "signal",
    "stackoverflow", "substack", "tiktok", "twitch", "warpcast", "whatsapp",
})  # fmt: skip
"""Platforms without support here. These names are not typing errors, so no similar name is suggested."""

_SHOWN: dict[type, tuple[str, ...]] = {CallToAction: ("name", "url"), Api: ("baseUrl",), Colors: ("primary",)}
"""Model class -> the fields that ``example_object`` shows. For other classes it shows the required fields or, if none
is required, the first two."""

_BARE: dict[type, str] = {
    Anchor: "url",
    Api: "baseUrl",
    ApiAuth: "method",
    ApiPlayground: "mode",
    Background: "light",
    CallToAction: "url",
    Colors: "primary",
    Group: "pages",
    ModeToggle: "default",
    PrimaryTab: "name",
    Tab: "url",
    TopAnchor: "name",
    TopbarLink: "url",
    Version: "name",
}
"""Model class -> the field that an author probably meant when the file has a string instead of the object."""


def example_object(model: type[BaseModel], value: Any = None) -> str:
    """An example of a model class in JSON, for messages. ``value``: what the author wrote instead of an object. If it
    is a string, the example shows it in the field that the author probably meant."""
    needed = [info.alias or name for name, info in model.model_fields.items() if info.is_required()]
    shown = _SHOWN.get(model) or needed or [info.alias or name for name, info in model.model_fields.items()][:2]
    is_number = model is Version and isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
    bare = _BARE.get(model) if (isinstance(value, str) and value) or is_number else None
    if bare is not None and bare not in shown:
        shown = (bare,)
    given = value if isinstance(value, str) else repr(value)
    text = f"[ {quoted(given)} ]" if model is Group else quoted(given)
    return "{ " + ", ".join(f'"{key}": {text if key == bare else "…"}' for key in shown) + " }"


def list_fix(model: type[BaseModel] | None, value: Any, *, of_texts: bool) -> str:
    """The fix for a value that should be a list. ``model``: class of the items, if they may be objects. ``of_texts``:
    the items may be strings."""
    keys = {info.alias or name for name, info in model.model_fields.items()} if model is not None else set()
    if (of_texts and isinstance(value, str) and value) or (isinstance(value, JsonObject) and value.keys() & keys):
        return "put it in [ ]"
    one = '"…"' if of_texts or model is None else example_object(model, value)
    return f"write a list: [ {one} ]"


@dataclass(frozen=True, slots=True)
class StringValidator(Validator):
    kind: StringKind

    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        if isinstance(value, str):
            return check_string(self.kind, value, location, context)
        if self.kind is StringKind.FAVICON and isinstance(value, JsonObject):
            return self._first_mode(value, location, context)
        fix = (
            f'write "{value}"'
            if isinstance(value, int) and not isinstance(value, bool)
            else f'write "…": {self.kind.value}'
        )
        return context.wrong_type(location, value, "a string", clip(fix))

    def _first_mode(self, value: JsonObject, location: JsonPath, context: ReadContext) -> Any:
        """Read a favicon given as an object, which the newer format allows: the path for light mode, else the one for
        dark mode."""
        for mode in ("light", "dark"):
            if isinstance(value.get(mode), str):
                fix = f"write {quoted(value[mode])} alone: a favicon is one path"
                context.diagnostics.add(
                    location, "CFG057", f"{location.display()} is an object; its {mode} is used", fix
                )
                return check_string(self.kind, value[mode], location.child(value, mode), context)
        return context.wrong_type(location, value, "a string", f'write "…": {self.kind.value}')

    def schema(self, *, strict: bool) -> Schema:
        return {"$ref": f"#/$defs/{self.kind.name.lower()}"}

    def definition(self, *, strict: bool) -> Schema:
        """The JSON Schema of this kind of string, to which the result of ``schema`` refers."""
        rules = string_schema(self.kind, strict=strict)
        whole: Schema = {"type": "string"}
        if rules:
            whole["allOf"] = rules
        if self.kind is StringKind.FAVICON and not strict:
            light = {"type": "object", "required": ["light"], "properties": {"light": whole}}
            none = {"not": {"type": "string"}}
            dark = {"type": "object", "required": ["dark"], "properties": {"light": none, "dark": whole}}
            return {"anyOf": [whole, light, dark]}
        return whole


@dataclass(frozen=True, slots=True)
class BooleanValidator(Validator):
    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        if isinstance(value, bool):
            return value
        meant = str(value).strip().lower() if isinstance(value, str) else ""
        fix = f"write {meant} without quotes" if meant in {"true", "false"} else "write true or false"
        return context.wrong_type(location, value, "true or false", fix)

    def schema(self, *, strict: bool) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class EnumValidator(Validator):
    """Validates a string that must be one of ``values``. Similar spellings are corrected with a warning."""

    values: tuple[str, ...]

    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        listed = ", ".join(f'"{word}"' for word in self.values)
        if not isinstance(value, str):
            return context.wrong_type(location, value, "a string", f"write one of {listed}")
        if value in self.values:
            if value in _NEWER_STYLES:
                message = f"{quoted(value)} is not one of the six styles of the format; it is used anyway"
                context.diagnostics.add(location, "CFG055", message)
            return value
        plain = normalize(value)
        meant = next((word for word in self.values if normalize(word) == plain), None) or _ALIASES.get(plain)
        if meant in self.values:
            message = f"{location.display()} is {quoted(value)}, which is read as {quoted(meant)}"
            context.diagnostics.add(location, "CFG045", message, f'write "{meant}"')
            return meant
        near = None if value.lower() in OTHER_PLATFORMS else nearest(value, self.values)
        listed = f"leave the key out, or write one of {listed}" if plain in _UNSET else f"write one of {listed}"
        fix = f'did you mean "{near}"? Otherwise {listed}' if near else listed
        context.diagnostics.add(
            location, "CFG046", f"{location.display()} is {quoted(value)}, which is not an allowed value", fix
        )
        return None

    def schema(self, *, strict: bool) -> Schema:
        return (
            {"type": "string", "enum": list(self.values)}
            if strict
            else {"type": "string", "examples": list(self.values)}
        )


@dataclass(frozen=True, slots=True)
class ListValidator(Validator):
    """Validates lists; unusable items are dropped.

    ``item``: validator of the items. ``single``: also accept a string, as a list of one item. ``not_empty``: warn about
    an empty list. ``model``: class of the items, if they may be objects.
    """

    item: Validator
    single: bool = False
    not_empty: bool = False
    model: type[BaseModel] | None = None

    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        if self.single and isinstance(value, str):
            one = self.item.read(value, location, context)
            return None if one is None else [one]
        if not isinstance(value, JsonArray):
            expected = "a string or a list" if self.single else "a list"
            of_texts = isinstance(self.item, (StringValidator, StringOrObjectValidator)) or bool(
                getattr(self.model, "shorthand", ())
            )
            return context.wrong_type(location, value, expected, list_fix(self.model, value, of_texts=of_texts))
        if self.not_empty and not value:
            context.diagnostics.add(
                location, "CFG064", f"{location.display()} is an empty list", "add an entry, or remove the empty group"
            )
        read = self.item.read
        clean = [read(item, JsonPath(location, value, index), context) for index, item in enumerate(value)]
        return [item for item in clean if item is not None]

    def schema(self, *, strict: bool) -> Schema:
        item = self.item.schema(strict=strict)
        whole: Schema = {"type": "array", "items": item}
        if strict and self.not_empty:
            whole["minItems"] = 1
        return {"anyOf": [item, whole]} if self.single else whole


@dataclass(frozen=True, slots=True)
class StringOrObjectValidator(Validator):
    text: StringValidator
    object: Validator

    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        if isinstance(value, str):
            return self.text.read(value, location, context)
        if isinstance(value, JsonObject):
            return self.object.read(value, location, context)
        return context.wrong_type(location, value, "a string or an object", f'write "…": {self.text.kind.value}')

    def schema(self, *, strict: bool) -> Schema:
        return {"anyOf": [self.text.schema(strict=strict), self.object.schema(strict=strict)]}
