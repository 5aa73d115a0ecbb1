# frozen_string_literal: true

# A bot for Four Widows. `choose` decides what it plays; the rest reads what it is sent and writes what it answers.

require "json"

# The action to take: one of `question.legal`. Change this, and play better.
def choose(question)
  return "lay #{question.hand.min_by { |card| cost(card, question) }}" if question.phase == "lay"

  first = question.legal.first
  # The fourth widow would end a game that is not being won.
  return "keep" if first == "widow" && question.widows.size == 3 && !leads?(question)

  first
end

# How bad it is to lay a card. Arrays compare by their first number, then by their second.
def cost(card, question)
  rank = card[0]
  return [-1, 0] if rank == "Q" # a queen matches nothing

  held = count(rank, question.hand)
  coming = 4 - held - count(rank, question.discards)
  [held == 1 ? coming : 0, coming]
end

# How many of the cards have that rank.
def count(rank, cards)
  cards.count { |card| card.start_with?(rank) }
end

# Whether nobody has fewer cards than this seat.
def leads?(question)
  question.hand_sizes[question.seat] == question.hand_sizes.min
end

# What the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
Question = Struct.new(
  :id,            # echoed in the answer
  :game_id,       # the same throughout a game
  :seat,          # this bot's place at the table, from 0
  :rules,         # which rules the game is played by
  :phase,         # "lay": which card to lay? "drawn": what becomes of the card just drawn?
  :hand,          # this bot's cards, sorted, the drawn one not among them
  :drawn,         # the card just drawn; nil in phase "lay"
  :legal,         # the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
  :laid,          # the card laid before this draw; nil in phase "lay"
  :recycled,      # whether this draw emptied the talon, so that the pile became the new talon
  :hand_sizes,    # how many cards each seat has in its hand
  :talon_size,    # how many cards are left to draw
  :pile_size,     # how many cards have been laid since the talon was new
  :widows,        # the queens on the table, oldest first; the fourth ends the game
  :discards,      # the cards that are out of the game, oldest first
  :forfeited,     # the seats that broke down; the house plays on for them
  :kept_in_a_row, # turns since the last discard or widow; at rules.stall_limit the game ends
  :events,        # the turns since this bot's last question, oldest first, its own among them
  :time_left_ms,  # for this answer; nil: no limit
  :game_left_ms,  # for all answers of this game together; nil: no limit
  keyword_init: true
)

# The options of the rules.
Rules = Struct.new(
  :odd_card,    # who got the card that was over: "talon" or "first"
  :scoring,     # what counts at the end: "places", "winner" or "loser"
  :discard,     # "any" of the matching cards may be discarded, or only "all"
  :stall_limit, # so many turns in a row without a discard or a widow end the game
  keyword_init: true
)

# One turn of one seat.
Event = Struct.new(
  :seat,      # whose turn it was
  :laid,      # the card laid; nil in turns of others
  :drew,      # the card drawn; nil where another seat kept it
  :result,    # "kept", "discarded" or "widow"
  :discarded, # the cards that went out with the drawn one
  :recycled,  # whether the draw emptied the talon, so that the pile became the new talon
  keyword_init: true
)

# An object of that kind, made of the fields that it knows.
def read(kind, fields)
  kind.new(**fields.slice(*kind.members))
end

def read_question(message)
  read(Question, message).tap do |question|
    question.rules = read(Rules, question.rules)
    question.events = question.events.map { |event| read(Event, event) }
  end
end

# Write one line, at once.
def say(message)
  $stdout.puts(JSON.generate(message))
  $stdout.flush
end

# Answer what is asked, and ignore what is not known, until the referee has had enough.
def main
  $stdin.each_line do |line|
    message = JSON.parse(line, symbolize_names: true)
    case message[:type]
    when "hello"
      say(type: "ready", protocol: 1, name: "greedy", version: "1", language: "Ruby")
    when "quit"
      break
    else
      say(id: message[:id], action: choose(read_question(message))) if message.key?(:id) # only questions have one
    end
  end
end

main
