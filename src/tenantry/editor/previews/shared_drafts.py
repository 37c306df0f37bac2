"""The unsaved texts of previews, shared by all processes of this host."""

# They are files in the run folder, because each request of a preview may reach another process.

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from tenantry.cache.slots import FolderTaken, RunFolder, run_folder
from tenantry.errors import FileNotSaved

SESSION_SECONDS: Final = 3_600.0
"""Lifetime of a preview's session, which begins when the frame opens the preview's address."""
SECONDS: Final = SESSION_SECONDS - 300.0
"""Maximum age of a preview, in seconds. A new preview replaces it before its session ends."""
_KEPT_SECONDS: Final = SESSION_SECONDS + 700.0  # the session may begin up to 600 s later
_MAX_PREVIEWS: Final = 20
"""Maximum number of previews of one author in one editor. When one more is made, the oldest ends."""
_NAME: Final = re.compile(r"[0-9a-f]{16}-[A-Za-z0-9_-]{22}")
_PREFIX: Final = "editor-preview-"


@dataclass(frozen=True, slots=True)
class PreviewedDrafts:
    editor: str
    """Identifies the editor on this host: its folder, and where it is mounted."""
    author: str
    dashboard: str
    viewed_as: str
    """Identifies the group and the viewer."""
    drafts: Mapping[str, str]
    """The unsaved texts, by path in the workspace."""
    created: float
    """POSIX time in seconds."""

    @property
    def environment(self) -> str:
        return str(json.loads(self.viewed_as)[0])

    @property
    def digest(self) -> str:
        """Return a digest of the unsaved texts for the audit trail, or ``saved`` if every text is saved."""
        if not self.drafts:
            return "saved"
        texts = json.dumps(dict(self.drafts), sort_keys=True).encode()
        return f"drafts-{blake2b(texts, digest_size=6).hexdigest()}"

    @property
    def seconds_left(self) -> float:
        """Seconds until another preview replaces this one."""
        return SECONDS - (time.time() - self.created)


def new_preview(drafts: PreviewedDrafts) -> str:
    # Ids of the same editor and author begin alike: by this, ``_remove_old`` finds an author's older previews.
    owner = blake2b(json.dumps([drafts.editor, drafts.author]).encode(), digest_size=8).hexdigest()
    return f"{owner}-{secrets.token_urlsafe(16)}"


class SharedDrafts:
    """Keeps previews in files of the run folder. All methods block."""

    def write(self, preview: str, drafts: PreviewedDrafts) -> None:
        """Store a preview. Raises FileNotSaved, StoreUnavailable."""
        found = _run_folder()
        folder = found.path
        draft = folder / f".{_PREFIX}{secrets.token_hex(8)}"
        try:
            _remove_old(folder, preview)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as file:
                os.fchmod(file.fileno(), found.file_mode)  # the umask would take the group's right to read
                json.dump(asdict(drafts), file)
            draft.replace(_file(folder, preview))
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise FileNotSaved(f"the preview cannot be stored in {folder}: {error.strerror or error}") from None

    def read(self, preview: str) -> PreviewedDrafts | None:
        """Return a preview, or None if it cannot be read. Raises StoreUnavailable."""
        if not _NAME.fullmatch(preview):
            return None
        with suppress(OSError):
            return PreviewedDrafts(**json.loads(_file(_run_folder().path, preview).read_bytes()))
        return None

    def stamp(self, preview: str) -> tuple[str, int, int]:
        """Return a value that changes when the drafts change."""
        with suppress(OSError):
            about = _file(_run_folder().path, preview).stat()
            return preview, about.st_mtime_ns, about.st_ino
        return preview, 0, 0


def _run_folder() -> RunFolder:
    try:
        return run_folder(name="editor")
    except FolderTaken as taken:
        raise taken.refusal from None


def _file(folder: Path, preview: str) -> Path:
    return folder / f"{_PREFIX}{preview}.json"


def _remove_old(folder: Path, preview: str) -> None:
    owner = f"{_PREFIX}{preview.partition('-')[0]}-"
    changed: dict[Path, float] = {}
    for file in folder.glob(f"*{_PREFIX}*"):
        with suppress(FileNotFoundError):  # another process has removed it
            changed[file] = file.stat().st_mtime
    newest_first = sorted(changed, key=changed.__getitem__, reverse=True)
    oldest = time.time() - _KEPT_SECONDS
    others = [file for file in newest_first if file.name.startswith(owner) and file != _file(folder, preview)]
    ended = {*others[_MAX_PREVIEWS - 1 :], *(file for file in newest_first if changed[file] < oldest)}
    for file in ended:
        file.unlink(missing_ok=True)
