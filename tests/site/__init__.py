# ruff: noqa: A005  # the name of the package that is tested
