#!/usr/bin/env perl
# A bot for Four Widows. `choose` decides what it plays; the rest reads what it
# is sent and writes what it answers.

use strict;
use warnings;

use JSON::PP;
use List::Util qw(min reduce);

# The action to take: one of @{ $question->{legal} }. Change this, and play
# better.
sub choose {
    my ($question) = @_;

    if ( $question->{phase} eq 'lay' ) {
        my $best = reduce { cheaper( $b, $a, $question ) ? $b : $a }
          @{ $question->{hand} };
        return "lay $best";
    }
    my $first = $question->{legal}[0];
    if (    $first eq 'widow'
        and @{ $question->{widows} } == 3
        and not leads($question) )
    {
        return 'keep';    # the fourth widow would end a game not being won
    }
    return $first;
}

# How bad it is to lay a card: two numbers, of which the second counts where
# the first are equal.
sub cost {
    my ( $card, $question ) = @_;

    my $rank = substr $card, 0, 1;
    return ( -1, 0 ) if $rank eq 'Q';    # a queen matches nothing
    my $held   = count( $rank, $question->{hand} );
    my $coming = 4 - $held - count( $rank, $question->{discards} );
    return ( $held == 1 ? $coming : 0, $coming );
}

# Whether it costs less to lay the first card than the second.
sub cheaper {
    my ( $card, $other, $question ) = @_;

    my @cost  = cost( $card,  $question );
    my @other = cost( $other, $question );
    return ( $cost[0] <=> $other[0] || $cost[1] <=> $other[1] ) < 0;
}

# How many of the cards have that rank.
sub count {
    my ( $rank, $cards ) = @_;

    return scalar grep { substr( $_, 0, 1 ) eq $rank } @{$cards};
}

# Whether nobody has fewer cards than this seat.
sub leads {
    my ($question) = @_;

    my @sizes = @{ $question->{hand_sizes} };
    return $sizes[ $question->{seat} ] == min @sizes;
}

# What the bot is asked, a hash. A card is its rank, one of 6789TJQKA, and its
# suit, one of CDHS: "6C", "QS". Lists are array references; what is absent is
# undef.
#
#   id             echoed in the answer
#   game_id        the same throughout a game
#   seat           this bot's place at the table, from 0
#   rules          which rules the game is played by, a hash:
#     odd_card       who got the card that was over: "talon" or "first"
#     scoring        what counts at the end: "places", "winner" or "loser"
#     discard        "any" of the matching cards may be discarded, or only "all"
#     stall_limit    so many turns in a row without a discard or a widow end
#                    the game
#   phase          "lay": which card to lay? "drawn": what becomes of the card
#                  just drawn?
#   hand           this bot's cards, sorted, the drawn one not among them
#   drawn          the card just drawn, in phase "drawn"
#   legal          the actions to choose from: "lay 6C", "discard 7C 7D",
#                  "widow", "keep"
#   laid           the card laid before this draw, in phase "drawn"
#   recycled       whether this draw emptied the talon, so that the pile became
#                  the new talon
#   hand_sizes     how many cards each seat has in its hand
#   talon_size     how many cards are left to draw
#   pile_size      how many cards have been laid since the talon was new
#   widows         the queens on the table, oldest first; the fourth ends the
#                  game
#   discards       the cards that are out of the game, oldest first
#   forfeited      the seats that broke down; the house plays on for them
#   kept_in_a_row  turns since the last discard or widow; at stall_limit the
#                  game ends
#   events         the turns since this bot's last question, oldest first, its
#                  own among them, each a hash:
#     seat           whose turn it was
#     laid           the card laid; undef in turns of others
#     drew           the card drawn; undef where another seat kept it
#     result         "kept", "discarded" or "widow"
#     discarded      the cards that went out with the drawn one
#     recycled       whether the draw emptied the talon, so that the pile became
#                    the new talon
#   time_left_ms   for this answer; undef: no limit
#   game_left_ms   for all answers of this game together; undef: no limit

my $json = JSON::PP->new->utf8->canonical;

# Write one line, at once.
sub say_line {
    my ($message) = @_;

    print $json->encode($message), "\n";
    return;
}

# Answer what is asked, and ignore what is not known, until the referee has had
# enough.
sub main {
    local $| = 1;
    while ( my $line = <STDIN> ) {
        my $message = $json->decode($line);
        my $type    = $message->{type} // '';
        if ( $type eq 'hello' ) {
            say_line(
                {
                    type     => 'ready',
                    protocol => 1,
                    name     => 'greedy',
                    version  => '1',
                    language => 'Perl',
                }
            );
        }
        elsif ( $type eq 'quit' ) {
            last;
        }
        elsif ( exists $message->{id} ) {    # only questions have one
            say_line( { id => $message->{id}, action => choose($message) } );
        }
    }
    return;
}

main();
