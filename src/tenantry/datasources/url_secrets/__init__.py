"""Secrets in data source URLs: encrypted in the store, or references read at connection time."""
