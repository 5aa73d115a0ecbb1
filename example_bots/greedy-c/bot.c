// A bot for Four Widows. `choose` decides what it plays; what stands before it is what it can see, and what stands
// after it reads what the bot is sent and writes what it answers.

#define _POSIX_C_SOURCE 200809L

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cJSON.h"

enum { MOST = 64, NO_LIMIT = -1 };

// A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C", "QS".
struct texts {
    int count;
    const char *items[MOST];
};

struct numbers {
    int count;
    int items[MOST];
};

// The options of the rules.
struct rules {
    const char *odd_card; // who got the card that was over: "talon" or "first"
    const char *scoring;  // what counts at the end: "places", "winner" or "loser"
    const char *discard;  // "any" of the matching cards may be discarded, or only "all"
    int stall_limit;      // so many turns in a row without a discard or a widow end the game
};

// One turn of one seat.
struct event {
    int seat;               // whose turn it was
    const char *laid;       // the card laid; NULL in turns of others
    const char *drew;       // the card drawn; NULL where another seat kept it
    const char *result;     // "kept", "discarded" or "widow"
    struct texts discarded; // the cards that went out with the drawn one
    bool recycled;          // whether the draw emptied the talon, so that the pile became the new talon
};

// What the bot is asked. All of it is gone after the answer: copy what you want to remember.
struct question {
    int id;                    // echoed in the answer
    const char *game_id;       // the same throughout a game
    int seat;                  // this bot's place at the table, from 0
    struct rules rules;        // which rules the game is played by
    const char *phase;         // "lay": which card to lay? "drawn": what becomes of the card just drawn?
    struct texts hand;         // this bot's cards, sorted, the drawn one not among them
    const char *drawn;         // the card just drawn; NULL in phase "lay"
    struct texts legal;        // the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
    const char *laid;          // the card laid before this draw; NULL in phase "lay"
    bool recycled;             // whether this draw emptied the talon, so that the pile became the new talon
    struct numbers hand_sizes; // how many cards each seat has in its hand
    int talon_size;            // how many cards are left to draw
    int pile_size;             // how many cards have been laid since the talon was new
    struct texts widows;       // the queens on the table, oldest first; the fourth ends the game
    struct texts discards;     // the cards that are out of the game, oldest first
    struct numbers forfeited;  // the seats that broke down; the house plays on for them
    int kept_in_a_row;         // turns since the last discard or widow; at rules.stall_limit the game ends
    int event_count;           // how many events there are
    struct event events[MOST]; // the turns since this bot's last question, oldest first, its own among them
    int time_left_ms;          // for this answer, or NO_LIMIT
    int game_left_ms;          // for all answers of this game together, or NO_LIMIT
};

static int cost(const char *card, const struct question *question);
static bool leads(const struct question *question);

// The action to take: one of `question->legal`. Change this, and play better.
static const char *choose(const struct question *question)
{
    const struct texts *hand = &question->hand, *legal = &question->legal;
    if (strcmp(question->phase, "lay") == 0) {
        int best = 0;
        for (int i = 1; i < hand->count; i++) {
            if (cost(hand->items[i], question) < cost(hand->items[best], question))
                best = i;
        }
        return legal->items[best]; // the actions are in the order of the hand
    }
    if (strcmp(legal->items[0], "widow") == 0 && question->widows.count == 3 && !leads(question))
        return "keep"; // the fourth widow would end a game that is not being won
    return legal->items[0];
}

// How many of the cards have that rank.
static int count(char rank, const struct texts *cards)
{
    int found = 0;
    for (int i = 0; i < cards->count; i++)
        found += cards->items[i][0] == rank;
    return found;
}

// How bad it is to lay a card: first what matches would be lost, then how many of its rank can still be drawn.
static int cost(const char *card, const struct question *question)
{
    char rank = card[0];
    if (rank == 'Q')
        return -10; // a queen matches nothing
    int held = count(rank, &question->hand);
    int coming = 4 - held - count(rank, &question->discards);
    return 10 * (held == 1 ? coming : 0) + coming;
}

// Whether nobody has fewer cards than this seat.
static bool leads(const struct question *question)
{
    const struct numbers *sizes = &question->hand_sizes;
    for (int i = 0; i < sizes->count; i++) {
        if (sizes->items[i] < sizes->items[question->seat])
            return false;
    }
    return true;
}

// From here on: reading and writing.

// Say on stderr what is wrong, and end.
static _Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!value)
        fail("a question without \"%s\"", name);
    return value;
}

