"""The stores, each over the public contract suite and against what can go wrong with it."""
