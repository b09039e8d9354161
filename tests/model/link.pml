/* SPDX-License-Identifier: Apache-2.0 */
/* The links of runtime/proc/link.c and probe.c: who waits for a message that a network has lost
 * hears of it, also where it was the last one for long.
 *
 * A sends messages to B, each with the next number of their link, and at most WINDOW that B has not
 * said to have taken in. B says so in CREDITs, now or later, which are numbered as well. As long as
 * messages are not confirmed A asks for a CREDIT after a while without any; that question is a
 * message, too. Who has a number and not the one before it, although nothing is under way any more,
 * takes the link for broken: that ends the job with an error.
 *
 * Messages overtake each other. The network loses what it holds, in both directions or in one, up
 * to LOSSES times; each time it works again afterwards, as where a connection is made anew. If it
 * does not, that is its own to tell.
 *
 * Abstracted: time. A asks when nothing is under way, PROBES times at most, which are enough; what
 * was lost counts as lost when nothing is under way to who misses it.
 *
 * Built with one of these, the model has an error, and spin must find it:
 * NO_PROBE         A does not ask: B waits for a last message for ever.
 * ASK_ONCE         A asks once: the question may be lost as well.
 * BARE_PROBE       the question has no number: B sees no gap before it.
 * BARE_CREDIT      CREDITs have none: A waits for ever for room that it was given.
 * LAZY_ANSWER      B answers only where it has something to say: A waits as above.
 * HASTY            what has been overtaken is taken for lost while it is still under way. */
#define MESSAGES 3
#define WINDOW 2
#define LOSSES 2
#define PROBES (MESSAGES + LOSSES)
#define NUMBERS (MESSAGES + PROBES)

chan to_b = [NUMBERS] of { byte, bit, bit };  /* number, is it a message that counts, does it ask */
chan to_a = [NUMBERS] of { byte, byte };      /* number, how many B has taken in since the last */

byte num_sent, undrained, num_probes; /* A's */
byte sent_a, sent_b;                  /* numbers that are used up */
short seen_a, seen_b;                 /* of those that came: a bit each */
byte drained, num_taken;              /* B's: to be told yet; in all */
byte num_lost;
bit is_broken;

/* Whether one of the numbers in SEEN lacks the one before it. */
#define HAS_GAP(seen) ((seen & (seen + 1)) != 0)

#ifdef HASTY
#define IS_LATE(channel) true
#else
#define IS_LATE(channel) empty(channel)
#endif
#ifdef ASK_ONCE
#define MOST_PROBES 1
#elif defined(NO_PROBE)
#define MOST_PROBES 0
#else
#define MOST_PROBES PROBES
#endif

inline confirm()
{
#ifdef BARE_CREDIT
    to_a ! 255, drained;
#else
    to_a ! sent_b, drained;
    sent_b++;
#endif
    drained = 0
}

active proctype a()
{
    byte number, told;
    do
    :: atomic { !is_broken && num_sent < MESSAGES && undrained < WINDOW ->
           to_b ! sent_a, 1, 0; sent_a++; num_sent++; undrained++ }
    :: atomic { to_a ? number, told ->
           if
           :: number != 255 -> seen_a = seen_a | (1 << number)
           :: else
           fi;
           assert(told <= undrained);
           undrained = undrained - told; told = 0; number = 0 }
    :: atomic { !is_broken && undrained > 0 && empty(to_b) && empty(to_a) &&
           num_probes < MOST_PROBES ->
           num_probes++;
#ifdef BARE_PROBE
           to_b ! 255, 0, 1 }
#else
           to_b ! sent_a, 0, 1; sent_a++ }
#endif
    :: atomic { !is_broken && HAS_GAP(seen_a) && IS_LATE(to_a) ->
           assert(num_lost > 0); is_broken = 1 }
    :: atomic { is_broken || (num_taken == MESSAGES && undrained == 0) -> break }
    od
}

active proctype b()
{
    byte number;
    bit counts, asks;
    do
    :: atomic { to_b ? number, counts, asks ->
           if
           :: number != 255 -> seen_b = seen_b | (1 << number)
           :: else
           fi;
           drained = drained + counts;
           num_taken = num_taken + counts;
           if
#ifdef LAZY_ANSWER
           :: asks && drained > 0 -> confirm()
           :: asks && drained == 0
#else
           :: asks -> confirm()
#endif
           :: !asks && drained > 0 -> confirm()
           :: !asks
           fi;
           number = 0; counts = 0; asks = 0 }
    :: atomic { !is_broken && HAS_GAP(seen_b) && IS_LATE(to_b) ->
           assert(num_lost > 0); is_broken = 1 }
    :: atomic { is_broken || (num_taken == MESSAGES && undrained == 0) -> break }
    od
}

active proctype network()
{
    byte number, told;
    bit counts, asks;
end:
    do
    :: atomic { len(to_b) > 1 -> to_b ? number, counts, asks; to_b ! number, counts, asks;
           number = 0; counts = 0; asks = 0 }
    :: atomic { len(to_a) > 1 -> to_a ? number, told; to_a ! number, told; number = 0; told = 0 }
    :: atomic { num_lost < LOSSES && nempty(to_b) ->
           num_lost++;
           do
           :: to_b ? number, counts, asks
           :: empty(to_b) -> break
           od;
           number = 0; counts = 0; asks = 0 }
    :: atomic { num_lost < LOSSES && nempty(to_a) ->
           num_lost++;
           do
           :: to_a ? number, told
           :: empty(to_a) -> break
           od;
           number = 0; told = 0 }
    :: atomic { num_lost < LOSSES && nempty(to_b) && nempty(to_a) ->
           num_lost++;
           do
           :: to_b ? number, counts, asks
           :: empty(to_b) -> break
           od;
           do
           :: to_a ? number, told
           :: empty(to_a) -> break
           od;
           number = 0; counts = 0; asks = 0; told = 0 }
    od
}
