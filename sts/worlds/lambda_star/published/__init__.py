"""What the published program recorded, and whether our behaviours could have done it."""
