"""The API token in each way that OAuth clients send it (RFC 6749 section 2.3), and in no two at once."""

from __future__ import annotations

from base64 import b64encode

import httpx2
import pytest

from tests.backends.introspection.conftest import FORM, PATH, make_issued
from tests.backends.introspection.test_endpoint import ALL_CHALLENGES, assert_refused
from tests.provisioning.http.conftest import Service, assert_documented, make_caller


def basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


async def post(service: Service, fields: dict[str, str], *authorizations: str, **headers: str) -> httpx2.Response:
    given = [("Authorization", each) for each in authorizations]
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    answer = await service.http.post(PATH, data=fields, headers=[*given, *named])
    assert_documented(answer)
    return answer


@pytest.mark.parametrize("user", ["", "dashboards", "a:b", "a%20b"])
async def test_basic(service: Service, user: str) -> None:
    """The password is the API token, whatever the user; a colon in the user's name must be encoded, as RFC 6749 says.

    Red when the scheme is not read, and when the whole pair is taken for the token.
    """
    _, token = await make_issued(service)
    answer = await post(service, {"token": token}, basic(user.replace(":", "%3A"), service.reader))
    assert answer.json()["active"] is True


async def test_basic_as_its_rfc_has_it(service: Service) -> None:
    """User and password form-encoded; the scheme in any case."""
    _, token = await make_issued(service)
    encoded = "".join(f"%{byte:02X}" for byte in service.reader.encode())
    answer = await post(service, {"token": token}, basic("x", encoded).replace("Basic", "bASIC"))
    assert answer.json()["active"] is True


@pytest.mark.parametrize("client", [{}, {"client_id": "dashboards"}])
async def test_client_secret_post(service: Service, client: dict[str, str]) -> None:
    """The form's ``client_secret`` is the API token; ``client_id`` is not looked at. Red when it is not read."""
    _, token = await make_issued(service)
    answer = await post(service, {"token": token, **client, "client_secret": service.reader})
    assert answer.json()["active"] is True


async def test_two_ways_at_once(service: Service) -> None:
    """400 ``invalid_request``, even when both are the same; an empty ``client_secret`` is one that is not there."""
    _, token = await make_issued(service)
    for first in (f"Bearer {service.reader}", f"Token {service.reader}", basic("x", service.reader)):
        twice = await post(service, {"token": token, "client_secret": service.reader}, first)
        assert_refused(twice, 400, "ambiguous_authorization")
        assert twice.json()["error"] == "invalid_request"
        headers = await post(service, {"token": token}, first, f"Bearer {service.reader}")
        assert_refused(headers, 400, "ambiguous_authorization")
        assert (await post(service, {"token": token, "client_secret": ""}, first)).json()["active"] is True
    body = f"token={token}&client_secret={service.reader}&client_secret={service.reader}"
    answer = await service.http.post(PATH, content=body, headers=FORM)
    assert_refused(answer, 400, "ambiguous_authorization")


@pytest.mark.parametrize("given", ["Basic", "Basic x", "Basic " + b64encode(b"no colon").decode(), basic("x", "y")])
async def test_a_bad_basic(service: Service, given: str) -> None:
    """401, challenged with Basic."""
    answer = await post(service, {"token": "x"}, given)
    assert_refused(answer, 401, "unauthorized")
    assert answer.headers.get_list("www-authenticate") == ['Basic realm="api"']


async def test_a_bad_client_secret(service: Service) -> None:
    """401 ``invalid_client`` with all challenges, for none was used; and a lacking scope is 403."""
    for secret in ("x", "ugkc_" + "0" * 49):
        answer = await post(service, {"token": "x", "client_secret": secret})
        assert_refused(answer, 401, "unauthorized")
        assert answer.headers.get_list("www-authenticate") == ALL_CHALLENGES
        assert secret not in answer.text.replace("client_secret", "")
    assert_refused(await post(service, {"token": "x", "client_secret": service.caller}), 403, "missing_scope")


async def test_what_is_wrong_with_the_form_is_reported_to_a_caller(service: Service) -> None:
    """After the API token in it was looked up: 415 and 400 for a caller, 401 for anybody else."""
    fields = {"client_secret": service.reader}
    assert_refused(await post(service, fields), 400, "invalid_request")
    assert_refused(await post(service, {}), 401, "unauthorized")
    typed = await service.http.post(PATH, content=f"client_secret={service.reader}&token=x")
    assert_refused(typed, 415, "unsupported_media_type")
    twice = await service.http.post(PATH, content=f"client_secret={service.reader}&token=x&token=x", headers=FORM)
    assert_refused(twice, 400, "invalid_request")


async def test_a_long_form_of_nobody_is_not_read(service: Service) -> None:
    """A form of more than 8 KiB needs a header: 401 without the body being asked for."""
    body = f"client_secret={service.reader}&token=x&pad=" + "x" * 10_000
    assert_refused(await service.http.post(PATH, content=body, headers=FORM), 401, "unauthorized")


async def test_api_user_reads_none_of_them(service: Service) -> None:
    """Its table stays: ``Token`` alone."""
    both = await make_caller(service.store, service.production)
    for given in (basic("x", both), f"Bearer {both}"):
        answer = await service.http.put("/api/user", json={"user_group_id": "acme"}, headers={"Authorization": given})
        assert answer.status_code == 401
        assert answer.headers.get_list("www-authenticate") == ['Token realm="api"']
