"""Workspaces, file formats and atomic writes."""
