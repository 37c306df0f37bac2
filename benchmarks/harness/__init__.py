"""What the benchmarks share: tables, timing, groups, servers under load, real engines."""
