"""Attacks on guarded tables: texts, a generator and mutations that read rows of other tenants unless the guard works."""
