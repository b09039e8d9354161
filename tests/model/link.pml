/* SPDX-License-Identifier: Apache-2.0 */
/* The links of runtime/proc/peer.c: a process that waits for a message that the network
 * has lost learns of it, even if no message follows for a long time.
 *
 * A sends messages to B. Each has the next number of their link. At most WINDOW of them are not
 * acknowledged. B acknowledges them in CREDITs, now or later, which are numbered as well. As long
 * as messages are not acknowledged, A asks for a CREDIT when there has been none for a while. That
 * question (a probe) is a message, too. A process that has received a number and not the one before
 * it, although nothing is under way any more, regards the link as broken. This ends the job with an
 * error.
 *
 * Messages overtake each other. The network loses the messages that it holds, in both directions or
 * in one, up to LOSSES times. Each time it works again afterwards, as if a connection was made
 * anew. If it does not work again, the network itself has to report that.
 *
 * Simplifications: there is no time. A asks when nothing is under way, at most PROBES times, which
 * is enough. A lost message counts as lost when nothing is under way to its receiver.
 *
 * Built with one of these, the model has an error, and spin must find it:
 * NO_PROBE         A does not ask: B waits for a last message for ever.
 * ASK_ONCE         A asks once: the question may be lost as well.
 * BARE_PROBE       the question has no number: B sees no gap before it.
 * BARE_CREDIT      CREDITs have no number: A waits for ever for room that it was given.
 * LAZY_ANSWER      B answers only if there is something to acknowledge: A waits as above.
 * HASTY            a message that has been overtaken counts as lost while it is still under way. */
#define MESSAGES 3
#define WINDOW 2
#define LOSSES 2
#define PROBES (MESSAGES + LOSSES)
#define NUMBERS (MESSAGES + PROBES)

chan to_b = [NUMBERS] of { byte, bit, bit };  /* number, is it a message that counts, does it ask */
chan to_a = [NUMBERS] of { byte, byte };      /* number, how many B has taken in since the last */

byte num_sent, undrained, num_probes; /* A's */
byte sent_a, sent_b;                  /* the numbers used so far */
short seen_a, seen_b;                 /* one bit for each number received */
byte drained, num_taken;              /* B's: not acknowledged yet; in all */
byte num_lost;
bit is_broken;

/* Whether a number in SEEN is there without the one before it. */
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
