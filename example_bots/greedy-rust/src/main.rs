//! A bot for Four Widows. `choose` decides what it plays; the rest reads what it is sent and writes what it answers.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

/// The action to take: one of `question.legal`. Change this, and play better.
fn choose(question: &Question) -> &str {
    if question.phase == "lay" {
        // Both lists have the hand in the same order; of several that cost the same, the first is taken.
        let costs = question.hand.iter().map(|card| cost(card, question));
        let cheapest = costs.zip(&question.legal).min_by_key(|(cost, _)| *cost);
        return cheapest.expect("somebody who lays has a card").1;
    }
    let first = &question.legal[0];
    if first == "widow" && question.widows.len() == 3 && !leads(question) {
        return "keep"; // the fourth widow would end a game that is not being won
    }
    first
}

/// How bad it is to lay a card. Tuples compare by their first number, then by their second.
fn cost(card: &str, question: &Question) -> (i32, i32) {
    if rank(card) == b'Q' {
        return (-1, 0); // a queen matches nothing
    }
    let held = count(rank(card), &question.hand);
    let coming = 4 - held - count(rank(card), &question.discards);
    (if held == 1 { coming } else { 0 }, coming)
}

/// How many of the cards have that rank.
fn count(wanted: u8, cards: &[String]) -> i32 {
    cards
        .iter()
        .map(|card| i32::from(rank(card) == wanted))
        .sum()
}

/// The first character of a card.
fn rank(card: &str) -> u8 {
    card.as_bytes()[0]
}

/// Whether nobody has fewer cards than this seat.
fn leads(question: &Question) -> bool {
    let own = question.hand_sizes[question.seat];
    question.hand_sizes.iter().all(|&size| own <= size)
}

/// What the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
#[allow(dead_code)] // what `choose` does not read yet
#[derive(Debug, Deserialize)]
struct Question {
    /// Echoed in the answer.
    id: i64,
    /// The same throughout a game.
    game_id: String,
    /// This bot's place at the table, from 0.
    seat: usize,
    /// Which rules the game is played by.
    rules: Rules,
    /// "lay": which card to lay? "drawn": what becomes of the card just drawn?
    phase: String,
    /// This bot's cards, sorted, the drawn one not among them.
    hand: Vec<String>,
    /// The card just drawn; `None` in phase "lay".
    drawn: Option<String>,
    /// The actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep".
    legal: Vec<String>,
    /// The card laid before this draw; `None` in phase "lay".
    laid: Option<String>,
    /// Whether this draw emptied the talon, so that the pile became the new talon.
    recycled: bool,
    /// How many cards each seat has in its hand.
    hand_sizes: Vec<usize>,
    /// How many cards are left to draw.
    talon_size: usize,
    /// How many cards have been laid since the talon was new.
    pile_size: usize,
    /// The queens on the table, oldest first; the fourth ends the game.
    widows: Vec<String>,
    /// The cards that are out of the game, oldest first.
    discards: Vec<String>,
    /// The seats that broke down; the house plays on for them.
    forfeited: Vec<usize>,
    /// Turns since the last discard or widow; at `rules.stall_limit` the game ends.
    kept_in_a_row: u64,
    /// The turns since this bot's last question, oldest first, its own among them.
    events: Vec<Event>,
    /// For this answer; `None`: no limit.
    time_left_ms: Option<i64>,
    /// For all answers of this game together; `None`: no limit.
    game_left_ms: Option<i64>,
}

/// The options of the rules.
#[allow(dead_code)] // what `choose` does not read yet
#[derive(Debug, Deserialize)]
struct Rules {
    /// Who got the card that was over: "talon" or "first".
    odd_card: String,
    /// What counts at the end: "places", "winner" or "loser".
    scoring: String,
    /// "any" of the matching cards may be discarded, or only "all".
    discard: String,
    /// So many turns in a row without a discard or a widow end the game.
    stall_limit: u64,
}

/// One turn of one seat.
#[allow(dead_code)] // what `choose` does not read yet
#[derive(Debug, Deserialize)]
struct Event {
    /// Whose turn it was.
    seat: usize,
    /// The card laid; `None` in turns of others.
    laid: Option<String>,
    /// The card drawn; `None` where another seat kept it.
    drew: Option<String>,
    /// "kept", "discarded" or "widow".
    result: String,
    /// The cards that went out with the drawn one.
    discarded: Vec<String>,
    /// Whether the draw emptied the talon, so that the pile became the new talon.
    recycled: bool,
}

/// What every message has: its type; and its id, where it is a question.
#[derive(Deserialize)]
struct Head {
    r#type: String,
    id: Option<i64>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "ready")]
struct Ready {
    protocol: u32,
    name: &'static str,
    version: &'static str,
    language: &'static str,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: i64,
    action: &'a str,
}

/// Write one line, at once.
fn say(message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Answer what is asked, and ignore what is not known, until the referee has had enough.
fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let head: Head = serde_json::from_str(&line)?;
        match head.r#type.as_str() {
            "hello" => say(&Ready {
                protocol: 1,
                name: "greedy",
                version: "1",
                language: "Rust",
            })?,
            "quit" => break,
            _ if head.id.is_some() => {
                let question: Question = serde_json::from_str(&line)?;
                say(&Answer {
                    id: question.id,
                    action: choose(&question),
                })?;
            }
            _ => {}
        }
    }
    Ok(())
}
