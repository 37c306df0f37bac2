from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]


def share_responses(paths: JsonObject) -> JsonObject:
    """Replace each error response in ``paths`` by a reference to ``components/responses``, and return the responses by
    name.

    Different responses of a status are named ``Error401``, ``Error401B`` and so on.
    """
    shared: JsonObject = {}
    names: dict[str, str] = {}
    for responses in _responses(paths):
        for status, response in responses.items():
            if int(status) < 400:
                continue
            content = json.dumps(response, sort_keys=True)
            name = names.get(content)
            if name is None:
                taken = sum(each.startswith(f"Error{status}") for each in shared)
                name = names[content] = f"Error{status}" + ("" if not taken else chr(ord("A") + taken))
                shared[name] = response
            responses[status] = {"$ref": f"#/components/responses/{name}"}
    return dict(sorted(shared.items()))


def _responses(paths: JsonObject) -> Iterator[JsonObject]:
    for methods in paths.values():
        for operation in methods.values():
            yield operation["responses"]
