"""``make guard-proof``: every attack text, generated queries and mutations, on each real engine.

``python -m tests.sql.guarding.attacks --engines sqlite duckdb --generated 100 --mutations 1000`` runs less of it. Exits
with 1 if anything leaks, crashes, or is read in another way by a second reader.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from random import Random

from tests.sql.guarding.attacks.databases import NAMES, started
from tests.sql.guarding.attacks.proof import prove


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.sql.guarding.attacks", description=__doc__)
    parser.add_argument("--engines", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--texts", type=int, help="for each engine (default: all, each at every place)")
    parser.add_argument("--generated", type=int, default=2_000, help="queries for each engine (default: 2,000)")
    parser.add_argument("--mutations", type=int, default=100_000, help="in all (default: 100,000)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31), help="to repeat a run")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    defects = 0
    for name in asked.engines:
        with started(name) as engine:
            each = asked.mutations // len(asked.engines)
            proof = prove(
                engine, Random(asked.seed), texts=asked.texts, generated=asked.generated, mutated=each, progress=_say
            )
        for kind, found in proof.items():
            rate = found.tried / max(found.seconds, 0.001)
            print(
                f"{name}, {kind}: {found.tried:,} tried, {found.ran:,} ran, {found.leaking:,} leak unguarded; guarded"
                f" {found.leaks} leak, {found.crashes} crash; {found.readings:,} read again, {found.differences} differ"
                f" ({sum(found.explained.values())} explained); {found.seconds:.0f} s, {rate:.0f} a second",
                flush=True,
            )
            for shown in found.shown:
                print(shown, flush=True)
            defects += found.defects
    sys.exit(1 if defects else 0)


def _say(words: str) -> None:
    print(f"    {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
