"""The contracts of a store and of its parts, as tests to run over your own."""
