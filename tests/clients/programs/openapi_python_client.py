"""What a program does with the client of openapi-python-client. Prints what each step came to."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

from openapi_python_client_made import AuthenticatedClient
from openapi_python_client_made.api.introspection import introspect_user_group_token
from openapi_python_client_made.api.user_groups import (
    delete_user_group,
    get_or_create_user_group,
    list_user_groups,
    merge_user_group,
    post_user_group,
    rotate_user_group_token,
    update_user_group,
)
from openapi_python_client_made.models import (
    Deleted,
    EnvironmentTag,
    ErrorAnswer,
    Found,
    GetOrCreate,
    IntrospectedGroup,
    Introspection,
    IntrospectionRequest,
    ListedGroups,
    Merge,
    Merged,
    Posted,
    Properties,
    Rotate,
    Rotated,
    Update,
    Updated,
)
from openapi_python_client_made.types import UNSET

GROUP = os.environ["GROUP_ID"]
GIVEN = {
    "region": "Île-de-France 東京",
    "seats": {"bought": [1, 2.5, None, {"until": None}], "free": True, "until": None},
    "2": {"3": {"4": {"5": {"6": {"7": {"8": None}}}}}},
}

api_token = os.environ["API_TOKEN"]
client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=api_token, prefix="Token")
steps: dict[str, str] = {}

# GET: this client sends its body
found = get_or_create_user_group.sync(client=client, body=GetOrCreate(user_group_id=f"{GROUP} by GET"))
assert isinstance(found, Found)
assert found.new_user_group
assert found.user_group.provided_id == f"{GROUP} by GET"
assert found.user_group.properties is None
steps["GET"] = "ok"

# POST makes the group, and says so
body = GetOrCreate(user_group_id=GROUP, name="Acme Ltd", properties=Properties.from_dict(GIVEN))
made = post_user_group.sync(client=client, body=body)
assert isinstance(made, Posted)
assert made.new_user_group is True
assert made.user_group.api_environment_tag == EnvironmentTag.CUSTOMER
assert isinstance(made.user_group.properties, Properties)
assert made.user_group.properties.to_dict() == GIVEN
steps["POST"] = "ok"

# PUT changes it
changed = update_user_group.sync(
    client=client, body=Update(user_group_id=GROUP, properties=Properties.from_dict({"region": "us"}))
)
assert isinstance(changed, Updated)
assert isinstance(changed.user_group.properties, Properties)
assert changed.user_group.properties["region"] == "us"
cleared = update_user_group.sync(client=client, body=Update(user_group_id=GROUP, properties=None))
assert isinstance(cleared, Updated)
assert cleared.user_group.properties is None
steps["PUT"] = "ok"

# PATCH gives it an end date, and takes it away
for ends in (datetime(2099, 1, 31, 23, 59, 59, tzinfo=UTC), None):
    merged = merge_user_group.sync(client=client, body=Merge(user_group_id=GROUP, expires_at=ends))
    assert isinstance(merged, Merged)
    assert merged.user_group.expires_at == ends
steps["PATCH"] = "ok"

# a rotation, at its own address and at the other
token = made.user_group.token
rotated = rotate_user_group_token.sync(client=client, body=Rotate(current_token=token), idempotency_key=f"once-{GROUP}")
assert isinstance(rotated, Rotated)
assert rotated.user_group.token != token
again = rotate_user_group_token.sync(client=client, body=Rotate(current_token=token), idempotency_key=f"once-{GROUP}")
assert again == rotated
by_post = post_user_group.sync(client=client, body=Rotate(current_token=rotated.user_group.token))
assert isinstance(by_post, Posted)
assert by_post.new_user_group is UNSET
assert by_post.user_group.properties is UNSET
steps["rotate"] = "ok"

# introspection of a live token and of a dead one
bearer = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=api_token)
live = introspect_user_group_token.sync(client=bearer, body=IntrospectionRequest(token=by_post.user_group.token))
assert isinstance(live, Introspection)
assert live.active
assert live.sub == GROUP
assert live.exp is UNSET
ending = introspect_user_group_token.sync(client=bearer, body=IntrospectionRequest(token=rotated.user_group.token))
assert isinstance(ending, Introspection)
assert isinstance(ending.user_group, IntrospectedGroup)
assert ending.user_group.grace_until is not None
assert ending.exp == int(ending.user_group.grace_until.timestamp())
dead = introspect_user_group_token.sync(client=bearer, body=IntrospectionRequest(token=token))
assert isinstance(dead, Introspection)
assert not dead.active
assert dead.user_group is UNSET
steps["introspect"] = "ok"

# an error, and one with a code of a later version
unknown = update_user_group.sync_detailed(client=client, body=Update(user_group_id="nobody", name="Nobody"))
assert unknown.status_code == 404
assert isinstance(unknown.parsed, ErrorAnswer)
assert unknown.parsed.error.code == "unknown_group"
assert unknown.parsed.error.field == "/user_group_id"
later = AuthenticatedClient(base_url=os.environ["LATER_URL"], token=api_token, prefix="Token")
strange = update_user_group.sync_detailed(client=later, body=Update(user_group_id=GROUP))
assert strange.status_code == 422
assert isinstance(strange.parsed, ErrorAnswer)
assert strange.parsed.error.code == "a_code_of_later"
busy = update_user_group.sync_detailed(client=later, body=Update(user_group_id="busy"))
assert (busy.status_code, busy.headers["Retry-After"]) == (503, "7")
assert isinstance(busy.parsed, ErrorAnswer)
assert busy.parsed.error.code == "a_code_of_later"
late = rotate_user_group_token.sync_detailed(client=client, body=Rotate(current_token=token))
assert late.status_code == 409
assert isinstance(late.parsed, ErrorAnswer)
assert late.parsed.error.code == "token_already_rotated"
steps["errors"] = "ok"

# the list has the group, until it is deleted
listed = list_user_groups.sync(client=client, user_group_id=GROUP, limit=10)
assert isinstance(listed, ListedGroups)
assert [group.name for group in listed.user_groups] == ["Acme Ltd"]
assert listed.next_ is None
steps["list"] = "ok"
deleted = delete_user_group.sync(client=client, user_group_id=GROUP)
assert isinstance(deleted, Deleted)
assert deleted.user_group.provided_id == GROUP
empty = list_user_groups.sync(client=client, user_group_id=GROUP)
assert isinstance(empty, ListedGroups)
assert empty.user_groups == []
gone = delete_user_group.sync_detailed(client=client, user_group_id=GROUP)
assert gone.status_code == 404
assert isinstance(gone.parsed, ErrorAnswer)
assert gone.parsed.error.code == "unknown_group"
steps["DELETE"] = "ok"

print(json.dumps(steps))
