"""Recording: the files of a site, with a memory of which were read and what was in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tenantry_site.rendering.manuscripts import Files


class Recording(Mapping[str, str | bytes]):
    """Reads through to ``files``, which may change between two uses of what was made from them."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._read: dict[str, str | bytes | None] = {}

    def __getitem__(self, path: str) -> str | bytes:
        try:
            content = self._files[path]
        except KeyError:
            self._read[path] = None
            raise
        self._read[path] = content
        return content

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def holds(self, files: Files, changed: Collection[str] | None) -> bool:
        """Whether everything that was read is the same in ``files``. If so, reading goes on from there."""
        for path, content in self._read.items():
            if (changed is None or path in changed) and files.get(path) != content:
                return False
        self._files = files
        return True
