"""The good bot: the first legal action, always."""

import talk

talk.play(lambda question: talk.say(talk.answer(question)))
