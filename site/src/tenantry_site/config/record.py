"""Record: the shape of an object, made from a class of the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tenantry_site.config.distance import squash
from tenantry_site.config.finishing import FINISH, NEEDED
from tenantry_site.config.forms import form
from tenantry_site.config.keys import unknown_keys
from tenantry_site.config.marks import WEB, Mark
from tenantry_site.config.model import CallToAction, Group, SiteConfig
from tenantry_site.config.quoting import found, quoted
from tenantry_site.config.shapes import Accounts, Choice, Either, Flag, Items, Schema, Shape, Text
from tenantry_site.config.tables import EXTENSIONS, MOVED
from tenantry_site.config.tree import Object, Spot
from tenantry_site.config.walk import Walk

_PATHS = frozenset({"file", "href", "link", "page", "path", "slug", "url"})
"""Keys under which others give a page's path."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its attribute in the model, its shape, whether an object is of no use without it."""

    attribute: str
    shape: Shape
    required: bool
    description: str


@dataclass(slots=True)
class Record:
    """The shape of the objects of one class of the model. ``fields`` go by the keys of the file."""

    part: type[BaseModel]
    shorthand: tuple[str, ...]
    fields: dict[str, Field] = field(default_factory=dict)

    def read(self, value: Any, spot: Spot, walk: Walk) -> Any:
        if self.shorthand and isinstance(value, str):
            return self._short(value, spot, walk)
        if not isinstance(value, Object):
            expected = "a string or an object" if self.shorthand else "an object"
            return walk.wrong_type(spot, value, expected, f"write {form(self.part, value)}")
        if self.part is Group and "group" not in value and "pages" not in value:
            return self._neither(value, spot, walk)
        return self._object(value, spot, walk)

    def _neither(self, value: Object, spot: Spot, walk: Walk) -> None:
        """Says that an object in a list of pages is no page and no group; its fields are looked at all the same."""
        message = f"{spot.words()} is {found(value)}: neither a page nor a group"
        walk.notes.say(spot, "CFG066", message, self._meant(value))
        if len(spot.keys()) == 2:  # an item of the navigation itself can only be a group
            FINISH[Group]({}, value, spot, walk)
        for key in value.keys() & self.fields.keys():
            self.fields[key].shape.read(value[key], Spot(spot, value, key), walk)

    def _meant(self, value: Object) -> str:
        """What to write for it: its path, a group with its keys, or what both look like."""
        moved = {key: MOVED[Group].get(squash(key)) for key in value}
        if "pages" in moved.values():
            pairs = [f"{quoted(name)} for {quoted(key)}" for key, name in moved.items() if name in self.fields]
            return f"write {' and '.join(pairs)}"
        for key in _PATHS & value.keys():
            if isinstance(value[key], str) and value[key]:
                return f"write {quoted(value[key])} alone: a page is its path, its title stands in its file"
        return 'write a page as its path alone, "guides/start", and a group as { "group": …, "pages": [ … ] }'

    def _object(self, value: Object, spot: Spot, walk: Walk) -> Any:
        clean: dict[str, Any] = {}
        unknown: list[str] = []
        for key, item in value.items():
            known = self.fields.get(key)
            if known is None:
                unknown.append(key)
                continue
            got = known.shape.read(item, Spot(spot, value, key), walk)
            if got is not None:
                clean[known.attribute] = got
        if unknown:
            unknown_keys(self.part, self.fields, value, unknown, spot, walk)
        finish = FINISH.get(self.part)
        if finish is not None:
            finish(clean, value, spot, walk)
        if not self._complete(clean, value, spot, walk):
            return None
        walk.parts[self.part].append((clean, spot))
        return clean

    def _complete(self, clean: dict[str, Any], value: Object, spot: Spot, walk: Walk) -> bool:
        """Whether all is there that the object is of no use without."""
        complete = True
        for key, known in self.fields.items():
            if known.required and known.attribute not in clean:
                complete = False
                if key not in value:
                    message = f"{spot.words()} has no {key}, and is left out"
                    walk.notes.say(spot.below(value, key), "CFG043", message, f'add "{key}": {known.description}')
        return complete

    def _short(self, value: str, spot: Spot, walk: Walk) -> Any:
        known = [self.fields[key] for key in self.shorthand]
        text = known[0].shape.read(value, spot, walk)
        if text is None:
            return None
        clean = {one.attribute: text for one in known}
        walk.parts[self.part].append((clean, spot))
        return clean

    def schema(self, *, strict: bool) -> Schema:
        reference: Schema = {"$ref": f"#/$defs/{self.part.__name__}"}
        if not self.shorthand:
            return reference
        return {"anyOf": [self.fields[self.shorthand[0]].shape.schema(strict=strict), reference]}

    def definition(self, *, strict: bool) -> Schema:
        """The schema that ``schema`` refers to."""
        properties: Schema = {}
        for key, known in self.fields.items():
            properties[key] = {"description": known.description, **known.shape.schema(strict=strict)}
        for key, meaning in EXTENSIONS.get(self.part, {}).items():
            told = f"{meaning} A field of other generators: it has no effect here."
            properties[key] = {"description": told, "x-known-extension": True}
        whole: Schema = {
            "type": "object",
            "description": (self.part.__doc__ or "").split("\n")[0],
            "properties": properties,
        }
        if strict:
            needed = [key for key, known in self.fields.items() if known.required or key in NEEDED.get(self.part, ())]
            whole |= {"required": needed} if needed else {}
            whole["additionalProperties"] = False
            if self.part is CallToAction:
                host = {"properties": {"type": {"const": "github"}}, "required": ["type"]}
                address = {"properties": {"url": {"pattern": WEB}}}
                whole |= {"if": host, "then": address, "else": {"required": ["name"]}}
        return whole


