"""The database of a store: its URL, connections to it, and which of its tables are the store's own."""
