"""Generates validators and JSON Schemas from the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tenantry_site.config.defaults import EXPECTED, FILL_DEFAULTS
from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.model import CallToAction, Group, SiteConfig
from tenantry_site.config.social_accounts import SocialAccountsValidator
from tenantry_site.config.source import JsonObject, JsonPath, describe, quoted
from tenantry_site.config.string_kinds import WEB, StringKind
from tenantry_site.config.unknown_keys import FOREIGN_KEYS, NEWER_KEYS, RENAMED_KEYS, report_unknown_keys
from tenantry_site.config.validators import (
    BooleanValidator,
    EnumValidator,
    ListValidator,
    Schema,
    StringOrObjectValidator,
    StringValidator,
    Validator,
    example_object,
)
from tenantry_site.suggestions import normalize

_PATHS = frozenset({"file", "href", "link", "page", "path", "slug", "url"})
"""Keys for a page's path in the formats of other generators."""


@dataclass(frozen=True, slots=True)
class FieldValidator:
    """A field of an object. ``attribute``: name in the model. ``required``: without the field, the object is
    dropped."""

    attribute: str
    validator: Validator
    required: bool
    description: str


@dataclass(slots=True)
class ObjectValidator(Validator):
    """Validates objects of one model class. ``fields``: by their keys in the file. ``shorthand``: the keys that are set
    if the file has a string instead of the object."""

    model: type[BaseModel]
    shorthand: tuple[str, ...]
    fields: dict[str, FieldValidator] = field(default_factory=dict)

    def read(self, value: Any, location: JsonPath, context: ReadContext) -> Any:
        if self.shorthand and isinstance(value, str):
            known = [self.fields[key] for key in self.shorthand]
            text = known[0].validator.read(value, location, context)
            if text is None:
                return None
            clean = {one.attribute: text for one in known}
            context.objects[self.model].append((clean, location))
            return clean
        if not isinstance(value, JsonObject):
            expected = "a string or an object" if self.shorthand else "an object"
            return context.wrong_type(location, value, expected, f"write {example_object(self.model, value)}")
        if self.model is Group and "group" not in value and "pages" not in value:
            return self._report_neither(value, location, context)
        return self._object(value, location, context)

    def _report_neither(self, value: JsonObject, location: JsonPath, context: ReadContext) -> None:
        """Report an object that has neither ``group`` nor ``pages`` where a group is expected. Its other fields are
        still checked."""
        message = f"{location.display()} is {describe(value)}: neither a page nor a group"
        context.diagnostics.add(location, "CFG066", message, self._neither_fix(value))
        if len(location.keys()) == 2:  # an item of the navigation itself can only be a group
            FILL_DEFAULTS[Group]({}, value, location, context)
        for key in value.keys() & self.fields.keys():
            self.fields[key].validator.read(value[key], JsonPath(location, value, key), context)

    def _neither_fix(self, value: JsonObject) -> str:
        """The fix for an object that is neither a page nor a group, chosen by its keys."""
        moved = {key: RENAMED_KEYS[Group].get(normalize(key)) for key in value}
        if "pages" in moved.values():
            pairs = [f"{quoted(name)} for {quoted(key)}" for key, name in moved.items() if name in self.fields]
            return f"write {' and '.join(pairs)}"
        for key in _PATHS & value.keys():
            if isinstance(value[key], str) and value[key]:
                return f"write only the path, {quoted(value[key])}: the title of a page is in its file"
        return 'write a page as its path, "guides/start", and a group as { "group": …, "pages": [ … ] }'

    def _object(self, value: JsonObject, location: JsonPath, context: ReadContext) -> Any:
        clean: dict[str, Any] = {}
        unknown: list[str] = []
        for key, item in value.items():
            known = self.fields.get(key)
            if known is None:
                unknown.append(key)
                continue
            got = known.validator.read(item, JsonPath(location, value, key), context)
            if got is not None:
                clean[known.attribute] = got
        if unknown:
            report_unknown_keys(self.model, self.fields, value, unknown, location, context)
        fill_defaults = FILL_DEFAULTS.get(self.model)
        if fill_defaults is not None:
            fill_defaults(clean, value, location, context)
        if not self._complete(clean, value, location, context):
            return None
        context.objects[self.model].append((clean, location))
        return clean

    def _complete(self, clean: dict[str, Any], value: JsonObject, location: JsonPath, context: ReadContext) -> bool:
        complete = True
        for key, known in self.fields.items():
            if known.required and known.attribute not in clean:
                complete = False
                if key not in value:
                    message = f"{location.display()} has no {key}, and is left out"
                    context.diagnostics.add(
                        location.child(value, key), "CFG043", message, f'add "{key}": {known.description}'
                    )
        return complete

    def schema(self, *, strict: bool) -> Schema:
        reference: Schema = {"$ref": f"#/$defs/{self.model.__name__}"}
        if not self.shorthand:
            return reference
        return {"anyOf": [self.fields[self.shorthand[0]].validator.schema(strict=strict), reference]}

    def definition(self, *, strict: bool) -> Schema:
        """The JSON Schema of the object, to which the result of ``schema`` refers."""
        properties: Schema = {}
        for key, known in self.fields.items():
            properties[key] = {"description": known.description, **known.validator.schema(strict=strict)}
        for key, meaning in FOREIGN_KEYS.get(self.model, {}).items():
            description = f"{meaning} This field of other generators has no effect here."
            properties[key] = {"description": description, "x-known-extension": True}
        whole: Schema = {
            "type": "object",
            "description": (self.model.__doc__ or "").split("\n")[0],
            "properties": properties,
        }
        if strict:
            needed = [
                key for key, known in self.fields.items() if known.required or key in EXPECTED.get(self.model, ())
            ]
            whole |= {"required": needed} if needed else {}
            whole["additionalProperties"] = False
            if self.model is CallToAction:
                host = {"properties": {"type": {"const": "github"}}, "required": ["type"]}
                address = {"properties": {"url": {"pattern": WEB}}}
                whole |= {"if": host, "then": address, "else": {"required": ["name"]}}
        return whole


