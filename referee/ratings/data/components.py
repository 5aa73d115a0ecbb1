"""Which bots can be compared: those that met, or met others that met, and so on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.ratings.data.columns import Integers


def components(bots: int, line_ups: NDArray[np.integer[Any]]) -> list[Integers]:
    """The bots of `line_ups` (L, n) in sets that never met, ascending, by their first; who is in none is left out."""
    root = np.arange(bots)
    while True:
        # Everyone takes the least root at its tables; a round halves what chains there are, but for long thin ones.
        least = root[line_ups].min(axis=1)
        joined = root.copy()
        np.minimum.at(joined, line_ups, least[:, None])
        joined = joined[joined]
        if (joined == root).all():
            break
        root = joined
    present = np.unique(line_ups)
    return [present[root[present] == one] for one in np.unique(root[present])]
