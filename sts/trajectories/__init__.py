"""Recorded trajectories: their type, their Parquet files, recording, importing."""
