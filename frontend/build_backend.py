"""hatchling, and the metadata of the two distributions with bundles without a build.

Asked by pip, hatchling leaves two functions of PEP 517 and PEP 660 out, because a build hook may add dependencies, and
then pip builds the whole wheel to read its metadata. Our two hooks (hatch_build.py) add none, so both are given:
resolvers and ``pip install --dry-run`` run no npm.
"""

from __future__ import annotations

import os

_tracker = os.environ.pop("PIP_BUILD_TRACKER", None)  # by which hatchling knows that it is asked by pip

from hatchling.build import (  # noqa: E402
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

if _tracker is not None:
    os.environ["PIP_BUILD_TRACKER"] = _tracker

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]
