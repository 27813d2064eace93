"""The cooks: they see the kitchen as `Overcooked.observe` shows it."""
