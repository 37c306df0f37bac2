"""Tests of tenantry.html."""  # noqa: A005  # named for what it tests, and only ever imported as tests.html
