"""One module for each dialect whose functions were checked on an engine. It lists, in lower case, those that cannot
read a table."""
