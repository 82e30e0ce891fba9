"""From packs to tensors: what the model reads and what it must predict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from sharding import NO_LABEL, PackedDataset


@dataclass(frozen=True, slots=True)
class Batch:
    """Packs side by side; shapes are ``(num_packs, context)`` but for ``targets``.

    ``predicts`` marks the positions whose *next* token is in the loss; ``targets`` are those next tokens, flat, in
    row-major order.
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    predicts: torch.Tensor
    targets: torch.Tensor

    @property
    def num_targets(self) -> int:
        return self.targets.numel()

    def to(self, device: torch.device) -> Batch:
        return Batch(*(getattr(self, name).to(device) for name in ("input_ids", "position_ids", "predicts", "targets")))


def next_batch(dataset: PackedDataset, num_packs: int) -> Batch:
    """Take the next ``num_packs`` packs of the endless, seeded order. Labels come unshifted; here they are shifted."""
    packs = [next(dataset) for _ in range(num_packs)]
    labels = torch.from_numpy(np.stack([pack.labels for pack in packs]).astype(np.int64))
    supervised = labels[:, 1:] != NO_LABEL
    return Batch(
        input_ids=torch.from_numpy(np.stack([pack.input_ids for pack in packs]).astype(np.int64)),
        position_ids=torch.from_numpy(np.stack([pack.position_ids for pack in packs]).astype(np.int64)),
        predicts=torch.nn.functional.pad(supervised, (0, 1)),
        targets=labels[:, 1:][supervised],
    )
