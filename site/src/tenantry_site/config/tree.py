"""The tree of a configuration file: plain values that know where they stand."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenantry_site.config.quoting import clip


class Object(dict[str, Any]):
    """An object: ``places`` has the offsets of each key and of its value, ``start`` that of the bracket."""

    __slots__ = ("places", "start")

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start
        self.places: dict[str, tuple[int, int]] = {}


class Array(list[Any]):
    """A list: ``places`` has the offset of each item, ``start`` that of the bracket."""

    __slots__ = ("places", "start")

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start
        self.places: list[int] = []


class Spot(NamedTuple):
    """A place in the tree, the place where it hangs, and the key or index by which. The root has no holder."""

    parent: Spot | None = None
    holder: Object | Array | None = None
    key: str | int = ""

    def below(self, holder: Object | Array, key: str | int) -> Spot:
        """The place of what this place's value has under a key."""
        return Spot(self, holder, key)

    def keys(self) -> list[str | int]:
        """The keys from the root to here."""
        steps: list[str | int] = []
        spot: Spot | None = self
        while spot is not None and spot.holder is not None:
            steps.append(spot.key)
            spot = spot.parent
        return steps[::-1]

    def pointer(self) -> str:
        """The JSON pointer (RFC 6901); also of a key that is missing."""
        return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in self.keys())

    def words(self) -> str:
        """The place as a person says it: ``anchors[2].url``."""
        text = ""
        for key in self.keys():
            text += f"[{key}]" if isinstance(key, int) else ("." if text else "") + clip(key, 40)
        return text or "the file"

    def offset(self, *, of_key: bool = False) -> int:
        """Where it stands: the value, or its key; the object around it if the key is missing."""
        if isinstance(self.holder, Object):
            places = self.holder.places.get(str(self.key))
            if places is not None:
                return places[0 if of_key else 1]
        elif self.holder is not None and isinstance(self.key, int) and self.key < len(self.holder.places):
            return self.holder.places[self.key]
        return self.holder.start if self.holder is not None else 0
