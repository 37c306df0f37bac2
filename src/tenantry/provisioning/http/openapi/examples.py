"""Examples for the OpenAPI document. Their tokens are not valid anywhere.

``x-status``: the status of the response if you send the example to a new service whose only group is ``acme``.
"""

from __future__ import annotations

from typing import Any, Final

_TOKEN: Final = "ugtc_k1_" + "A" * 39 + "." + "A" * 43 + "000000"

REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "GetOrCreate": {
        "group": {
            "summary": "A customer",
            "x-status": 200,
            "value": {
                "user_group_id": "acme",
                "name": "Acme Ltd",
                "properties": {"region": "eu", "statuses": ["open", "paid"]},
            },
        }
    },
    "Update": {
        "properties": {
            "summary": "New properties",
            "description": "They replace the old ones completely.",
            "x-status": 200,
            "value": {"user_group_id": "acme", "properties": {"region": "us"}},
        },
        "clear": {
            "summary": "No properties",
            "description": "null clears them.",
            "x-status": 200,
            "value": {"user_group_id": "acme", "properties": None},
        },
    },
    "Merge": {
        "property": {
            "summary": "One property changed, one removed",
            "description": "The other properties stay.",
            "x-status": 200,
            "value": {"user_group_id": "acme", "properties": {"region": "us", "statuses": None}},
        },
        "end": {
            "summary": "An end date",
            "description": "From then on the token is refused. null removes the date.",
            "x-status": 200,
            "value": {"user_group_id": "acme", "expires_at": "2027-01-31T23:59:59Z"},
        },
        "resumption": {
            "summary": "Not suspended",
            "description": "true suspends the group: its token is refused, and not returned, until false resumes it.",
            "x-status": 200,
            "value": {"user_group_id": "acme", "suspended": False},
        },
    },
    "Rotate": {
        "rotation": {
            "summary": "A new token",
            "description": "Send the current token of your group. The token of this example belongs to no group, so "
            "the answer is 404 `unknown_token`.",
            "x-status": 404,
            "value": {"current_token": _TOKEN},
        }
    },
}

PASS_REQUESTS: Final[dict[str, Any]] = {
    "pass": {
        "summary": "A pass for one viewer",
        "x-status": 200,
        "value": {"user_group_id": "acme", "viewer_id": "ann", "viewer": {"region": "eu"}, "scope": "dashboard"},
    }
}
PASS_MADE: Final[dict[str, Any]] = {
    "success": 1,
    "pass": "ugvc_k1_" + "A" * 39 + ".eyJhbGciOiJIUzI1NiJ9.e30." + "A" * 43,
    "expires_at": "2027-01-31T12:10:00+00:00",
}
REVOCATION_REQUESTS: Final[dict[str, Any]] = {
    "viewer": {
        "summary": "One viewer",
        "x-status": 200,
        "value": {"user_group_id": "acme", "viewer_id": "ann"},
    }
}
VIEWER_REVOKED: Final[dict[str, Any]] = {"success": 1, "revoked_before": "2027-01-31T12:00:01+00:00"}
_GROUP: Final[dict[str, Any]] = {"team_id": 7, "token": _TOKEN, "name": "Acme Ltd", "provided_id": "acme"}
_PROPERTIES: Final[dict[str, Any]] = {"region": "eu", "statuses": ["open", "paid"]}

CREATED: Final[dict[str, Any]] = {
    "success": 1,
    "new_user_group": True,
    "user_group": {**_GROUP, "properties": _PROPERTIES},
}
UPDATED: Final[dict[str, Any]] = {
    "success": 1,
    "user_group": {**_GROUP, "properties": {"region": "us"}, "api_environment_tag": "Customer"},
}
MERGED: Final[dict[str, Any]] = {
    "success": 1,
    "user_group": {**UPDATED["user_group"], "expires_at": "2027-01-31T23:59:59+00:00", "suspended": False},
}
ROTATED: Final[dict[str, Any]] = {"success": 1, "user_group": {**_GROUP, "api_environment_tag": "Customer"}}
POSTED: Final[dict[str, Any]] = {
    "success": 1,
    "new_user_group": True,
    "user_group": {**_GROUP, "api_environment_tag": "Customer", "properties": _PROPERTIES},
}
_LISTED_GROUP: Final[dict[str, Any]] = {
    "team_id": 7,
    "name": "Acme Ltd",
    "provided_id": "acme",
    "properties": _PROPERTIES,
    "mapping": {"main": "warehouse_eu"},
    "api_environment_tag": "Customer",
    "expires_at": None,
    "suspended": False,
}
DELETED: Final[dict[str, Any]] = {"success": 1, "user_group": _LISTED_GROUP}
LISTED: Final[dict[str, Any]] = {
    "success": 1,
    "user_groups": [_LISTED_GROUP],
    "next": None,
}
_TABLES: Final[dict[str, Any]] = {"tables": {"countries": "shared", "orders": "customer_id"}}
SOURCE_REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "CreateSource": {
        "source": {
            "summary": "A PostgreSQL database",
            "description": "The host of this example is not allowed by default, so the answer is 422 `invalid_source`.",
            "x-status": 422,
            "value": {
                "name": "warehouse",
                "url": "postgresql://reader@db.example.com:5432/shop",
                "password": "s3cret",
                "tables": _TABLES,
            },
        }
    },
    "PatchSource": {
        "tables": {
            "summary": "Guarded tables",
            "x-status": 404,
            "value": {"name": "warehouse", "tables": _TABLES},
        },
        "password": {
            "summary": "A new password",
            "x-status": 404,
            "value": {"name": "warehouse", "password": "n3w"},
        },
    },
}
_SOURCE: Final[dict[str, Any]] = {
    "id": "ds_8f14e45fceea167a",
    "name": "warehouse",
    "environment": "production",
    "engine": "postgresql",
    "url": "postgresql://reader:***@db.example.com:5432/shop",
    "secrets": "encrypted",
    "trusted": False,
    "session": {},
    "groups": 3,
    "tables": _TABLES,
}
SOURCE_WRITTEN: Final[dict[str, Any]] = {"success": 1, "data_source": _SOURCE}
SOURCES_LISTED: Final[dict[str, Any]] = {"success": 1, "data_sources": [_SOURCE], "next": None}
INTROSPECTION_REQUESTS: Final[dict[str, Any]] = {
    "token": {
        "summary": "A token",
        "description": "Send a user group token. The one of this example belongs to no group: `active` is false.",
        "x-status": 200,
        "value": {"token": _TOKEN},
    }
}
INTROSPECTED: Final[dict[str, Any]] = {
    "active": True,
    "token_type": "user_group_token",
    "sub": "acme",
    "user_group": {
        "team_id": 7,
        "provided_id": "acme",
        "name": "Acme Ltd",
        "environment": {
            "id": 1,
            "name": "production",
            "tag": "Customer",
            "external_data_sources": False,
            "grace_seconds": 0,
        },
        "properties": _PROPERTIES,
        "mapping": None,
        "handle": "8f14e45fceea167a",
        "token_version": 1,
        "revision": 1,
        "grace_until": None,
        "expires_at": None,
        "suspended": False,
        "revoked_viewers": None,
    },
}
