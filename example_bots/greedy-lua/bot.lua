-- A bot for Four Widows. `choose` decides what it plays; the rest reads what it is sent and writes what it answers.

package.path = (arg[0]:match("^.*/") or "./") .. "?.lua;" .. package.path -- the dkjson.lua beside this file

local json = require("dkjson")

local cheaper, leads

--- The action to take: one of `question.legal`. Change this, and play better.
---@param question Question
---@return string
local function choose(question)
  if question.phase == "lay" then
    local best = question.hand[1]
    for _, card in ipairs(question.hand) do
      if cheaper(card, best, question) then
        best = card
      end
    end
    return "lay " .. best
  end
  local first = question.legal[1]
  if first == "widow" and #question.widows == 3 and not leads(question) then
    return "keep" -- the fourth widow would end a game that is not being won
  end
  return first
end

--- How many of the cards have that rank.
local function count(rank, cards)
  local found = 0
  for _, card in ipairs(cards) do
    if card:sub(1, 1) == rank then
      found = found + 1
    end
  end
  return found
end

--- How bad it is to lay a card: two numbers, of which the second counts where the first are equal.
local function cost(card, question)
  local rank = card:sub(1, 1)
  if rank == "Q" then
    return -1, 0 -- a queen matches nothing
  end
  local held = count(rank, question.hand)
  local coming = 4 - held - count(rank, question.discards)
  return held == 1 and coming or 0, coming
end

--- Whether it costs less to lay `card` than `other`.
function cheaper(card, other, question)
  local first, second = cost(card, question)
  local other_first, other_second = cost(other, question)
  return first < other_first or first == other_first and second < other_second
end

--- Whether nobody has fewer cards than this seat.
function leads(question)
  local own = question.hand_sizes[question.seat + 1]
  for _, size in ipairs(question.hand_sizes) do
    if size < own then
      return false
    end
  end
  return true
end

--- What the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
---@class Question
---@field id integer            echoed in the answer
---@field game_id string        the same throughout a game
---@field seat integer          this bot's place at the table, from 0: its hand size is hand_sizes[seat + 1]
---@field rules Rules           which rules the game is played by
---@field phase string          "lay": which card to lay? "drawn": what becomes of the card just drawn?
---@field hand string[]         this bot's cards, sorted, the drawn one not among them
---@field drawn string?         the card just drawn, in phase "drawn"
---@field legal string[]        the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
---@field laid string?          the card laid before this draw, in phase "drawn"
---@field recycled boolean      whether this draw emptied the talon, so that the pile became the new talon
---@field hand_sizes integer[]  how many cards each seat has in its hand, seat 0 first
---@field talon_size integer    how many cards are left to draw
---@field pile_size integer     how many cards have been laid since the talon was new
---@field widows string[]       the queens on the table, oldest first; the fourth ends the game
---@field discards string[]     the cards that are out of the game, oldest first
---@field forfeited integer[]   the seats that broke down; the house plays on for them
---@field kept_in_a_row integer turns since the last discard or widow; at rules.stall_limit the game ends
---@field events Event[]        the turns since this bot's last question, oldest first, its own among them
---@field time_left_ms integer? for this answer; nil: no limit
---@field game_left_ms integer? for all answers of this game together; nil: no limit

--- The options of the rules.
---@class Rules
---@field odd_card string     who got the card that was over: "talon" or "first"
---@field scoring string      what counts at the end: "places", "winner" or "loser"
---@field discard string      "any" of the matching cards may be discarded, or only "all"
---@field stall_limit integer so many turns in a row without a discard or a widow end the game

--- One turn of one seat.
---@class Event
---@field seat integer       whose turn it was
---@field laid string?       the card laid; nil in turns of others
---@field drew string?       the card drawn; nil where another seat kept it
---@field result string      "kept", "discarded" or "widow"
---@field discarded string[] the cards that went out with the drawn one
---@field recycled boolean   whether the draw emptied the talon, so that the pile became the new talon

-- The order in which the members of a line are written.
local KEYS = { "type", "protocol", "name", "version", "language", "id", "action" }

--- Write one line, at once.
local function say(message)
  io.write(json.encode(message, { keyorder = KEYS }), "\n")
  io.flush()
end

--- Answer what is asked, and ignore what is not known, until the referee has had enough.
local function main()
  for line in io.lines() do
    local message, _, problem = json.decode(line)
    if not message then
      error("no JSON: " .. problem)
    elseif message.type == "hello" then
      say({ type = "ready", protocol = 1, name = "greedy", version = "1", language = "Lua" })
    elseif message.type == "quit" then
      break
    elseif message.id then -- only questions have one
      say({ id = message.id, action = choose(message) })
    end
  end
end

main()
