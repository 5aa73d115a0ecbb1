<?php

// A bot for Four Widows. `choose` decides what it plays; the rest reads what it is sent and writes what it answers.

declare(strict_types=1);

ini_set('display_errors', 'stderr'); // stdout belongs to the referee

/** The action to take: one of `$question->legal`. Change this, and play better. */
function choose(Question $question): string
{
    if ($question->phase === 'lay') {
        $best = $question->hand[0];
        foreach ($question->hand as $card) {
            if (cost($card, $question) < cost($best, $question)) {
                $best = $card;
            }
        }
        return "lay $best";
    }
    $first = $question->legal[0];
    if ($first === 'widow' && count($question->widows) === 3 && !leads($question)) {
        return 'keep'; // the fourth widow would end a game that is not being won
    }
    return $first;
}

/**
 * How bad it is to lay a card. Arrays of one length compare by their first number, then by their second.
 *
 * @return array{int, int}
 */
function cost(string $card, Question $question): array
{
    $rank = $card[0];
    if ($rank === 'Q') {
        return [-1, 0]; // a queen matches nothing
    }
    $held = countOf($rank, $question->hand);
    $coming = 4 - $held - countOf($rank, $question->discards);
    return [$held === 1 ? $coming : 0, $coming];
}

/**
 * How many of the cards have that rank.
 *
 * @param list<string> $cards
 */
function countOf(string $rank, array $cards): int
{
    return count(array_filter($cards, fn (string $card): bool => $card[0] === $rank));
}

/** Whether nobody has fewer cards than this seat. */
function leads(Question $question): bool
{
    return $question->hand_sizes[$question->seat] === min($question->hand_sizes);
}

/** What the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS". */
final class Question
{
    /** Echoed in the answer. */
    public int $id;

    /** The same throughout a game. */
    public string $game_id;

    /** This bot's place at the table, from 0. */
    public int $seat;

    /** Which rules the game is played by. */
    public Rules $rules;

    /** "lay": which card to lay? "drawn": what becomes of the card just drawn? */
    public string $phase;

    /** @var list<string> This bot's cards, sorted, the drawn one not among them. */
    public array $hand;

    /** The card just drawn, in phase "drawn". */
    public ?string $drawn;

    /** @var list<string> The actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep". */
    public array $legal;

    /** The card laid before this draw, in phase "drawn". */
    public ?string $laid;

    /** Whether this draw emptied the talon, so that the pile became the new talon. */
    public bool $recycled;

    /** @var list<int> How many cards each seat has in its hand. */
    public array $hand_sizes;

    /** How many cards are left to draw. */
    public int $talon_size;

    /** How many cards have been laid since the talon was new. */
    public int $pile_size;

    /** @var list<string> The queens on the table, oldest first; the fourth ends the game. */
    public array $widows;

    /** @var list<string> The cards that are out of the game, oldest first. */
    public array $discards;

    /** @var list<int> The seats that broke down; the house plays on for them. */
    public array $forfeited;

    /** Turns since the last discard or widow; at $rules->stall_limit the game ends. */
    public int $kept_in_a_row;

    /** @var list<Event> The turns since this bot's last question, oldest first, its own among them. */
    public array $events;

    /** For this answer; null: no limit. */
    public ?int $time_left_ms;

    /** For all answers of this game together; null: no limit. */
    public ?int $game_left_ms;

    public static function of(stdClass $message): self
    {
        $message->rules = fill(new Rules(), $message->rules);
        $message->events = array_map(fn (stdClass $event): Event => fill(new Event(), $event), $message->events);
        return fill(new self(), $message);
    }
}

/** The options of the rules. */
final class Rules
{
    /** Who got the card that was over: "talon" or "first". */
    public string $odd_card;

    /** What counts at the end: "places", "winner" or "loser". */
    public string $scoring;

    /** "any" of the matching cards may be discarded, or only "all". */
    public string $discard;

    /** So many turns in a row without a discard or a widow end the game. */
    public int $stall_limit;
}

/** One turn of one seat. */
final class Event
{
    /** Whose turn it was. */
    public int $seat;

    /** The card laid; null in turns of others. */
    public ?string $laid;

    /** The card drawn; null where another seat kept it. */
    public ?string $drew;

    /** "kept", "discarded" or "widow". */
    public string $result;

    /** @var list<string> The cards that went out with the drawn one. */
    public array $discarded;

    /** Whether the draw emptied the talon, so that the pile became the new talon. */
    public bool $recycled;
}

/**
 * The object, with what it knows of the fields.
 *
 * @template T of object
 * @param T $object
 * @return T
 */
function fill(object $object, stdClass $fields): object
{
    foreach (get_object_vars($fields) as $name => $value) {
        if (property_exists($object, $name)) {
            $object->$name = $value;
        }
    }
    return $object;
}

/**
 * Write one line, at once.
 *
 * @param array<string, mixed> $message
 */
function say(array $message): void
{
    fwrite(STDOUT, json_encode($message, JSON_THROW_ON_ERROR) . "\n");
}

/** Answer what is asked, and ignore what is not known, until the referee has had enough. */
function main(): void
{
    while (($line = fgets(STDIN)) !== false) {
        $message = json_decode($line, flags: JSON_THROW_ON_ERROR);
        $type = $message->type ?? null;
        if ($type === 'hello') {
            say(['type' => 'ready', 'protocol' => 1, 'name' => 'greedy', 'version' => '1', 'language' => 'PHP']);
        } elseif ($type === 'quit') {
            break;
        } elseif (isset($message->id)) { // only questions have one
            say(['id' => $message->id, 'action' => choose(Question::of($message))]);
        }
    }
}

main();
