"""``make bench``: the tables of docs/benchmarks.md."""
