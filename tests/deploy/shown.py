"""Puts the files of examples/ into the pages that show them: ``python -m tests.deploy.shown``."""

from __future__ import annotations

import re

from engines.reverse_proxies import FILES

ROOT = FILES.parents[1]


def main() -> None:
    """Each block that has the name of a file gets its text."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text("utf-8")
        page.write_text(
            re.sub(
                r'^(```\w+ title="(examples/[^"]+)"\n).*?^```$',
                lambda found: f"{found[1]}{(ROOT / found[2]).read_text('utf-8')}```",
                text,
                flags=re.MULTILINE | re.DOTALL,
            ),
            "utf-8",
        )


if __name__ == "__main__":
    main()
