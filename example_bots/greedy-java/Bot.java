import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * A bot for Four Widows. {@code choose} decides what it plays; the rest reads what it is sent and
 * writes what it answers.
 */
public final class Bot {

  /** The action to take: one of {@code question.legal()}. Change this, and play better. */
  static String choose(Question question) {
    if (question.phase().equals("lay")) {
      return "lay " + Collections.min(question.hand(), byCost(question));
    }
    String first = question.legal().get(0);
    if (first.equals("widow") && question.widows().size() == 3 && !leads(question)) {
      return "keep"; // the fourth widow would end a game that is not being won
    }
    return first;
  }

  /** Which of two cards it costs less to lay. */
  private static Comparator<String> byCost(Question question) {
    return Comparator.comparingInt((String card) -> matchesLost(card, question))
        .thenComparingInt(card -> coming(card, question));
  }

  /** How many cards that can still be drawn match the hand only as long as the card is in it. */
  private static int matchesLost(String card, Question question) {
    if (rank(card) == 'Q') {
      return -1; // a queen matches nothing
    }
    return count(rank(card), question.hand()) == 1 ? coming(card, question) : 0;
  }

  /** How many cards of that card's rank can still be drawn. */
  private static int coming(String card, Question question) {
    return 4 - count(rank(card), question.hand()) - count(rank(card), question.discards());
  }

  private static int count(char rank, List<String> cards) {
    return (int) cards.stream().filter(card -> rank(card) == rank).count();
  }

  private static char rank(String card) {
    return card.charAt(0);
  }

  /** Whether nobody has fewer cards than this seat. */
  private static boolean leads(Question question) {
    return question.handSizes().get(question.seat()).equals(Collections.min(question.handSizes()));
  }

  /**
   * What the bot is asked. A card is its rank, one of 6789TJQKA, and its suit, one of CDHS: "6C",
   * "QS".
   *
   * @param id echoed in the answer
   * @param gameId the same throughout a game
   * @param seat this bot's place at the table, from 0
   * @param rules which rules the game is played by
   * @param phase "lay": which card to lay? "drawn": what becomes of the card just drawn?
   * @param hand this bot's cards, sorted, the drawn one not among them
   * @param drawn the card just drawn; null in phase "lay"
   * @param legal the actions to choose from: "lay 6C", "discard 7C 7D", "widow", "keep"
   * @param laid the card laid before this draw; null in phase "lay"
   * @param recycled whether this draw emptied the talon, so that the pile became the new talon
   * @param handSizes how many cards each seat has in its hand
   * @param talonSize how many cards are left to draw
   * @param pileSize how many cards have been laid since the talon was new
   * @param widows the queens on the table, oldest first; the fourth ends the game
   * @param discards the cards that are out of the game, oldest first
   * @param forfeited the seats that broke down; the house plays on for them
   * @param keptInARow turns since the last discard or widow; at {@code rules.stallLimit()} the game
   *     ends
   * @param events the turns since this bot's last question, oldest first, its own among them
   * @param timeLeftMs for this answer; null: no limit
   * @param gameLeftMs for all answers of this game together; null: no limit
   */
  record Question(
      int id,
      String gameId,
      int seat,
      Rules rules,
      String phase,
      List<String> hand,
      String drawn,
      List<String> legal,
      String laid,
      boolean recycled,
      List<Integer> handSizes,
      int talonSize,
      int pileSize,
      List<String> widows,
      List<String> discards,
      List<Integer> forfeited,
      int keptInARow,
      List<Event> events,
      Long timeLeftMs,
      Long gameLeftMs) {}

  /**
   * The options of the rules.
   *
   * @param oddCard who got the card that was over: "talon" or "first"
   * @param scoring what counts at the end: "places", "winner" or "loser"
   * @param discard "any" of the matching cards may be discarded, or only "all"
   * @param stallLimit so many turns in a row without a discard or a widow end the game
   */
  record Rules(String oddCard, String scoring, String discard, int stallLimit) {}

  /**
   * One turn of one seat.
   *
   * @param seat whose turn it was
   * @param laid the card laid; null in turns of others
   * @param drew the card drawn; null where another seat kept it
   * @param result "kept", "discarded" or "widow"
   * @param discarded the cards that went out with the drawn one
   * @param recycled whether the draw emptied the talon, so that the pile became the new talon
   */
  record Event(
      int seat,
      String laid,
      String drew,
      String result,
      List<String> discarded,
      boolean recycled) {}

  record Ready(String type, int protocol, String name, String version, String language) {}

  record Answer(int id, String action) {}

  private static final Gson GSON =
      new GsonBuilder()
          .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
          .disableHtmlEscaping()
          .create();

  /** Answers what is asked, and ignores what is not known, until the referee has had enough. */
  public static void main(String[] args) throws IOException {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonObject message = JsonParser.parseString(line).getAsJsonObject();
      String type = message.has("type") ? message.get("type").getAsString() : "";
      if (type.equals("hello")) {
        say(new Ready("ready", 1, "greedy", "1", "Java"));
      } else if (type.equals("quit")) {
        break;
      } else if (message.has("id")) { // only questions have one
        Question question = GSON.fromJson(message, Question.class);
        say(new Answer(question.id(), choose(question)));
      }
    }
  }

  /** Writes one line, at once. */
  private static void say(Object message) {
    System.out.println(GSON.toJson(message));
    System.out.flush();
  }
}
