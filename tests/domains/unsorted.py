"""A domain whose batches go on with other worlds than they are told."""

import numpy as np

from sts_lambda_star.domain import Batch, LambdaStar


class UnsortedBatch(Batch):
    """Worlds that are selected in their old order."""

    def select(self, rows):
        return UnsortedBatch(super().select(np.sort(rows)).arrays, self.radius)


class Unsorted(LambdaStar):
    """Λ*, except for that."""

    name = "tests.domains.unsorted:Unsorted"

    def restore(self, states):
        batch = super().restore(states)
        return UnsortedBatch(batch.arrays, batch.radius)
