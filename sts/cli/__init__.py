"""The one command, `sts`, and all that a subcommand imports to be one of it."""
