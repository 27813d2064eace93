"""Queue of clips: who judges which clip next, with leases, references, balance and pauses."""
