"""What a program does with the Python client of openapi-generator. Prints what each step came to."""

# ruff: noqa: PT017 - a program, not a test
from __future__ import annotations

import json
import os
from datetime import UTC, datetime

from openapi_generator_made import ApiClient, Configuration
from openapi_generator_made.api.introspection_api import IntrospectionApi
from openapi_generator_made.api.user_groups_api import UserGroupsApi
from openapi_generator_made.exceptions import ApiException
from openapi_generator_made.models import GetOrCreate, Merge, PostUserGroupRequest, Rotate, Update

GROUP = os.environ["GROUP_ID"]
GIVEN = {
    "region": "Île-de-France 東京",
    "seats": {"bought": [1, 2.5, None, {"until": None}], "free": True, "until": None},
    "2": {"3": {"4": {"5": {"6": {"7": {"8": None}}}}}},
}


def api_client(url: str) -> ApiClient:
    keys = {"apiToken": os.environ["API_TOKEN"]}
    return ApiClient(Configuration(host=url, api_key=keys, api_key_prefix={"apiToken": "Token"}))


groups = UserGroupsApi(api_client(os.environ["BASE_URL"]))
introspection = IntrospectionApi(api_client(os.environ["BASE_URL"]))
steps: dict[str, str] = {}

# GET: this client drops the body, and the answer says what to send instead
try:
    groups.get_or_create_user_group(GetOrCreate(user_group_id=f"{GROUP} by GET"))
except ApiException as error:
    assert error.status == 400, error
    assert error.data is not None
    assert error.data.error.code == "bad_json"
    assert "send the same JSON object with QUERY or POST" in error.data.error.message
    steps["GET"] = "body dropped, and told so"
else:
    steps["GET"] = "ok"

# POST makes the group, and says so
body = GetOrCreate(user_group_id=GROUP, name="Acme Ltd", properties=GIVEN)
made = groups.post_user_group(PostUserGroupRequest(body))
assert made.new_user_group is True
assert made.user_group.api_environment_tag == "Customer"
assert made.user_group.properties == GIVEN
steps["POST"] = "ok"

# PUT changes it
changed = groups.update_user_group(Update(user_group_id=GROUP, properties={"region": "us"}))
assert changed.user_group.properties == {"region": "us"}
cleared = groups.update_user_group(Update(user_group_id=GROUP, properties=None))
assert cleared.user_group.properties is None
steps["PUT"] = "ok"

# PATCH gives it an end date, and takes it away
ends = datetime(2099, 1, 31, 23, 59, 59, tzinfo=UTC)
assert groups.merge_user_group(Merge(user_group_id=GROUP, expires_at=ends)).user_group.expires_at == ends
assert groups.merge_user_group(Merge(user_group_id=GROUP, expires_at=None)).user_group.expires_at is None
steps["PATCH"] = "ok"

# a rotation, at its own address and at the other
token = made.user_group.token
rotated = groups.rotate_user_group_token(Rotate(current_token=token), idempotency_key=f"once-{GROUP}")
assert rotated.user_group.token != token
assert groups.rotate_user_group_token(Rotate(current_token=token), idempotency_key=f"once-{GROUP}") == rotated
by_post = groups.post_user_group(PostUserGroupRequest(Rotate(current_token=rotated.user_group.token)))
assert by_post.new_user_group is None
assert by_post.user_group.properties is None
steps["rotate"] = "ok"

# introspection of a live token and of a dead one
live = introspection.introspect_user_group_token(by_post.user_group.token)
assert live.active
assert live.user_group is not None
assert live.user_group.provided_id == live.sub == GROUP
assert live.exp is None
ending = introspection.introspect_user_group_token(rotated.user_group.token)
assert ending.active
assert ending.user_group is not None
assert ending.user_group.grace_until is not None
assert ending.exp == int(ending.user_group.grace_until.timestamp())
dead = introspection.introspect_user_group_token(token)
assert not dead.active
assert dead.user_group is None
steps["introspect"] = "ok"

# an error, and some with a code of a later version: an exception each time, that knows the code
for url, name, status, code in (
    (os.environ["BASE_URL"], "nobody", 404, "unknown_group"),
    (os.environ["LATER_URL"], GROUP, 422, "a_code_of_later"),
    (os.environ["LATER_URL"], "busy", 503, "a_code_of_later"),
):
    try:
        UserGroupsApi(api_client(url)).update_user_group(Update(user_group_id=name))
    except ApiException as error:
        assert error.data is not None
        assert (error.status, error.data.error.code) == (status, code)
        assert error.headers is not None
        assert error.headers.get("Retry-After") == ("7" if status == 503 else None)
    else:
        raise AssertionError("it was no error")
try:
    groups.rotate_user_group_token(Rotate(current_token=token))
except ApiException as error:
    assert error.data is not None
    assert (error.status, error.data.error.code) == (409, "token_already_rotated")
else:
    raise AssertionError("that token is dead")
steps["errors"] = "ok"

# the list has the group, until it is deleted
listed = groups.list_user_groups(user_group_id=GROUP, limit=10)
assert [group.name for group in listed.user_groups] == ["Acme Ltd"]
assert listed.next is None
steps["list"] = "ok"
assert groups.delete_user_group(GROUP).user_group.provided_id == GROUP
assert groups.list_user_groups(user_group_id=GROUP).user_groups == []
try:
    groups.delete_user_group(GROUP)
except ApiException as error:
    assert error.data is not None
    assert (error.status, error.data.error.code) == (404, "unknown_group")
else:
    raise AssertionError("that group is gone")
steps["DELETE"] = "ok"

print(json.dumps(steps))
