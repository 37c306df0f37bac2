"""Tests of the clients of cloud warehouses, which `make warehouses` runs: they have an environment of their own."""
