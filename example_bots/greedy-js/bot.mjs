// A bot for Four Widows. `choose` decides what it plays; the rest reads what it is sent and writes what it answers.
// @ts-check

import { createInterface } from "node:readline";

/**
 * The action to take: one of `question.legal`. Change this, and play better.
 *
 * @param {Question} question
 * @returns {string}
 */
function choose(question) {
  if (question.phase === "lay") {
    return `lay ${cheapest(question)}`;
  }
  const [first] = question.legal;
  if (first === "widow" && question.widows.length === 3 && !leads(question)) {
    return "keep"; // the fourth widow would end a game that is not being won
  }
  return first;
}

/**
 * The card that it costs least to lay; of several, the first: sorting leaves equals in their order.
 *
 * @param {Question} question
 */
function cheapest(question) {
  const costs = new Map(
    question.hand.map((card) => [card, cost(card, question)]),
  );
  const [best] = [...costs].sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1]);
  return best[0];
}

/**
 * How bad it is to lay a card: two numbers, the second for where the first are equal.
 *
 * @param {string} card
 * @param {Question} question
 */
function cost(card, { hand, discards }) {
  const rank = card[0];
  if (rank === "Q") {
    return [-1, 0]; // a queen matches nothing
  }
  const held = count(rank, hand);
  const coming = 4 - held - count(rank, discards);
  return [held === 1 ? coming : 0, coming];
}

/**
 * How many of the cards have that rank.
 *
 * @param {string} rank
 * @param {string[]} cards
 */
function count(rank, cards) {
  return cards.filter((card) => card[0] === rank).length;
}

/**
 * Whether nobody has fewer cards than this seat.
 *
 * @param {Question} question
 */
function leads({ hand_sizes, seat }) {
  return hand_sizes[seat] === Math.min(...hand_sizes);
}

/**
 * What the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
 *
 * @typedef {object} Question
 * @property {number} id - echoed in the answer
 * @property {string} game_id - the same throughout a game
 * @property {number} seat - this bot's place at the table, from 0
 * @property {Rules} rules - which rules the game is played by
 * @property {"lay" | "drawn"} phase - which card to lay? or: what becomes of the card just drawn?
 * @property {string[]} hand - this bot's cards, sorted, the drawn one not among them
 * @property {string | null} drawn - the card just drawn, in phase "drawn"
 * @property {string[]} legal - the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
 * @property {string | null} laid - the card laid before this draw, in phase "drawn"
 * @property {boolean} recycled - whether this draw emptied the talon, so that the pile became the new talon
 * @property {number[]} hand_sizes - how many cards each seat has in its hand
 * @property {number} talon_size - how many cards are left to draw
 * @property {number} pile_size - how many cards have been laid since the talon was new
 * @property {string[]} widows - the queens on the table, oldest first; the fourth ends the game
 * @property {string[]} discards - the cards that are out of the game, oldest first
 * @property {number[]} forfeited - the seats that broke down; the house plays on for them
 * @property {number} kept_in_a_row - turns since the last discard or widow; at rules.stall_limit the game ends
 * @property {Event[]} events - the turns since this bot's last question, oldest first, its own among them
 * @property {number | null} time_left_ms - time for this answer; null: no limit
 * @property {number | null} game_left_ms - time for all answers of this game together; null: no limit
 */

/**
 * The options of the rules.
 *
 * @typedef {object} Rules
 * @property {"talon" | "first"} odd_card - who got the card that was over
 * @property {"places" | "winner" | "loser"} scoring - what counts at the end
 * @property {"any" | "all"} discard - whether some of the matching cards may be discarded, or only all
 * @property {number} stall_limit - so many turns in a row without a discard or a widow end the game
 */

/**
 * One turn of one seat.
 *
 * @typedef {object} Event
 * @property {number} seat - whose turn it was
 * @property {string | null} laid - the card laid; null in turns of others
 * @property {string | null} drew - the card drawn; null where another seat kept it
 * @property {"kept" | "discarded" | "widow"} result - what became of the drawn card
 * @property {string[]} discarded - the cards that went out with the drawn one
 * @property {boolean} recycled - whether the draw emptied the talon, so that the pile became the new talon
 */

/**
 * Write one line, at once.
 *
 * @param {object} message
 */
function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

// Answer what is asked, and ignore what is not known, until the referee has had enough.
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    say({
      type: "ready",
      protocol: 1,
      name: "greedy",
      version: "1",
      language: "JavaScript",
    });
  } else if (message.type === "quit") {
    break;
  } else if ("id" in message) {
    say({ id: message.id, action: choose(message) }); // only questions have an id
  }
}
process.stdin.destroy(); // else the process would wait for the other side to close it
