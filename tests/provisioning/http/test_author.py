"""Who is written down as the author of what came over HTTP."""

from __future__ import annotations

from tenantry.groups import GroupDraft
from tenantry.provisioning import Provisioner, issue_api_token
from tests.provisioning.http.conftest import Service


async def test_the_api_token_and_the_request_are_named(service: Service) -> None:
    """By id and label, never by the secret; a refused call and one that changed nothing write nothing down.

    Red when an operation forgets to pass its author on.
    """
    secret, caller = await issue_api_token(service.store.api_tokens, service.production, label="billing")
    after = (await service.store.audit.list())[-1].number
    made = await service.ask("GET", {"user_group_id": "acme"}, caller=secret, X_Request_Id="r-1")
    await service.ask("GET", {"user_group_id": "acme"}, caller=secret, X_Request_Id="r-2")
    await service.ask("PUT", {"user_group_id": "acme", "name": "Acme"}, caller=secret, X_Request_Id="r-3")
    token = made.json()["user_group"]["token"]
    for request_id in ("r-4", "r-5"):
        body = {"current_token": token}
        await service.ask("POST", body, caller=secret, X_Request_Id=request_id, Idempotency_Key="once")
    await service.ask("POST", {"current_token": "nonsense"}, caller=secret, X_Request_Id="r-6")
    entries = await service.store.audit.list(after=after)
    assert [(entry.action, entry.author.request_id) for entry in entries] == [
        ("group.created", "r-1"),
        ("group.updated", "r-3"),
        ("group.rotated", "r-4"),
    ]
    assert {entry.author.name for entry in entries} == {f"api token {caller.id} (billing)"}
    for canary in (secret, token, secret[-20:], token[-20:]):
        assert canary not in repr(entries)


async def test_an_answer_and_the_trail_name_one_request(service: Service) -> None:
    """Also where the caller gave no id. Red when the id is made anew each time it is asked for."""
    answer = await service.ask("GET", {"user_group_id": "acme"})
    (entry,) = [entry for entry in await service.store.audit.list() if entry.action == "group.created"]
    assert entry.author.request_id == answer.headers["x-request-id"]


async def test_a_program_that_says_nothing_is_unnamed(service: Service) -> None:
    """There is an author in any case."""
    provisioner = Provisioner(service.store, service.keys)
    await provisioner.get_or_create(service.production, GroupDraft("acme", "Acme"))
    assert (await service.store.audit.list())[-1].author.name == "unnamed"