_RECORDS: dict[type[BaseModel], Record] = {}


def record(part: type[BaseModel]) -> Record:
    """The shape of the objects of a class of the model, one for each class. A group's has itself inside."""
    if part in _RECORDS:
        return _RECORDS[part]
    shape = _RECORDS[part] = Record(part, part.shorthand)  # type: ignore[attr-defined]  # every part of the model has it
    for attribute, info in part.model_fields.items():
        kind = _shape(info.annotation, info)
        shape.fields[info.alias or attribute] = Field(attribute, kind, info.is_required(), info.description or "")
    return shape


def _shape(kind: Any, info: FieldInfo) -> Shape:
    """The shape of a field's type."""
    marks = [mark for mark in info.metadata if isinstance(mark, Mark)]
    if kind is str and marks:
        return Text(marks[0])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Text(arguments[1])
    if kind is bool:
        return Flag()
    if origin is Literal:
        return Choice(arguments)
    if origin is dict:
        return Accounts()
    if origin is tuple:
        extra = info.json_schema_extra
        single = isinstance(extra, dict) and bool(extra.get("single"))
        return Items(_shape(arguments[0], info), single, info.is_required(), _part(arguments[0]))
    if origin in (Union, UnionType):
        return _union([_shape(one, info) for one in arguments if one is not type(None)])
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return record(kind)
    raise TypeError(f"the model has a field of a type without a shape: {kind!r}")


def _part(kind: Any) -> type[BaseModel] | None:
    """The class of the objects that a list of this type holds, if it holds some."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return next((one for one in kinds if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _union(shapes: list[Shape]) -> Shape:
    if len(shapes) == 1:
        return shapes[0]
    text, part = shapes
    if not isinstance(text, Text):
        raise TypeError("a field that may be two things is a string or an object")
    return Either(text, part)


def records() -> list[Record]:
    """The shapes of all objects of the file, the whole file's first."""
    record(SiteConfig)
    return list(_RECORDS.values())
