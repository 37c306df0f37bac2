"""The secrets in the URLs of data sources: encrypted in the store, or references that are read where queries run."""
