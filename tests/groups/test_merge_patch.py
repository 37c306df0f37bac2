"""RFC 7396: the examples of its appendix, and that nothing is changed in place."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tenantry.groups import merge_patch

APPENDIX: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    (None, {"a": None}, {}),
]


@pytest.mark.parametrize(("target", "patch", "expected"), APPENDIX)
def test_the_appendix(target: Any, patch: Any, expected: Any) -> None:
    """Red when null is stored, or when a list is merged. The patch and the target stay as they were."""
    before = copy.deepcopy((target, patch))
    merged = merge_patch(target, patch)
    assert merged == expected
    assert (target, patch) == before


def test_members_keep_their_order() -> None:
    """Those that are changed too; new ones follow."""
    assert list(merge_patch({"z": 1, "a": 2, "m": 3}, {"new": 0, "a": 9})) == ["z", "a", "m", "new"]
