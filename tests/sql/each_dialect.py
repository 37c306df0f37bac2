"""One test for all dialects: with a case for each of the twelve, this folder had twice as many cases."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from tenantry.sql import DIALECTS


def each_dialect(test: Callable[..., None]) -> Callable[..., None]:
    """Runs a test with each dialect as its argument ``dialect``, one after the other; a failure names the dialect."""
    signature = inspect.signature(test)

    @wraps(test)
    def with_each(**arguments: Any) -> None:
        for dialect in DIALECTS:
            try:
                test(dialect=dialect, **arguments)
            except BaseException as error:
                error.add_note(f"dialect: {dialect}")
                raise

    others = [parameter for name, parameter in signature.parameters.items() if name != "dialect"]
    with_each.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
    return with_each
