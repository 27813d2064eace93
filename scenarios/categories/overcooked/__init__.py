"""What the cooks of Overcooked can be asked to do."""
