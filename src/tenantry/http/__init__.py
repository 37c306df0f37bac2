"""Requests and responses: the user group of a request, error responses, and viewers that leave."""
