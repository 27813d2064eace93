"""Drafts of suites: edits of candidates, curators' decisions, and the freezing of a version."""
