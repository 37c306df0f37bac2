"""A worker of the tests reports that a test passed, not also that it began, was set up, torn down and ended.

To send one of these messages costs as much as to run an empty test.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """pytest's own without these messages, unless ``-v`` or ``--durations`` shows them. A report with output is sent,
    because a test that fails is shown with it."""
    option = item.config.option
    if not hasattr(item.config, "workerinput") or option.verbose > 0 or option.durations is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.sections:
            item.ihook.pytest_runtest_logreport(report=report)
    return True