static int number(const cJSON *object, const char *name)
{
    const cJSON *value = member(object, name);
    return cJSON_IsNumber(value) ? value->valueint : NO_LIMIT;
}

static bool truth(const cJSON *object, const char *name) { return cJSON_IsTrue(member(object, name)); }

static const char *text(const cJSON *object, const char *name) { return cJSON_GetStringValue(member(object, name)); }

static const cJSON *list(const cJSON *object, const char *name)
{
    const cJSON *value = member(object, name);
    if (cJSON_GetArraySize(value) > MOST)
        fail("more than %d entries in \"%s\"", MOST, name);
    return value;
}

static struct texts texts(const cJSON *object, const char *name)
{
    struct texts all = {0};
    const cJSON *item;
    cJSON_ArrayForEach(item, list(object, name))
        all.items[all.count++] = cJSON_GetStringValue(item);
    return all;
}

static struct numbers numbers(const cJSON *object, const char *name)
{
    struct numbers all = {0};
    const cJSON *item;
    cJSON_ArrayForEach(item, list(object, name))
        all.items[all.count++] = item->valueint;
    return all;
}

static struct rules read_rules(const cJSON *object)
{
    return (struct rules){
        .odd_card = text(object, "odd_card"),
        .scoring = text(object, "scoring"),
        .discard = text(object, "discard"),
        .stall_limit = number(object, "stall_limit"),
    };
}

static struct event read_event(const cJSON *object)
{
    return (struct event){
        .seat = number(object, "seat"),
        .laid = text(object, "laid"),
        .drew = text(object, "drew"),
        .result = text(object, "result"),
        .discarded = texts(object, "discarded"),
        .recycled = truth(object, "recycled"),
    };
}

static void read_question(const cJSON *object, struct question *question)
{
    *question = (struct question){
        .id = number(object, "id"),
        .game_id = text(object, "game_id"),
        .seat = number(object, "seat"),
        .rules = read_rules(member(object, "rules")),
        .phase = text(object, "phase"),
        .hand = texts(object, "hand"),
        .drawn = text(object, "drawn"),
        .legal = texts(object, "legal"),
        .laid = text(object, "laid"),
        .recycled = truth(object, "recycled"),
        .hand_sizes = numbers(object, "hand_sizes"),
        .talon_size = number(object, "talon_size"),
        .pile_size = number(object, "pile_size"),
        .widows = texts(object, "widows"),
        .discards = texts(object, "discards"),
        .forfeited = numbers(object, "forfeited"),
        .kept_in_a_row = number(object, "kept_in_a_row"),
        .time_left_ms = number(object, "time_left_ms"),
        .game_left_ms = number(object, "game_left_ms"),
    };
    const cJSON *event;
    cJSON_ArrayForEach(event, list(object, "events"))
        question->events[question->event_count++] = read_event(event);
}

// Write one line, at once, and free the message.
static void say(cJSON *message)
{
    char *line = cJSON_PrintUnformatted(message);
    if (!line || puts(line) == EOF || fflush(stdout) == EOF)
        fail("an answer could not be written");
    free(line);
    cJSON_Delete(message);
}

static void say_ready(void)
{
    cJSON *ready = cJSON_CreateObject();
    cJSON_AddStringToObject(ready, "type", "ready");
    cJSON_AddNumberToObject(ready, "protocol", 1);
    cJSON_AddStringToObject(ready, "name", "greedy");
    cJSON_AddStringToObject(ready, "version", "1");
    cJSON_AddStringToObject(ready, "language", "C");
    say(ready);
}

static void answer(const cJSON *message)
{
    struct question question;
    read_question(message, &question);
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddNumberToObject(reply, "id", question.id);
    cJSON_AddStringToObject(reply, "action", choose(&question));
    say(reply);
}

// Answer what is asked, and ignore what is not known, until the referee has had enough.
int main(void)
{
    char *line = NULL;
    size_t size = 0;
    bool playing = true;
    while (playing && getline(&line, &size, stdin) != -1) {
        cJSON *message = cJSON_Parse(line);
        if (!message)
            fail("no JSON: %s", line);
        const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "type"));
        if (type && strcmp(type, "hello") == 0)
            say_ready();
        else if (type && strcmp(type, "quit") == 0)
            playing = false;
        else if (cJSON_HasObjectItem(message, "id")) // only questions have one
            answer(message);
        cJSON_Delete(message);
    }
    free(line);
    return EXIT_SUCCESS;
}
