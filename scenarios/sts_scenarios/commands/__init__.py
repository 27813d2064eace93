"""The subcommands `mine` and `label`."""
