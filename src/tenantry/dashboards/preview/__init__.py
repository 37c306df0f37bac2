"""Previews: an operator sees a dashboard as a group does, without its token."""
