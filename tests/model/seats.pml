/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses a board (net/shm.c, proc/boards.c, comm/group.c), if the job goes on without the
 * dead.
 *
 * There is one board and N localities, which can die between any two steps that touch shared
 * memory. Locality 0 takes the board for a communicator, whose sites are in localities 0 and 1.
 * Either the map of that comes, or its creation ends with a death; for all localities alike, since
 * maps and deaths come in one order (survivors.pml). Here that order is a list, in which each
 * locality has a place. A locality begins to use the board before it reads on. Before that, or when
 * the board is free again, locality 2 takes it for another communicator, with locality 1. A ticket
 * is a number that is never used again.
 *
 * With one death there are 1,051,644 states, with -DDEATHS=2 11,803,462 and with -DTWICE 7,438,327
 * (suite long), compressed in 600 MB.
 *
 * Checked is that a board that a living locality uses is its communicator's, and that at the end
 * it is free, unless all who were to use it have died while the first of them began.
 *
 * Variants that have an error, which spin must find:
 *   NO_SCAN       who hears of a death does not look at boards
 *   OWN_SEAT      who begins marks its own seat only
 *   LAST_ONLY     a death is looked at for the one who has just died only
 *   NO_SECOND     nothing is looked at if the dead one had marked its seat itself
 *   KEEP_UNUSED   what a dead one has taken, and nobody has begun to use, is kept
 *   ONE_TICKET    all communicators have the same ticket
 *   TWICE,STORE   who ends marks its seat, whatever is there by then. With TWICE two sites of a
 *                 locality end at the same time; that alone is no error */
#define N 3
#ifndef DEATHS
#define DEATHS 1
#endif

#define IN 1
#define OUT 2

/* The holder, as a ticket and how many use the board; and the seats, likewise. */
byte ticket, num;
byte seat_ticket[N], seat_mark[N];

/* The order of what all hear: 1 + who has died; 8 + the communicator that is there; its creation
 * ends with the first death. */
byte events[6];
byte num_events;
byte is_dead, told; /* a bit each */
byte has_left; /* communicator 0, likewise */
byte num_died;
bit was_lost; /* all who were to use it have died, and the first of them was just beginning */

#define BIT(i) (1 << (i))

/* Communicators: 0 is locality 0's, with 0 and 1; 1 is 2's, with 1 and 2. */
#define MEMBERS(c) ((c) == 0 -> 3 : 6)
#define TAKER(c) ((c) == 0 -> 0 : 2)
#ifdef ONE_TICKET
#define TICKET(c) 1
#define FREEING(me) 1
#else
#define TICKET(c) ((c) + 1)
#define FREEING(me) ((me) + 3) /* who gives its memory back has taken it anew */
#endif
#define TAKER_OF(t) ((t) == 1 -> 0 : ((t) == 2 -> 2 : (t) - 3))

byte stage[2]; /* of the communicators: 0 nobody has joined, 1 pending, 2 alive, 3 will never be */
byte beginning[2]; /* who is between the two parts of _begin: a bit each */

#define LIVES (!(is_dead & BIT(me)))

#define IS_OUT(t, i) (seat_ticket[i] == (t) && seat_mark[i] == OUT)
#define COUNT_OUT(t) (IS_OUT(t, 0) + IS_OUT(t, 1) + IS_OUT(t, 2))

/* Whether all of the board of (t, n) are out, and if so frees it. One look at all seats shows what
 * one after the other would show, since a seat that is out stays so. */
inline look(t, n)
{
    if
    :: LIVES && COUNT_OUT(t) == n && n > 0 ->
        if
        :: atomic { LIVES && ticket == t && num == n -> ticket = FREEING(me); num = 0 };
            /* its memory goes back here */
            if
            :: atomic { LIVES && ticket == FREEING(me) && num == 0 -> ticket = 0 }
            :: !LIVES
            fi
        :: atomic { !(ticket == t && num == n) || !LIVES }
        fi
    :: else
    fi
}

