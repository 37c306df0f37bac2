"""Attacks on guarded tables: texts, a generator and mutations that read other tenants' rows unless the guard works."""
