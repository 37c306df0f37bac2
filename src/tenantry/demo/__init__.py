"""The demo: sixteen airlines look at one dashboard, and each sees its own flights only."""
