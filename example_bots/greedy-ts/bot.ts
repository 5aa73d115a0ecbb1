// A bot for Four Widows. `choose` decides what it plays; the rest reads what it is sent and writes what it answers.

import { createInterface } from "node:readline";

/** The action to take: one of `question.legal`. Change this, and play better. */
function choose(question: Question): string {
  if (question.phase === "lay") {
    return `lay ${cheapest(question)}`;
  }
  const [first] = question.legal;
  if (first === "widow" && question.widows.length === 3 && !leads(question)) {
    return "keep"; // the fourth widow would end a game that is not being won
  }
  return first;
}

/** The card that it costs least to lay; of several, the first. */
function cheapest(question: Question): Card {
  return question.hand.reduce((best, card) =>
    compare(cost(card, question), cost(best, question)) < 0 ? card : best,
  );
}

/** Two numbers, compared by the first and, where those are equal, by the second. */
type Cost = readonly [number, number];

/** Below 0 where `a` is less than `b`. */
function compare(a: Cost, b: Cost): number {
  return a[0] - b[0] || a[1] - b[1];
}

/** How bad it is to lay a card. */
function cost(card: Card, { hand, discards }: Question): Cost {
  if (rank(card) === "Q") {
    return [-1, 0]; // a queen matches nothing
  }
  const held = count(rank(card), hand);
  const coming = 4 - held - count(rank(card), discards);
  return [held === 1 ? coming : 0, coming];
}

/** How many of the cards have that rank. */
function count(wanted: string, cards: readonly Card[]): number {
  return cards.filter((card) => rank(card) === wanted).length;
}

function rank(card: Card): string {
  return card.charAt(0);
}

/** Whether nobody has fewer cards than this seat. */
function leads({ hand_sizes, seat }: Question): boolean {
  return hand_sizes[seat] === Math.min(...hand_sizes);
}

/** A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS". */
type Card = string;

/** What the bot is asked. */
interface Question {
  /** Echoed in the answer. */
  id: number;
  /** The same throughout a game. */
  game_id: string;
  /** This bot's place at the table, from 0. */
  seat: number;
  /** Which rules the game is played by. */
  rules: Rules;
  /** "lay": which card to lay? "drawn": what becomes of the card just drawn? */
  phase: "lay" | "drawn";
  /** This bot's cards, sorted, the drawn one not among them. */
  hand: Card[];
  /** The card just drawn; null in phase "lay". */
  drawn: Card | null;
  /** The actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep". */
  legal: [string, ...string[]];
  /** The card laid before this draw; null in phase "lay". */
  laid: Card | null;
  /** Whether this draw emptied the talon, so that the pile became the new talon. */
  recycled: boolean;
  /** How many cards each seat has in its hand. */
  hand_sizes: number[];
  /** How many cards are left to draw. */
  talon_size: number;
  /** How many cards have been laid since the talon was new. */
  pile_size: number;
  /** The queens on the table, oldest first; the fourth ends the game. */
  widows: Card[];
  /** The cards that are out of the game, oldest first. */
  discards: Card[];
  /** The seats that broke down; the house plays on for them. */
  forfeited: number[];
  /** Turns since the last discard or widow; at `rules.stall_limit` the game ends. */
  kept_in_a_row: number;
  /** The turns since this bot's last question, oldest first, its own among them. */
  events: Event[];
  /** Time for this answer; null: no limit. */
  time_left_ms: number | null;
  /** Time for all answers of this game together; null: no limit. */
  game_left_ms: number | null;
}

/** The options of the rules. */
interface Rules {
  /** Who got the card that was over. */
  odd_card: "talon" | "first";
  /** What counts at the end. */
  scoring: "places" | "winner" | "loser";
  /** Whether some of the matching cards may be discarded, or only all. */
  discard: "any" | "all";
  /** So many turns in a row without a discard or a widow end the game. */
  stall_limit: number;
}

/** One turn of one seat. */
interface Event {
  /** Whose turn it was. */
  seat: number;
  /** The card laid; null in turns of others. */
  laid: Card | null;
  /** The card drawn; null where another seat kept it. */
  drew: Card | null;
  /** What became of the drawn card. */
  result: "kept" | "discarded" | "widow";
  /** The cards that went out with the drawn one. */
  discarded: Card[];
  /** Whether the draw emptied the talon, so that the pile became the new talon. */
  recycled: boolean;
}

/** What every message has. */
interface Message {
  type: string;
}

interface Ready extends Message {
  type: "ready";
  protocol: 1;
  name: string;
  version: string;
  language: string;
}

interface Answer {
  id: number;
  action: string;
}

/** Questions, and nothing else, have an id. */
function isQuestion(message: Message | Question): message is Question {
  return "id" in message;
}

/** Write one line, at once. */
function say(message: Ready | Answer): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

// Answer what is asked, and ignore what is not known, until the referee has had enough.
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message | Question;
  if (isQuestion(message)) {
    say({ id: message.id, action: choose(message) });
  } else if (message.type === "hello") {
    say({
      type: "ready",
      protocol: 1,
      name: "greedy",
      version: "1",
      language: "TypeScript",
    });
  } else if (message.type === "quit") {
    break;
  }
}
process.stdin.destroy(); // else the process would wait for the other side to close it
