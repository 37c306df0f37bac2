"""Reads a search index as ``static/search.js`` does: which parts have a word, and how much it counts there."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tenantry_site.outputs.search_page import CODES, SECTIONS, unpack, words


class Index:
    """``loaded`` has the sizes of the files that were needed."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.loaded: dict[str, int] = {}
        self.head = json.loads(self._load("search/index.json"))

    def _load(self, path: str) -> bytes:
        self.loaded[path] = len(self.files[path])
        return self.files[path]

    def lines(self, word: str) -> dict[str, tuple[bool, str]]:
        """The words of the file that has ``word``, with whether they are common, and their postings."""
        name = [name for first, name in self.head["words"] if first <= word][-1:]
        found, before = {}, ""
        for line in self._load(f"search/{name[0]}").decode().split("\n")[:-1] if name else ():
            end = min(place for place in (line.find(" "), line.find("\t")) if place >= 0)
            before = before[: int(line[0], 36)] + line[1:end]
            found[before] = (line[end] == "\t", line[end + 1 :])
        return found

    def find(self, word: str) -> list[tuple[str, str, int]]:
        """Page, section and level of each part that has the word, the best first."""
        word = words(word)[-1]
        found = []
        for posting in unpack(self.lines(word).get(word, (False, ""))[1]):
            part, code = divmod(posting, CODES)
            name = self.head["parts"][part // self.head["each"]]
            path, _, _, *sections = json.loads(self._load(f"search/{name}"))[part % self.head["each"]]
            found.append((path, sections[code % SECTIONS], code // SECTIONS))
        return sorted(found, key=lambda each: -each[2])
