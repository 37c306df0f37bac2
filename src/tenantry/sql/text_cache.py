from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import itemgetter
from sys import getsizeof
from threading import Lock
from typing import Concatenate, Final, ParamSpec, TypeVar

from cachetools import LRUCache, cached

MAX_BYTES: Final = 4 * 1024 * 1024
"""Maximum total size of the strings in one function's cache."""

P = ParamSpec("P")
R = TypeVar("R")


def cached_by_text(function: Callable[Concatenate[str, P], R]) -> Callable[Concatenate[str, P], R]:
    """Return a thread-safe function that caches its results by all its arguments. The first argument is a string. These
    strings take at most ``MAX_BYTES``. Nothing else is counted, so the results must be small."""

    @cached(LRUCache(MAX_BYTES, itemgetter(0)), lock=Lock())
    def measured(text: str, /, *args: P.args, **kwargs: P.kwargs) -> tuple[int, R]:
        return getsizeof(text), function(text, *args, **kwargs)

    @wraps(function)
    def remembered(text: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return measured(text, *args, **kwargs)[1]

    return remembered
