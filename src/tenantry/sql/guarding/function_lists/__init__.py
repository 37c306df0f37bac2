"""For each dialect whose functions were checked on an engine: those that cannot read a table, in lower case."""
