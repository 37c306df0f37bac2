"""A second real browser: headless Firefox ESR out of the distribution's packages, driven by Playwright over BiDi.

Its pages are opened as Chromium's are (``open_page``), so that one test runs in both. What it cannot do: dark pages.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines import firefox_relay
from engines.debian_packages import environment, require

if TYPE_CHECKING:
    from playwright.async_api import Browser

PACKAGE = "firefox-esr"
START_MILLISECONDS = 180_000

OFFLINE = {"MOZ_DISABLE_NONLOCAL_CONNECTIONS": "1"}
"""It ends rather than reach another machine, and lets the address of its remote settings be replaced."""

PREFERENCES: dict[str, str | int | bool] = {
    # What is not on loopback goes to a proxy that is not there, whichever part of the browser asks.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "localhost, 127.0.0.0/8",
    # And none asked in a minute. Playwright switches off updates, safe browsing and health reports.
    "app.normandy.enabled": False,
    "browser.region.network.url": "",
    "dom.push.connection.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "messaging-system.rsexperimentloader.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "network.prefetch-next": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.enabled": False,
    "toolkit.telemetry.server": "",
    # No process is started for a page that may come.
    "dom.ipc.processPrelaunch.enabled": False,
    # A click goes to the window, as a person's does: else those in a frame of another site never arrive.
    "remote.events.async.mouse.enabled": True,
    "remote.events.async.wheel.enabled": True,
}


@asynccontextmanager
async def firefox(home: Path) -> AsyncIterator[Browser]:
    """Firefox, with ``home`` as its home and temporary folder: 5 s to start. Its packages are unpacked once for each
    user of the machine: 20 s. Skips the test where they cannot be had, and fails it with CI=true."""
    from playwright.async_api import async_playwright  # every test run loads this file, few need a browser

    root = require(PACKAGE)
    program = root / "usr/lib/firefox-esr/firefox-esr"
    started = home / "firefox"
    command = shlex.join([sys.executable, "-I", firefox_relay.__file__, str(program)])
    started.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    started.chmod(0o755)
    variables: dict[str, Any] = {**environment(root), **OFFLINE, "TMPDIR": str(home), "HOME": str(home)}
    async with async_playwright() as playwright:
        browser = await playwright.firefox.launch(
            channel="moz-firefox",  # the distribution's own, over BiDi, instead of Playwright's build
            executable_path=started,
            env=variables,
            firefox_user_prefs=PREFERENCES,
            timeout=START_MILLISECONDS,
        )
        yield browser
        await browser.close()
