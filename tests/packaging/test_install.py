"""requirements/install.py: what a newcomer sees while pip works."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "requirements" / "install.py"

PIP = """\
Looking in links: /wheels
Obtaining file:///clone
  Installing build dependencies: started
  Installing build dependencies: finished with status 'done'
  Preparing editable metadata (pyproject.toml): started
Collecting click>=8.1.7 (from tenantry==0.1.0)
  Downloading click-8.3.1-py3-none-any.whl (108 kB)
Collecting click>=8.1.7 (from uvicorn>=0.32->tenantry==0.1.0)
Processing /wheels/jinja2-3.1.6-py3-none-any.whl (from tenantry==0.1.0)
Collecting duckdb>=1.1
  Downloading duckdb-1.4.2-cp311-manylinux.whl (20.4 MB)
Requirement already satisfied: pytz in ./site-packages
Building wheels for collected packages: tenantry
  Building editable for tenantry (pyproject.toml): started
Installing collected packages: duckdb, click, tenantry
Successfully installed click-8.3.1 duckdb-1.4.2 tenantry-0.1.0
"""


@pytest.fixture
def script() -> ModuleType:
    spec = spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_thing_that_takes_its_time_is_shown_once(script: ModuleType) -> None:
    """In pip's order. Red when a pattern is anchored where pip indents."""
    assert list(script.shown(PIP.splitlines())) == [
        "  getting the build tools",
        "  reading what it needs",
        "  collecting click",
        "  collecting jinja2",
        "  collecting duckdb",
        "  downloading duckdb, 20.4 MB",
        "  building the browser bundles, with npm",
        "  unpacking 3 packages",
    ]


def test_what_fails_is_told_whole(tmp_path: Path) -> None:
    """pip's own words, and its status. Red when its stderr is caught, or its status is dropped."""
    command = [sys.executable, SCRIPT, "--no-index", "--target", tmp_path, "no-such-package-of-ours"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No matching distribution found for no-such-package-of-ours" in done.stderr
