"""The server of the demo's product: whom it gives passes, and what a customer that is cut off sees."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from tenantry.tokens import is_like_a_pass
from tests.demo.stage import PRODUCT_URL, URL, Stage


@pytest.fixture
async def client(stage: Stage) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stage.product), base_url=PRODUCT_URL) as opened:
        yield opened


async def test_the_page_names_its_customers_and_the_origin_of_the_dashboards(client: httpx2.AsyncClient) -> None:
    """And holds no token. Only that origin's script and frames are allowed."""
    page = await client.get("/")
    assert f'src="{URL}/dashboards/-/v1/embed.js"' in page.text
    assert "JetBlue Airways" in page.text
    assert "ugt" not in page.text
    policy = page.headers["content-security-policy"]
    assert f"script-src 'self' {URL}; frame-src {URL};" in policy
    assert "unsafe" not in policy


async def test_a_page_that_came_by_another_name_is_refused(client: httpx2.AsyncClient) -> None:
    """A name that is made to lead to this machine would read passes. Red without the list of names, and when
    the list lacks this machine's other name."""
    for path in ("/", "/customers/UA/pass"):
        answer = await client.request("GET" if path == "/" else "POST", path, headers={"Host": "evil.example:8001"})
        assert answer.status_code == 400
        assert "ugt" not in answer.text
    assert (await client.get("/", headers={"Host": "localhost:8001"})).status_code == 200


async def test_only_its_own_customers_have_passes(client: httpx2.AsyncClient, stage: Stage) -> None:
    """Three of sixteen; nobody keeps the answer. Red when it gives the token."""
    answer = await client.post("/customers/UA/pass")
    assert is_like_a_pass(answer.content)
    assert await sees_rows(stage, answer.text)
    assert answer.headers["cache-control"] == "no-store"
    for other in ("DL", "nobody"):
        assert (await client.post(f"/customers/{other}/pass")).status_code == 403


async def test_no_other_airline_is_cut_off(client: httpx2.AsyncClient, stage: Stage) -> None:
    """Red when the access of any group can be changed here."""
    assert (await client.delete("/customers/DL/access")).status_code == 403
    assert await sees_rows(stage, stage.tokens["DL"])


async def test_a_customer_stays_cut_off_while_its_page_goes_on_asking(client: httpx2.AsyncClient, stage: Stage) -> None:
    """Passes of before and after open nothing, nor does the token, until it is let in; the others go on. Red when
    cutting off is a rotation after which the product stores the new token."""
    before = (await client.post("/customers/UA/pass")).text
    await client.delete("/customers/UA/access")
    for _ in range(3):
        after = (await client.post("/customers/UA/pass")).text
        assert [await sees_rows(stage, each) for each in (before, after, stage.tokens["UA"])] == [False] * 3
    assert await sees_rows(stage, (await client.post("/customers/B6/pass")).text)
    await client.put("/customers/UA/access")
    assert await sees_rows(stage, before)


async def sees_rows(stage: Stage, given: str) -> bool:
    """Whether the dashboards take a pass or token, as an open page sends it."""
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stage.app), base_url=URL) as page:
        headers = {"X-User-Group-Token": given}
        answer = await page.post("/dashboards/overview/-/panels", json={"panels": []}, headers=headers)
    assert answer.status_code in {200, 401}, answer.text
    return answer.status_code == 200


async def test_an_open_page_does_not_make_a_deleted_customer_again(client: httpx2.AsyncClient, stage: Stage) -> None:
    """It is given passes of the saved token, which are refused. Letting the customer in again makes no group either.
    Red when the product gets or creates for its pages: the group was there again, empty."""
    await stage.provisioner.delete(stage.environment, "UA")
    for method in ("DELETE", "PUT"):
        assert not await sees_rows(stage, (await client.post("/customers/UA/pass")).text)
        assert (await client.request(method, "/customers/UA/access")).status_code == 204
        assert await stage.provisioner.get(stage.environment, "UA") is None


async def test_a_rotation_counts_until_the_product_stores_the_new_token(
    client: httpx2.AsyncClient, stage: Stage
) -> None:
    """An operator rotated the token: passes of the saved one are refused. Red when the product reads the live one for
    its pages, which undid the rotation."""
    rotated = await stage.provisioner.rotate(stage.environment, stage.tokens["UA"])
    assert not await sees_rows(stage, (await client.post("/customers/UA/pass")).text)
    assert await sees_rows(stage, rotated.token)
