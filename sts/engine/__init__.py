"""The engine: playing episodes in batches, replaying recordings and rendering them."""
