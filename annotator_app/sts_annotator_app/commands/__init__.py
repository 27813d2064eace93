"""Subcommands of `sts` that open the browser application."""
