"""The packaged recipes: NAME.toml."""
