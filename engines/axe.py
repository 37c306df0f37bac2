"""axe: what is wrong with a page for somebody who does not see it, or not well."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from axe_playwright_python.base import AXE_SCRIPT

if TYPE_CHECKING:
    from playwright.async_api import Page


ALWAYS = frozenset({"landmark-unique"})
"""Rules that count though axe calls what they find moderate: two landmarks of one name cannot be told apart."""


SETTLED = """() => Promise.allSettled(document.getAnimations()
    .filter((each) => each instanceof CSSTransition).map((each) => each.finished)).then(() => null)"""


async def serious(
    page: Page, *, only: Collection[str] = (), also: Collection[str] = (), without: Collection[str] = ()
) -> list[str]:
    """What axe calls serious or critical, or what a rule of ALWAYS finds, each with the first three places where it is.

    ``only``: ask these rules and no other; ``also``: further rules that count whatever axe calls what they find;
    ``without``: selectors of what is not looked at.
    """
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE_SCRIPT)
    await page.evaluate(SETTLED)  # a text that is just fading in has no contrast yet
    asked: dict[str, Any] = {"resultTypes": ["violations"]}
    if only:
        asked["runOnly"] = [*only]
    run = "async ([without, asked]) => (await axe.run({exclude: without}, asked)).violations"
    violations = await page.evaluate(run, [[*without], asked])
    return [
        f"{each['id']}: {[node['html'][:200] for node in each['nodes']][:3]}"
        for each in violations
        if each["impact"] in {"serious", "critical"} or each["id"] in {*ALWAYS, *also}
    ]
