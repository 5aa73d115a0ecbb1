// A bot for Four Widows. choose decides what it plays; the rest reads what it is sent and writes what it answers.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// choose returns the action to take: one of q.Legal. Change this, and play better.
func choose(q *Question) string {
	if q.Phase == "lay" {
		return "lay " + cheapest(q)
	}
	first := q.Legal[0]
	if first == "widow" && len(q.Widows) == 3 && !leads(q) {
		return "keep" // the fourth widow would end a game that is not being won
	}
	return first
}

// cheapest returns the card that it costs least to lay; of several, the first.
func cheapest(q *Question) string {
	best := q.Hand[0]
	for _, card := range q.Hand[1:] {
		if less(cost(card, q), cost(best, q)) {
			best = card
		}
	}
	return best
}

// cost says how bad it is to lay a card: two numbers, the second for where the first are equal.
func cost(card string, q *Question) [2]int {
	rank := card[0]
	if rank == 'Q' {
		return [2]int{-1, 0} // a queen matches nothing
	}
	held := count(rank, q.Hand)
	coming := 4 - held - count(rank, q.Discards)
	if held == 1 {
		return [2]int{coming, coming}
	}
	return [2]int{0, coming}
}

func less(a, b [2]int) bool {
	if a[0] != b[0] {
		return a[0] < b[0]
	}
	return a[1] < b[1]
}

// count returns how many of the cards have that rank.
func count(rank byte, cards []string) int {
	n := 0
	for _, card := range cards {
		if card[0] == rank {
			n++
		}
	}
	return n
}

// leads reports whether nobody has fewer cards than this seat.
func leads(q *Question) bool {
	for _, size := range q.HandSizes {
		if size < q.HandSizes[q.Seat] {
			return false
		}
	}
	return true
}

// Question is what the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
type Question struct {
	ID         int      `json:"id"`            // echoed in the answer
	GameID     string   `json:"game_id"`       // the same throughout a game
	Seat       int      `json:"seat"`          // this bot's place at the table, from 0
	Rules      Rules    `json:"rules"`         // which rules the game is played by
	Phase      string   `json:"phase"`         // "lay": which card to lay? "drawn": what becomes of the card just drawn?
	Hand       []string `json:"hand"`          // this bot's cards, sorted, the drawn one not among them
	Drawn      string   `json:"drawn"`         // the card just drawn; "" in phase "lay"
	Legal      []string `json:"legal"`         // the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
	Laid       string   `json:"laid"`          // the card laid before this draw; "" in phase "lay"
	Recycled   bool     `json:"recycled"`      // whether this draw emptied the talon, so that the pile became the new talon
	HandSizes  []int    `json:"hand_sizes"`    // how many cards each seat has in its hand
	TalonSize  int      `json:"talon_size"`    // how many cards are left to draw
	PileSize   int      `json:"pile_size"`     // how many cards have been laid since the talon was new
	Widows     []string `json:"widows"`        // the queens on the table, oldest first; the fourth ends the game
	Discards   []string `json:"discards"`      // the cards that are out of the game, oldest first
	Forfeited  []int    `json:"forfeited"`     // the seats that broke down; the house plays on for them
	KeptInARow int      `json:"kept_in_a_row"` // turns since the last discard or widow; at Rules.StallLimit the game ends
	Events     []Event  `json:"events"`        // the turns since this bot's last question, oldest first, its own among them
	TimeLeftMS *int64   `json:"time_left_ms"`  // for this answer; nil: no limit
	GameLeftMS *int64   `json:"game_left_ms"`  // for all answers of this game together; nil: no limit
}

// Rules are the options of the rules.
type Rules struct {
	OddCard    string `json:"odd_card"`    // who got the card that was over: "talon" or "first"
	Scoring    string `json:"scoring"`     // what counts at the end: "places", "winner" or "loser"
	Discard    string `json:"discard"`     // "any" of the matching cards may be discarded, or only "all"
	StallLimit int    `json:"stall_limit"` // so many turns in a row without a discard or a widow end the game
}

// Event is one turn of one seat.
type Event struct {
	Seat      int      `json:"seat"`      // whose turn it was
	Laid      string   `json:"laid"`      // the card laid; "" in turns of others
	Drew      string   `json:"drew"`      // the card drawn; "" where another seat kept it
	Result    string   `json:"result"`    // "kept", "discarded" or "widow"
	Discarded []string `json:"discarded"` // the cards that went out with the drawn one
	Recycled  bool     `json:"recycled"`  // whether the draw emptied the talon, so that the pile became the new talon
}

type ready struct {
	Type     string `json:"type"`
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Language string `json:"language"`
}

type answer struct {
	ID     int    `json:"id"`
	Action string `json:"action"`
}

func main() {
	if err := play(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play answers what is asked, and ignores what is not known, until the referee has had enough.
func play(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	replies := json.NewEncoder(out) // writes one line for each value, at once
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var head struct {
			Type string `json:"type"`
			ID   *int   `json:"id"` // only questions have one
		}
		if err := json.Unmarshal(line, &head); err != nil {
			return err
		}
		switch {
		case head.Type == "hello":
			err = replies.Encode(ready{"ready", 1, "greedy", "1", "Go"})
		case head.Type == "quit":
			return nil
		case head.ID != nil:
			var q Question
			if err := json.Unmarshal(line, &q); err != nil {
				return err
			}
			err = replies.Encode(answer{q.ID, choose(&q)})
		}
		if err != nil {
			return err
		}
	}
}
