"""Safety of the record: verified reading, digests, backup, restoration and moves."""
