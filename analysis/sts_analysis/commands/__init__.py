"""The subcommands that `analysis` contributes to `sts`."""
