"""``make scale``: the figures of docs/scale.md, measured and simulated."""