_VALIDATORS: dict[type[BaseModel], ObjectValidator] = {}


def validator_for(model: type[BaseModel]) -> ObjectValidator:
    """The validator of a model class. It is cached before its fields are added, because groups can contain groups."""
    if model in _VALIDATORS:
        return _VALIDATORS[model]
    validator = _VALIDATORS[model] = ObjectValidator(model, model.shorthand)  # type: ignore[attr-defined]  # every class of the model has it
    for attribute, info in model.model_fields.items():
        value_validator = _validator_of(info.annotation, info)
        validator.fields[info.alias or attribute] = FieldValidator(
            attribute, value_validator, info.is_required(), info.description or ""
        )
    return validator


def _validator_of(annotation: Any, info: FieldInfo) -> Validator:
    kinds = [each for each in info.metadata if isinstance(each, StringKind)]
    if annotation is str and kinds:
        return StringValidator(kinds[0])
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return StringValidator(arguments[1])
    if annotation is bool:
        return BooleanValidator()
    if origin is Literal:
        return EnumValidator(arguments)
    if origin is dict:
        return SocialAccountsValidator()
    if origin is tuple:
        extra = info.json_schema_extra
        single = isinstance(extra, dict) and bool(extra.get("single"))
        return ListValidator(_validator_of(arguments[0], info), single, info.is_required(), _model_of(arguments[0]))
    if origin in (Union, UnionType):
        return _union_validator([_validator_of(one, info) for one in arguments if one is not type(None)])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return validator_for(annotation)
    raise TypeError(f"no validator for the type {annotation!r} of a model field")


def _model_of(kind: Any) -> type[BaseModel] | None:
    """The model class of a list's items, if they are objects."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return next((one for one in kinds if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _union_validator(validators: list[Validator]) -> Validator:
    if len(validators) == 1:
        return validators[0]
    text, object_validator = validators
    if not isinstance(text, StringValidator):
        raise TypeError("a union in the model must be of a string and an object")
    return StringOrObjectValidator(text, object_validator)


def object_validators() -> list[ObjectValidator]:
    """The validators of all model classes; the first is the validator of ``SiteConfig``."""
    validator_for(SiteConfig)
    return list(_VALIDATORS.values())


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, strict: bool = False) -> dict[str, Any]:
    """The JSON Schema (2020-12) of the configuration file, as a new dict.

    The schema rejects a file if ``loads`` reports an error or, with ``strict``, a warning whose code has ``in_schema``
    in ``diagnostics.CODE_TABLE``. It accepts all other files. The lenient schema accepts unknown keys and is meant for
    editors; the strict one is meant for release checks.
    """
    definitions: dict[str, Any] = {
        kind.name.lower(): StringValidator(kind).definition(strict=strict) for kind in StringKind
    }
    definitions |= {validator.model.__name__: validator.definition(strict=strict) for validator in object_validators()}
    site = definitions.pop(SiteConfig.__name__)
    mode = "strict" if strict else "lenient"
    properties = {"$schema": {"description": "Address of this schema."}, **site.pop("properties")}
    whole: dict[str, Any] = {
        "$schema": DIALECT,
        "$id": f"urn:tenantry:site:{mode}",
        "title": "Site configuration file",
        **site,
        "properties": properties,
        "$defs": definitions,
    }
    if not strict:
        whole["required"] = ["name", "navigation"]
        for key in sorted(NEWER_KEYS):
            properties[key] = {
                "description": "This field of the newer format has no effect here.",
                "x-known-extension": True,
            }
    return whole
