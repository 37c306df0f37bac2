"""``tenantry dashboards preview``: an address, for what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.dashboards.served import write_files

FILES = {"dashboards/sales.yaml": "title: Sales\nrows: [{heading: A}]\n"}
PREVIEW = ("dashboards", "preview", "--group", "acme")


@pytest.fixture
def previewing(ready: Terminal, folder: Path) -> Terminal:
    """A store with the group acme, and the folder of one dashboard."""
    write_files(folder, FILES)
    ready("group", "create", "acme")
    return ready


def test_a_dashboard_of_the_folder_has_an_address(previewing: Terminal) -> None:
    """Alone on stdout. Nothing is said of a check that was made."""
    done = previewing(*PREVIEW, "sales", "--folder", "dashboards", "--address", "https://app.example.com/dashboards/")
    assert done.out.startswith("https://app.example.com/dashboards/sales#code=")
    assert "not checked" not in done.err


def test_a_preview_shows_what_one_person_sees(previewing: Terminal) -> None:
    """The audit trail says whom; an id that no pass can have is refused. Red when the options are not passed on."""
    attribute = ("--viewer-attribute", "region=eu")
    assert previewing(*PREVIEW, "sales", "--folder", "dashboards", "--viewer", "7", *attribute).out
    (made,) = [row for row in previewing("audit", "--json").json() if row["action"] == "preview.created"]
    assert made["details"] == {"dashboard": "sales", "viewer": "7"}
    assert "`id`" in previewing(*PREVIEW, "sales", "--viewer", "", fails=1).err
    assert "`viewer`" in previewing(*PREVIEW, "sales", "--viewer-attribute", f"a={2**60}", fails=1).err


def test_a_dashboard_that_is_not_in_the_folder_is_refused(previewing: Terminal) -> None:
    """With the one that was meant, and nothing in the audit trail. Red when the folder is not looked into."""
    refused = previewing(*PREVIEW, "slaes", "--folder", "dashboards", fails=2)
    assert "there is no dashboard 'slaes' in dashboards" in refused.err
    assert "sales" in refused.err.replace("slaes", "")
    assert "preview.created" not in previewing("audit").out


def test_without_the_folder_the_name_is_not_checked_and_that_is_said(previewing: Terminal) -> None:
    """The app may serve another folder than this machine has. Red when an address looks like a promise."""
    done = previewing(*PREVIEW, "nope")
    assert done.out.startswith("/dashboards/nope#code=")
    assert "The dashboard 'nope' was not looked up" in done.err


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "app.example.com/dashboards", "//app.example.com", "ftp://a", "https://"]
)
def test_an_address_that_no_browser_opens_is_refused(previewing: Terminal, address: str) -> None:
    """With the fix, and nothing in the audit trail. Red when it is printed as it came."""
    refused = previewing(*PREVIEW, "sales", "--address", address, fails=2)
    assert "https://app.example.com/dashboards" in " ".join(refused.err.split())
    assert "preview.created" not in previewing("audit").out
