"""The server of the demo's product: who is given a token, and who is not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

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
    """A name that is made to lead to this machine would read tokens. Red without the list of names."""
    for path in ("/", "/customers/UA/token"):
        answer = await client.request("GET" if path == "/" else "POST", path, headers={"Host": "evil.example:8001"})
        assert answer.status_code == 400
        assert "ugt" not in answer.text


async def test_only_its_own_customers_have_tokens(client: httpx2.AsyncClient, stage: Stage) -> None:
    """Three of sixteen; nobody keeps the answer."""
    answer = await client.post("/customers/UA/token")
    assert answer.json() == {"token": stage.tokens["UA"]}
    assert answer.headers["cache-control"] == "no-store"
    for other in ("DL", "nobody"):
        assert (await client.post(f"/customers/{other}/token")).status_code == 403


async def test_no_other_airline_is_cut_off(client: httpx2.AsyncClient, stage: Stage) -> None:
    """Red when the access of any group can be changed here."""
    assert (await client.delete("/customers/DL/access")).status_code == 403
    found = await stage.provisioner.get(stage.environment, "DL")
    assert found is not None
    assert found.token == stage.tokens["DL"]


async def test_a_customer_that_was_cut_off_is_let_in_with_another_token(
    client: httpx2.AsyncClient, stage: Stage
) -> None:
    """In between it is given none."""
    await client.delete("/customers/UA/access")
    assert (await client.post("/customers/UA/token")).status_code == 403
    assert (await client.post("/customers/B6/token")).status_code == 200
    await client.put("/customers/UA/access")
    token = (await client.post("/customers/UA/token")).json()["token"]
    assert token != stage.tokens["UA"]
    assert await sees_rows(stage, token)


async def sees_rows(stage: Stage, token: str) -> bool:
    """Whether the dashboards take the token, as an open page sends it."""
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=stage.app), base_url=URL) as page:
        headers = {"X-User-Group-Token": token}
        answer = await page.post("/dashboards/overview/-/panels", json={"panels": []}, headers=headers)
    assert answer.status_code in {200, 401}, answer.text
    return answer.status_code == 200


async def test_an_open_page_does_not_make_a_deleted_customer_again(client: httpx2.AsyncClient, stage: Stage) -> None:
    """It asks for its token, and is given the one of the sign-up, which is refused. Letting the customer in again makes
    no group either. Red when the product gets or creates for its pages: the group was there again, empty."""
    await stage.provisioner.delete(stage.environment, "UA")
    for _ in range(2):
        token = (await client.post("/customers/UA/token")).json()["token"]
        assert not await sees_rows(stage, token)
        assert await stage.provisioner.get(stage.environment, "UA") is None
        assert (await client.delete("/customers/UA/access")).status_code == 204
        assert (await client.post("/customers/UA/token")).status_code == 403
        assert (await client.put("/customers/UA/access")).status_code == 204


async def test_a_rotation_counts_until_the_product_stores_the_new_token(
    client: httpx2.AsyncClient, stage: Stage
) -> None:
    """An operator rotated the token: an open page is given the stored one, which is refused. Red when the product reads
    the live one for its pages, which undid the rotation."""
    rotated = await stage.provisioner.rotate(stage.environment, stage.tokens["UA"])
    token = (await client.post("/customers/UA/token")).json()["token"]
    assert token == stage.tokens["UA"]
    assert not await sees_rows(stage, token)
    assert await sees_rows(stage, rotated.token)
