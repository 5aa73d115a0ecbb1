// A bot for Four Widows. `choose` decides what it plays; what stands before it is what it can see, and what stands
// after it reads what the bot is sent and writes what it answers.

#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"

// A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
using Card = std::string;
using Cards = std::vector<Card>;

// The options of the rules.
struct Rules {
    std::string odd_card; // who got the card that was over: "talon" or "first"
    std::string scoring;  // what counts at the end: "places", "winner" or "loser"
    std::string discard;  // "any" of the matching cards may be discarded, or only "all"
    int stall_limit;      // so many turns in a row without a discard or a widow end the game
};

// One turn of one seat.
struct Event {
    int seat;                 // whose turn it was
    std::optional<Card> laid; // the card laid; absent in turns of others
    std::optional<Card> drew; // the card drawn; absent where another seat kept it
    std::string result;       // "kept", "discarded" or "widow"
    Cards discarded;          // the cards that went out with the drawn one
    bool recycled;            // whether the draw emptied the talon, so that the pile became the new talon
};

// What the bot is asked.
struct Question {
    int id;                           // echoed in the answer
    std::string game_id;              // the same throughout a game
    std::size_t seat;                 // this bot's place at the table, from 0
    Rules rules;                      // which rules the game is played by
    std::string phase;                // "lay": which card to lay? "drawn": what becomes of the card just drawn?
    Cards hand;                       // this bot's cards, sorted, the drawn one not among them
    std::optional<Card> drawn;        // the card just drawn, in phase "drawn"
    std::vector<std::string> legal;   // the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
    std::optional<Card> laid;         // the card laid before this draw, in phase "drawn"
    bool recycled;                    // whether this draw emptied the talon, so that the pile became the new talon
    std::vector<int> hand_sizes;      // how many cards each seat has in its hand
    int talon_size;                   // how many cards are left to draw
    int pile_size;                    // how many cards have been laid since the talon was new
    Cards widows;                     // the queens on the table, oldest first; the fourth ends the game
    Cards discards;                   // the cards that are out of the game, oldest first
    std::vector<int> forfeited;       // the seats that broke down; the house plays on for them
    int kept_in_a_row;                // turns since the last discard or widow; at rules.stall_limit the game ends
    std::vector<Event> events;        // the turns since this bot's last question, oldest first, its own among them
    std::optional<long> time_left_ms; // for this answer; absent: no limit
    std::optional<long> game_left_ms; // for all answers of this game together; absent: no limit
};

std::pair<int, int> cost(const Card &card, const Question &question);
bool leads(const Question &question);

// The action to take: one of `question.legal`. Change this, and play better.
std::string choose(const Question &question) {
    if (question.phase == "lay") {
        const auto cheaper = [&](const Card &a, const Card &b) { return cost(a, question) < cost(b, question); };
        return "lay " + *std::min_element(question.hand.begin(), question.hand.end(), cheaper);
    }
    const auto &first = question.legal.front();
    if (first == "widow" && question.widows.size() == 3 && !leads(question))
        return "keep"; // the fourth widow would end a game that is not being won
    return first;
}

// How many of the cards have that rank.
int count(char rank, const Cards &cards) {
    return static_cast<int>(
        std::count_if(cards.begin(), cards.end(), [rank](const Card &card) { return card[0] == rank; }));
}

// How bad it is to lay a card. Pairs compare by their first number, then by their second.
std::pair<int, int> cost(const Card &card, const Question &question) {
    const char rank = card[0];
    if (rank == 'Q')
        return {-1, 0}; // a queen matches nothing
    const int held = count(rank, question.hand);
    const int coming = 4 - held - count(rank, question.discards);
    return {held == 1 ? coming : 0, coming};
}

// Whether nobody has fewer cards than this seat.
bool leads(const Question &question) {
    const auto &sizes = question.hand_sizes;
    return sizes.at(question.seat) == *std::min_element(sizes.begin(), sizes.end());
}

// From here on: reading and writing.

using nlohmann::json;

// `null` is what is absent.
template <typename T> struct nlohmann::adl_serializer<std::optional<T>> {
    static void from_json(const json &value, std::optional<T> &result) {
        if (value.is_null())
            result.reset();
        else
            result = value.get<T>();
    }
    static void to_json(json &value, const std::optional<T> &result) {
        if (result)
            value = *result;
        else
            value = nullptr;
    }
};

// These make JSON of a struct too, though nothing here asks for it. Fields that they do not name are passed over.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Rules, odd_card, scoring, discard, stall_limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Event, seat, laid, drew, result, discarded, recycled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Question, id, game_id, seat, rules, phase, hand, drawn, legal, laid, recycled,
                                   hand_sizes, talon_size, pile_size, widows, discards, forfeited, kept_in_a_row,
                                   events, time_left_ms, game_left_ms)

// Write one line, at once.
void say(const json &message) { std::cout << message << std::endl; }

// Answer what is asked, and ignore what is not known, until the referee has had enough.
void play() {
    for (std::string line; std::getline(std::cin, line);) {
        const auto message = json::parse(line);
        const auto type = message.value("type", "");
        if (type == "hello")
            say({{"type", "ready"}, {"protocol", 1}, {"name", "greedy"}, {"version", "1"}, {"language", "C++"}});
        else if (type == "quit")
            break;
        else if (message.contains("id")) // only questions have one
            say({{"id", message["id"]}, {"action", choose(message.get<Question>())}});
    }
}

int main() {
    try {
        play();
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
