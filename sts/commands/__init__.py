"""The core subcommands of `sts`; each imports what is heavy only when it runs."""
