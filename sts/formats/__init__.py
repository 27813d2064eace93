"""Trajectories in other people's formats."""
