"""Answers in good form what is not legal now; its argument says what."""

import sys

import talk

CARDS = [rank + suit for rank in "6789TJQKA" for suit in "CDHS"]
ANSWERS = {
    "no_such_action": lambda question: "resign",
    "no_such_card": lambda question: "lay 1X",
    "a_card_of_another": lambda question: "lay " + next(card for card in CARDS if card not in question["hand"]),
    "an_action_of_another_phase": lambda question: (
        "keep" if question["phase"] == "lay" else "lay " + (question["hand"] or ["AS"])[0]
    ),
    "its_action_in_capitals": lambda question: question["legal"][0].upper(),
    "nothing": lambda question: "",
}

choose = ANSWERS[sys.argv[1]]
talk.play(lambda question: talk.say(talk.answer(question, action=choose(question))))
