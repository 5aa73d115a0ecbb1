#!/bin/sh
# A bot for Four Widows in shell with jq. `choose` decides what it plays; the rest reads what it is sent and writes what
# it answers. One jq lives as long as the bot: starting one for each question would take longer than deciding.
# What stands between the single quotes is for jq, and must not have one itself, not even in a comment.

exec jq --null-input --compact-output --unbuffered '

# How many of the cards have that rank.
def count($rank; $cards): [$cards[] | select(startswith($rank))] | length;

# How bad it is to lay a card. Arrays compare by their first number, then by their second.
def cost($question):
  .[:1] as $rank
  | count($rank; $question.hand) as $held
  | (4 - $held - count($rank; $question.discards)) as $coming
  | if $rank == "Q" then [-1, 0] # a queen matches nothing
    elif $held == 1 then [$coming, $coming]
    else [0, $coming]
    end;

# Whether nobody has fewer cards than this seat.
def leads: .hand_sizes[.seat] == (.hand_sizes | min);

# The action to take: one of .legal. Change this, and play better.
def choose:
  if .phase == "lay" then
    . as $question | "lay " + (.hand | min_by(cost($question)))
  elif .legal[0] == "widow" and (.widows | length) == 3 and (leads | not) then
    "keep" # the fourth widow would end a game that is not being won
  else
    .legal[0]
  end;

# What `choose` is given, an object. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
#
#   .id                 echoed in the answer
#   .game_id            the same throughout a game
#   .seat               the place of this bot at the table, from 0
#   .rules              which rules the game is played by:
#     .odd_card           who got the card that was over: "talon" or "first"
#     .scoring            what counts at the end: "places", "winner" or "loser"
#     .discard            "any" of the matching cards may be discarded, or only "all"
#     .stall_limit        so many turns in a row without a discard or a widow end the game
#   .phase              "lay": which card to lay? "drawn": what becomes of the card just drawn?
#   .hand               the cards of this bot, sorted, the drawn one not among them
#   .drawn              the card just drawn; null in phase "lay"
#   .legal              the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
#   .laid               the card laid before this draw; null in phase "lay"
#   .recycled           whether this draw emptied the talon, so that the pile became the new talon
#   .hand_sizes         how many cards each seat has in its hand
#   .talon_size         how many cards are left to draw
#   .pile_size          how many cards have been laid since the talon was new
#   .widows             the queens on the table, oldest first; the fourth ends the game
#   .discards           the cards that are out of the game, oldest first
#   .forfeited          the seats that broke down; the house plays on for them
#   .kept_in_a_row      turns since the last discard or widow; at .rules.stall_limit the game ends
#   .events             the turns since the last question to this bot, oldest first, its own among them; of each:
#     .seat               whose turn it was
#     .laid               the card laid; null in turns of others
#     .drew               the card drawn; null where another seat kept it
#     .result             "kept", "discarded" or "widow"
#     .discarded          the cards that went out with the drawn one
#     .recycled           whether the draw emptied the talon, so that the pile became the new talon
#   .time_left_ms       for this answer; null: no limit
#   .game_left_ms       for all answers of this game together; null: no limit

# Answer what is asked, and ignore what is not known, until the referee has had enough.
label $out
| inputs
| if .type == "hello" then
    {type: "ready", protocol: 1, name: "greedy", version: "1", language: "shell with jq"}
  elif .type == "quit" then
    break $out
  elif has("id") then # only questions have one
    {id, action: choose}
  else
    empty
  end
'
