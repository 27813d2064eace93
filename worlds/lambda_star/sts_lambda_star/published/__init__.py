"""Importer for recordings of the published program, against which agents are validated."""