#define SEAT(i) (4 * seat_ticket[i] + seat_mark[i])

/* _board_end: WHO uses the board of communicator C no more. */
inline board_end(c, who)
{
    if
    :: atomic { ticket == TICKET(c) && num == 0 && LIVES -> ticket = 0 }
    :: atomic { !(ticket == TICKET(c) && num == 0) && LIVES -> mark = SEAT(who) };
        do
        :: atomic { ticket == TICKET(c) && num > 0 && LIVES -> t = ticket; n = num };
            if
#ifdef STORE
            :: atomic { LIVES ->
#else
            :: atomic { LIVES && SEAT(who) == mark ->
#endif
                seat_ticket[who] = t; seat_mark[who] = OUT };
                look(t, n);
                break
#ifndef STORE
            :: atomic { LIVES && SEAT(who) != mark -> mark = SEAT(who) }
#endif
            :: !LIVES -> break
            fi
        :: atomic { !(ticket == TICKET(c) && num > 0) || !LIVES } -> break
        od
    :: !LIVES
    fi;
    t = 0; n = 0; mark = 0
}

inline mark_in(c, who)
{
    if
    :: atomic { LIVES ->
        if
        :: seat_ticket[who] != TICKET(c) -> seat_ticket[who] = TICKET(c); seat_mark[who] = IN
        :: else
        fi }
    :: !LIVES
    fi
}

inline begin(c)
{
    has_begun = 0;
    if
    :: atomic { LIVES && ticket == TICKET(c) && (num == 0 || num == 2) ->
        num = 2; has_begun = 1; beginning[c] = beginning[c] | BIT(me) }
    :: atomic { !(ticket == TICKET(c) && (num == 0 || num == 2)) || !LIVES }
    fi;
    if
    :: has_begun && LIVES ->
#ifdef OWN_SEAT
        mark_in(c, me);
#else
        mark_in(c, 1);
        mark_in(c, TAKER(c));
#endif
        atomic {
            if
            :: LIVES -> beginning[c] = beginning[c] & ~BIT(me)
            :: else
            fi };
        skip
    :: else ->
        if
        :: LIVES && TAKER(c) == me -> board_end(c, me)
        :: else
        fi
    fi
}

/* For one that has died. */
inline end_dead(who)
{
    if
    :: atomic { LIVES && num > 0 && seat_ticket[who] == ticket && seat_mark[who] == IN ->
        t = ticket; n = num };
        if
        :: atomic { LIVES && seat_ticket[who] == t && seat_mark[who] == IN -> seat_mark[who] = OUT }
        :: atomic { !(seat_ticket[who] == t && seat_mark[who] == IN) || !LIVES }
        fi;
        look(t, n)
#ifndef NO_SECOND
    :: atomic { LIVES && num > 0 && seat_ticket[who] == ticket && seat_mark[who] == OUT ->
        t = ticket; n = num };
        look(t, n)
#endif
    :: else
    fi;
    t = 0; n = 0
}

inline hear_of(who)
{
    knows = knows | BIT(who);
#ifndef NO_SCAN
    if
#ifndef KEEP_UNUSED
    :: atomic { LIVES && ticket > 0 && num == 0 && (knows & BIT(TAKER_OF(ticket))) -> ticket = 0 }
#endif
    :: else ->
#ifdef LAST_ONLY
        end_dead(who)
#else
        dead = 0;
        do
        :: dead < N ->
            if
            :: knows & BIT(dead) -> end_dead(dead)
            :: else
            fi;
            dead++
        :: dead == N -> dead = 0; break
        od
#endif
    fi
#endif
}

#define OTHERS_OF(c) (MEMBERS(c) & ~BIT(TAKER(c)))
#define USES(c) (uses == 1 + (c))

proctype locality(byte me)
{
    byte at, knows, uses, heard, t, n, dead, mark;
    bit has_begun, has_taken;
    do
    /* Takes a board, and joins. */
    :: atomic { LIVES && me == 0 && stage[0] == 0 && !has_taken && ticket == 0 ->
        ticket = TICKET(0); has_taken = 1;
        if
        :: told & MEMBERS(0) -> stage[0] = 3
        :: else -> stage[0] = 1
        fi }
    :: atomic { LIVES && me == 2 && stage[1] == 0 && !has_taken && ticket == 0 ->
        ticket = TICKET(1); has_taken = 1;
        if
        :: told & MEMBERS(1) -> stage[1] = 3
        :: else -> stage[1] = 1
        fi }
    /* Its join has ended with a death. */
    :: LIVES && has_taken && me == 0 && stage[0] == 3 -> has_taken = 0; board_end(0, 0)
    :: LIVES && has_taken && me == 2 && stage[1] == 3 -> has_taken = 0; board_end(1, 2)
    :: atomic { LIVES && at < num_events -> heard = events[at]; at++ };
        if
        :: heard >= 8 && (MEMBERS(heard - 8) & BIT(me)) && uses == 0 ->
            begin(heard - 8);
            atomic {
                if
                :: has_begun && LIVES -> uses = 1 + heard - 8
                :: else
                fi;
                if
                :: TAKER(heard - 8) == me -> has_taken = 0
                :: else
                fi }
        :: heard >= 8 && (MEMBERS(heard - 8) & BIT(me)) && uses != 0 ->
            /* it has to leave the first one before, so that there is one at a time here */
            at--
        :: heard >= 8 && !(MEMBERS(heard - 8) & BIT(me))
        :: heard < 8 -> hear_of(heard - 1)
        fi;
        heard = 0; has_begun = 0
    :: atomic { LIVES && uses > 0 -> assert(ticket == TICKET(uses - 1) && num == 2) }
    :: atomic { LIVES && USES(0) -> uses = 0; has_left = has_left | BIT(me) }; board_end(0, me)
    :: LIVES && USES(1) -> uses = 0; board_end(1, me)
    :: !LIVES -> break
    :: timeout -> break
    od;
    /* At the end of all. */
    assert(!LIVES || was_lost || (ticket == 0 && num == 0 && !has_taken))
}

#ifdef TWICE
/* Another site of locality 1, which leaves communicator 0 as well, on another worker. */
active proctype second_end()
{
    byte me = 1, t, n, mark;
end:
    has_left & BIT(1);
    board_end(0, 1)
}
#endif

inline tell(event)
{
    events[num_events] = event;
    num_events++
}

active proctype cohortrun()
{
    byte who;
end:
    do
    :: atomic { stage[0] == 1 -> stage[0] = 2; tell(8) }
    :: atomic { stage[1] == 1 -> stage[1] = 2; tell(9) }
    :: atomic { is_dead & ~told ->
        do
        :: (is_dead & ~told & BIT(who)) -> break
        :: else -> who++
        od;
        told = told | BIT(who);
        tell(who + 1);
        if
        :: stage[0] == 1 && (MEMBERS(0) & BIT(who)) -> stage[0] = 3
        :: else
        fi;
        if
        :: stage[1] == 1 && (MEMBERS(1) & BIT(who)) -> stage[1] = 3
        :: else
        fi;
        who = 0 }
    od
}

/* At any time. */
#define MAY_DIE(who) (num_died < DEATHS && !(is_dead & BIT(who)))
active proctype death()
{
    byte who;
    do
    :: atomic { num_died < DEATHS ->
        if
        :: MAY_DIE(0) -> who = 0
        :: MAY_DIE(1) -> who = 1
        :: MAY_DIE(2) -> who = 2
        fi;
        num_died++;
        is_dead = is_dead | BIT(who);
        who = 0;
        if
        :: (is_dead & 3) == 3 && beginning[0] -> was_lost = 1
        :: (is_dead & 6) == 6 && beginning[1] -> was_lost = 1
        :: else
        fi }
    :: break
    od
}

init
{
    atomic { run locality(0); run locality(1); run locality(2) };
}
