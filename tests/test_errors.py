"""The error tree: stable codes, statuses, and nothing that would show a secret."""

from __future__ import annotations

import pickle

import pytest

from tenantry import errors
from tenantry.errors import (
    Location,
    MissingVariable,
    OutcomeUnknown,
    SecretUnavailable,
    SourceUnavailable,
    StoreUnavailable,
    TemplateError,
    TenantryError,
    UnbindableValue,
)

STABLE = {
    "already_exists": 409,
    "ambiguous_authorization": 400,
    "ambiguous_request": 422,
    "ambiguous_token": 400,
    "answers_unread": 503,
    "api_token_expired": 401,
    "api_unreachable": 503,
    "audit_broken": 500,
    "bad_json": 400,
    "bad_request": 400,
    "body_too_large": 413,
    "breaks_saved_query": 409,
    "code_used": 410,
    "data_source_error": 502,
    "data_source_in_use": 409,
    "data_source_not_found": 404,
    "data_source_test_failed": 422,
    "draining": 503,
    "embedding_not_allowed": 403,
    "file_conflict": 409,
    "file_not_saved": 503,
    "group_changed": 409,
    "group_expired": 403,
    "group_suspended": 403,
    "headers_too_large": 431,
    "idempotency_in_flight": 409,
    "idempotency_key_reused": 422,
    "idempotency_superseded": 409,
    "internal": 500,
    "invalid_body": 422,
    "invalid_dashboards": 500,
    "invalid_groups_file": 422,
    "invalid_keys": 500,
    "invalid_parameter": 422,
    "invalid_pass": 401,
    "invalid_properties": 422,
    "invalid_property_schema": 500,
    "invalid_queries": 500,
    "invalid_request": 400,
    "invalid_settings": 500,
    "invalid_source": 422,
    "invalid_token": 401,
    "method_not_allowed": 405,
    "middleware_missing": 500,
    "migration_needed": 503,
    "missing_scope": 403,
    "missing_token": 401,
    "missing_variable": 422,
    "no_author": 401,
    "not_found": 404,
    "not_one_statement": 422,
    "origin_not_allowed": 403,
    "out_of_scope": 403,
    "outcome_unknown": 503,
    "pass_expired": 401,
    "pass_revoked": 401,
    "private_name": 422,
    "query_failed": 502,
    "query_outdated": 409,
    "query_timeout": 504,
    "request_timeout": 408,
    "right_missing": 403,
    "secret_unavailable": 503,
    "signing_key_missing": 409,
    "source_unavailable": 503,
    "store_unavailable": 503,
    "template_error": 500,
    "token_already_rotated": 409,
    "too_many_bytes": 422,
    "too_many_connections": 503,
    "too_many_requests": 429,
    "too_many_revoked_viewers": 409,
    "too_many_rows": 422,
    "unauthorized": 401,
    "unbindable_value": 422,
    "unexpected_answer": 502,
    "unknown_api_token": 404,
    "unknown_data_source": 422,
    "unknown_environment": 404,
    "unknown_group": 404,
    "unknown_token": 404,
    "unmapped_schema": 422,
    "unregistered_source": 422,
    "unsupported_media_type": 415,
    "unusable_file": 422,
    "user_group_expired": 401,
    "user_group_suspended": 401,
    "viewer_left": 499,
}
"""What callers may rely on. A code is added here on purpose; one that is here never changes and never goes."""

TREE = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TenantryError)]


def test_the_codes_and_statuses_are_the_published_ones() -> None:
    """Red when a code is renamed, or a class added that is not in the list."""
    assert {kind.code: kind.status for kind in TREE} == STABLE


def test_each_class_has_a_code_of_its_own() -> None:
    """Red when a new class forgets its code and answers with its parent's."""
    assert len({kind.code for kind in TREE}) == len(TREE)
    assert all("code" in vars(kind) for kind in TREE)


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_each_class_says_what_happened(kind: type[TenantryError]) -> None:
    """A code is one lower-case word group, a status is an HTTP error, and a docstring explains the rest."""
    assert kind.code == kind.code.lower()
    assert kind.code.replace("_", "").isalpha()
    assert 400 <= kind.status <= 599
    assert kind.__doc__
    assert kind.__doc__.rstrip().endswith(".")


def test_an_error_carries_its_evidence() -> None:
    """Message, field, retry, names and location are attributes, not text to be parsed. Red when SourceUnavailable lacks
    ``retry_after``, or SecretUnavailable inherits it."""
    error = TenantryError("no", field="/properties/a", retry_after=3)
    assert (str(error), error.message, error.field, error.retry_after) == ("no", "no", "/properties/a", 3)
    assert StoreUnavailable("down").retry_after == OutcomeUnknown("lost").retry_after == 1
    assert (SourceUnavailable("busy").retry_after, SecretUnavailable("empty").retry_after) == (1, None)
    assert MissingVariable("no", names=["a", "b"]).names == ("a", "b")
    assert UnbindableValue("no", name="a").name == "a"
    assert str(TemplateError("no", location=Location(3, 7)).location) == "3:7"


@pytest.mark.parametrize(
    "error",
    [
        MissingVariable("no region", names=("region",)),
        UnbindableValue("no number", name="limit"),
        TemplateError("bad", location=Location(1, 2, "a.sql", Location(3, 4))),
        StoreUnavailable("down", retry_after=3),
        TenantryError("bad", field="/name"),
    ],
    ids=lambda error: error.code,
)
def test_an_error_comes_back_from_another_process(error: TenantryError) -> None:
    """With all its evidence. Red without __reduce__: unpickling asks for ``names``, which breaks a process pool."""
    twin = pickle.loads(pickle.dumps(error))
    assert (type(twin), twin.message, vars(twin)) == (type(error), error.message, vars(error))
