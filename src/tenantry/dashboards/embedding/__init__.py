"""Dashboards in other pages: single-use codes, the hosts that may embed, and the element's file."""
