"""The cooks: they see the kitchen as `sts.overcooked.environment.Overcooked.observe` shows it."""
