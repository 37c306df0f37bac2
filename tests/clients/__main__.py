"""`make clients`: all four generators, against a running server each; a table of what came of it."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from tenantry.provisioning.http import openapi_document
from tests.clients.generators import ALL, Broken, Generator
from tests.clients.service import running

STEPS = ("GET", "POST", "PUT", "PATCH", "rotate", "introspect", "errors", "list", "DELETE")


def main() -> int:
    rows = [("generator", "compiles", *STEPS, "seconds")]
    failures: list[str] = []
    for generator in ALL:
        print(f"{generator.name} …", file=sys.stderr)
        begun = time.monotonic()
        try:
            steps = _one(generator)
        except Broken as broken:
            failures.append(str(broken))
            steps = {}
        cells = [steps.get(step, "-") for step in STEPS]
        rows.append((generator.name, "yes" if steps else "see below", *cells, f"{time.monotonic() - begun:.0f}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print("\n".join(failures))
    return 1 if failures else 0


def _one(generator: Generator) -> dict[str, str]:
    generator.install()
    with tempfile.TemporaryDirectory(prefix="tenantry-clients-") as name:
        folder = Path(name)
        document = folder / "openapi.json"
        document.write_text(json.dumps(openapi_document("3.1")), "utf-8")
        generator.make(document, folder / "client")
        generator.check(folder / "client", document)
        with running(folder) as service:
            return generator.call(folder / "client", service, document)


if __name__ == "__main__":
    sys.exit(main())
