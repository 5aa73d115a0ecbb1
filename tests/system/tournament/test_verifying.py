from __future__ import annotations

import pytest
from rounds import CAT, a_round, games

from referee.store import Stored
from referee.tournament.audit import verifying
from referee.tournament.audit.due import Depth
from referee.tournament.audit.verifying import verify
from referee.tournament.rounds.rounds import Round

ONE = a_round()
GAMES = games(ONE, faulty=[CAT])


def findings(some: list[Stored], *, one: Round = ONE, depth: Depth = Depth.WITH_REPLAYS, count: int = 0) -> list[str]:
    """What is wrong with these games, without the words that name them."""
    return [finding for found in verify(one, some, depth=depth, count=count) for finding in found.findings]


def test_findings_keep_their_order_over_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "BATCH", 3)
    some = [game._replace(faults=9) if number % 4 == 1 else game for number, game in enumerate(GAMES)]
    some[7] = some[7]._replace(deal=99)
    expected = findings(some)
    assert len(expected) == len(GAMES) // 4 + 1
    assert findings(some, count=10_000) == expected
