"""Lists of functions that cannot read a table, in lower case. There is a list for each dialect whose functions we have
checked on an engine."""
