from __future__ import annotations

import hmac

from hypothesis import given
from hypothesis import strategies as st

from referee.cards import shuffled
from referee.record import Bot, LineUp
from referee.tournament.rounds.keys import (
    SECRET_SIZE,
    bot_seed,
    deal_key,
    derive,
    game_id,
    game_key,
    is_practice,
    line_up_salt,
    secret_from_seed,
)

SECRET = bytes(range(16))
LINE_UP = (Bot("ada", "a1" * 32), Bot("bob", "b2" * 32), Bot("cyd", "c3" * 32))

texts = st.text(max_size=6)
line_ups = st.lists(st.builds(Bot, texts, texts), min_size=1, max_size=4).map(lambda bots: tuple(sorted(bots)))


def test_fields_are_framed_byte_for_byte_as_specified() -> None:
    message = bytes.fromhex(
        "00000004 6465616c"  # the label, "deal"
        "00000008 0000000000000002"  # the number 2
        "00000003 61c3a4"  # the text "aä"
        "00000000"  # the text ""
        "00000008 0000000000000102"  # the number 258
    )
    assert derive(SECRET, "deal", 2, "aä", "", 258) == hmac.new(SECRET, message, "sha256").digest()


def test_deal_key_frames_size_bots_and_deal() -> None:
    bots = "".join(f"00000003{bot.name.encode().hex()} 00000040{bot.hash.encode().hex()}" for bot in LINE_UP)
    message = bytes.fromhex(f"00000004 6465616c 00000008 0000000000000003 {bots} 00000008 0000000000000007")
    assert deal_key(SECRET, LINE_UP, 7) == hmac.new(SECRET, message, "sha256").digest()


def test_vectors_of_the_whole_tree() -> None:
    deal = deal_key(SECRET, LINE_UP, 7)
    game = game_key(deal, 2, 0)
    assert deal.hex() == "4d6dfb1c7a62671e6005fb175a0c044e25cf9dba40e5f44b277c608ec122fc9b"
    assert game.hex() == "21f6bc2f28ea90fe9dba6ae425974a197d179be87adce9d70f3836aabbb074f6"
    assert game_key(deal, 2) == game
    assert game_id(game) == "4e6483d52fe1978c"
    assert [bot_seed(game, seat) for seat in range(3)] == [1671129532, 1096432377, 1853425013]
    assert line_up_salt(SECRET).hex() == "8ded8ea02da60e3f2e051d9dadd0616d30e271ed7ad9d0922ef6757e61010867"
    assert shuffled(deal)[:6] == (14, 35, 20, 31, 19, 15)


def test_game_key_id_and_seed_are_derived_under_labels_of_their_own() -> None:
    def keyed(key: bytes, message: str) -> bytes:
        return hmac.new(key, bytes.fromhex(message), "sha256").digest()

    deal = bytes(32)
    game = game_key(deal, 1, 3)
    assert game == keyed(deal, "00000004 67616d65 00000008 0000000000000001 00000008 0000000000000003")
    assert game_id(game) == keyed(game, "00000002 6964").hex()[:16]
    first_bits = int(keyed(game, "00000003 626f74 00000008 0000000000000004").hex()[:8], 16)
    assert bot_seed(game, 4) == first_bits % 2**31


@given(line_ups, line_ups, st.integers(0, 300), st.integers(0, 300))
def test_another_line_up_or_deal_has_another_key(one: LineUp, two: LineUp, deal: int, other: int) -> None:
    same = (one, deal) == (two, other)
    assert (deal_key(SECRET, one, deal) == deal_key(SECRET, two, other)) is same


def test_moving_a_letter_from_name_to_hash_makes_another_key() -> None:
    keys = {deal_key(SECRET, (Bot(name, content),), 0) for name, content in (("ab", "c"), ("a", "bc"), ("abc", ""))}
    assert len(keys) == 3


def test_every_playing_and_seat_has_an_id_and_a_seed_of_its_own() -> None:
    deals = [deal_key(SECRET, LINE_UP, deal) for deal in range(50)]
    games = [game_key(deal, rotation, attempt) for deal in deals for rotation in range(3) for attempt in range(2)]
    assert len({game_id(game) for game in games}) == 300
    seeds = [bot_seed(game, seat) for game in games for seat in range(3)]
    assert len(set(seeds)) == 900
    assert min(seeds) >= 0
    assert 2**30 < max(seeds) < 2**31


def test_another_secret_makes_other_deals() -> None:
    assert deal_key(bytes(16), LINE_UP, 0) != deal_key(bytes(15) + b"\x01", LINE_UP, 0)


def test_secret_from_a_seed_is_marked_as_practice() -> None:
    secret = secret_from_seed("spring cup")
    assert secret.hex() == "707261637469636542dad5d84d581701"
    assert len(secret) == SECRET_SIZE == 16
    assert (
        secret[8:]
        == hmac.new(b"practice", b"\0\0\0\x04seed\0\0\0\x0aspring cup\0\0\0\x08\0\0\0\0\0\0\0\x01", "sha256").digest()[
            :8
        ]
    )
    assert is_practice(secret)
    assert not is_practice(SECRET)
    assert secret_from_seed("spring cup ") != secret
    assert secret_from_seed("spring cup", 1) == secret != secret_from_seed("spring cup", 2)
