"""A chart of a million points, and the same chart of the rows that the server keeps of them: one picture."""

from __future__ import annotations

import base64
import math
import random

import pytest

from engines.chromium import OpenPage
from tenantry.dashboards.reduction import Plot, reduce_rows
from tenantry.results import Result
from tests.dashboards.page.conftest import come
from tests.dashboards.page.stand_in import Message, StandIn, rows

POINTS = {1: 1_000_000, 2: 300_000}
"""By the pixels of a screen for one of the page."""
MOST = 0.005
"""The share of the inked pixels that may differ so that somebody could see it."""
VISIBLE = 32
"""A difference of one of the three colours, of 255, below which nobody sees it."""

COUNT = """async ([one, other, visible]) => {
    const pixels = async (text) => {
        const image = new Image();
        image.src = `data:image/png;base64,${text}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height).data;
    };
    const [first, second] = [await pixels(one), await pixels(other)];
    let inked = 0;
    let different = 0;
    for (let at = 0; at < first.length; at += 4) {
        const far = (a, b, place) => Math.abs(a[at + place] - b[at + place]) > visible;
        if ([0, 1, 2].some((place) => first[at + place] < 255 - visible)) inked += 1;
        if ([0, 1, 2].some((place) => far(first, second, place))) different += 1;
    }
    return [first.length, second.length, inked, different];
}"""


def walk(count: int) -> list[tuple[int, float]]:
    """A wandering line with a day's rhythm, noise, and now and then a spike."""
    chance = random.Random(20261123)
    level, points = 0.0, []
    for at in range(count):
        level += chance.gauss(0, 0.05)
        spike = 60 if chance.random() < 0.00002 else 0
        points.append((at, round(level + 8 * math.sin(at / 15_000) + chance.gauss(0, 1.5) + spike, 2)))
    return points


@pytest.mark.parametrize("scale", [1, 2])
async def test_the_picture_is_the_same(stand_in: StandIn, open_page: OpenPage, scale: int) -> None:
    """At both densities of pixels, by the width that the page itself asks for. Red when it asks for the width of the
    plot, without the half more: 2 in a hundred of the inked pixels differ; with half of it, 6."""
    every = walk(POINTS[scale])
    asked: list[int] = []

    def all_rows(wanted: Message, filters: object) -> Message:
        return rows({"x": "integer", "y": "float"}, *map(list, every))

    def reduced(wanted: Message, filters: object) -> Message:
        asked.append(wanted["width"])
        kept = reduce_rows(Result(("x", "y"), every), Plot("x", ("y",), None, wanted["width"]))
        assert kept is not None
        return rows({"x": "integer", "y": "float"}, *map(list, kept.rows), reduced=True)

    pictures = []
    seen = await open_page(device_scale_factor=scale)
    seen.page.set_default_timeout(120_000)
    for answer in (all_rows, reduced):
        await seen.page.goto(
            stand_in.show([{"kind": "line", "line": ["y"], "by": "x", "title": "Load", "answer": answer}])
        )
        await come(seen)
        pictures.append(base64.b64encode(await seen.page.locator("svg.plot").screenshot()).decode())
    first, second, inked, different = await seen.page.evaluate(COUNT, [*pictures, VISIBLE])
    assert asked == [2560 if scale == 1 else 5120]
    assert first == second
    assert inked > 20_000
    assert different / inked <= MOST
