from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Final

PACKED: Final = Path(__file__).parent
_KINDS: Final = ("dashboards/*.yaml", "queries/*.sql", "tables.yaml")


def copy_files(folder: Path) -> Path:
    """Copy the demo's dashboards and queries to a folder in ``folder``, unless it exists. Return the folder of the
    copied dashboards."""
    files = {file.relative_to(PACKED): file.read_bytes() for kind in _KINDS for file in sorted(PACKED.glob(kind))}
    # The folder's name contains a hash, so that files of another version are not reused.
    digest = hashlib.sha256(b"".join(str(name).encode() + content for name, content in files.items())).hexdigest()
    copied = folder / f"files-{digest[:12]}"
    if not copied.exists():
        draft = copied.with_name(f"{copied.name}.{os.getpid()}")  # renamed when complete
        shutil.rmtree(draft, ignore_errors=True)
        for name, content in files.items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).write_bytes(content)
        draft.rename(copied)
    return copied / "dashboards"
