"""The workspace, and writing so that nothing half-written is ever read."""
