"""The texts of each page of a PDF that Chromium has printed: glyphs in the order of the file, by tables of fonts."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping

_OBJECT = re.compile(rb"^(\d+) 0 obj\n(.*?)\nendobj$", re.DOTALL | re.MULTILINE)
_SHOWN = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-F]+)> Tj")
_SINGLE = re.compile(rb"<([0-9A-F]{4})> <([0-9A-F]{4})>\n")
_RANGE = re.compile(rb"<([0-9A-F]{4})> <([0-9A-F]{4})> <([0-9A-F]{4})>")

Objects = Mapping[int, bytes]


def texts_of(pdf: bytes) -> list[str]:
    """One for each page."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    pages = [body for body in objects.values() if body.startswith(b"<</Type /Page\n")]
    return ["".join(_texts(objects, page)) for page in pages]


def _texts(objects: Objects, page: bytes) -> Iterator[str]:
    fonts = {name: _letters(objects, int(number)) for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", page)}
    letters: Mapping[int, str] = {}
    for font, glyphs in _SHOWN.findall(_stream(objects, _reference(page, b"Contents"))):
        if font:
            letters = fonts[font]
            yield "\n"
        yield from (letters.get(int(glyphs[at : at + 4], 16), "?") for at in range(0, len(glyphs), 4))


def _letters(objects: Objects, font: int) -> dict[int, str]:
    table = _stream(objects, _reference(objects[font], b"ToUnicode"))
    found = {int(glyph, 16): chr(int(letter, 16)) for glyph, letter in _SINGLE.findall(table)}
    for first, last, letter in _RANGE.findall(table):
        start = int(first, 16)
        found |= {glyph: chr(int(letter, 16) + glyph - start) for glyph in range(start, int(last, 16) + 1)}
    return found


def _reference(body: bytes, name: bytes) -> int:
    found = re.search(rb"/%s (\d+) 0 R" % name, body)
    assert found is not None
    return int(found[1])


def _stream(objects: Objects, number: int) -> bytes:
    head, _, content = objects[number].partition(b"stream\n")
    assert b"/FlateDecode" in head
    return zlib.decompressobj().decompress(content)
