/* SPDX-License-Identifier: Apache-2.0 */
/* The MEET steps of a plan (exec/meet.c, engine.c, attendance.c, meeting*.c), with the messages
 * between leaders (comm/reception.c, early.c). The model checks:
 * - Every call of every site ends.
 * - It ends with OK only if all sites on whose data it depends have called it.
 * - What it gets is of its own call: leaders have what they pass on, and buffers are not read after
 *   the call of their owner has ended.
 * - An error names a site that has failed by itself, or has left the generation out.
 * - No site has to ask because of a failure; and not because of what was left out, if the other
 *   site here had met it when that one went on.
 *
 * Locality A has the sites 0 and 1, B has 2 and 3; 0 and 2 lead. There are two generations. The
 * first one is drawn: a reduce (the sites of a locality meet on the way up, 2 sends to 0), a
 * broadcast (0 sends to 2, the sites of a locality meet on the way down), or an all_reduce (up, to
 * 0, to 2, down). The second one is a reduce. In a reduce a follower is through when its meeting
 * is. One site leaves out the first generation, or one call fails by itself, at any time, or finds
 * no memory for one of its meetings. A message is read in the memory of its sender, which gets it
 * back. The sites of A may have both calls in flight.
 *
 * What an endpoint does in one turn is one step, but for entering the second meeting of a call, and
 * failing each of them: steps of others come in between. Meetings are numbered as in the code, in
 * each plan from 0 on.
 *
 * That has 1,231,890 states, found in 10 s in 410 MB.
 *
 * Simplifications: all messages are announced ones. Each locality has two sites. Bounds are never
 * reached: of kept failures, of what is remembered, of the window. Not here: agreements in front
 * (checked calls), during which a failure is kept; calls that differ, and answers of sites that are
 * through; notes (notes.pml); boards, rejections, and questions that overtake (board.pml); sites
 * that leave the communicator, and deaths. Questions are asked when nothing else can happen.
 *
 * Also without an error: -DWINDOW (the sites of B, too, have both calls in flight),
 * -DLATER=BROADCAST (so is the second generation), -DFAULTS=2 with -DEARLIER=REDUCE or =BROADCAST
 * (which the first generation is then), -DEARLY_DOWN (a follower is ready
 * for the way down when its call starts), -DBY_PHASE (the way up has number 0, and the way down 1,
 * in all plans), -DKEY_ALONE without it: number 0 is in all plans, and who fails that meeting fails
 * the call.
 *
 * Variants that have an error, which spin must find:
 *   ENTER_LATE       a call enters its second meeting when that step starts
 *   READY_DECIDES    who is not ready has left out the meeting, and not only who has not come
 *   NO_LEFT_OUT      who comes to a later call does not fail what it has left out
 *   KEY_ALONE        it does so only for meetings of the same number (BY_PHASE)
 *   READY_AT_ENTRY   the buffers are used when all have come, and not when all are ready
 *   STARTED_ONLY     a failing call fails the meetings whose step has started, and leaves others
 *   NO_TELL_OUTSIDE  a failed meeting does not tell the site that has not come
 *   NO_TELL_STAYED   a failing call does not tell those who wait in a meeting that it is not in
 *   NO_SEND_ERROR    a failing call does not send the error along its sends
 *   SEND_STARTED     it does so only along those that have started
 *   TOLD_IS_ENOUGH   it does not if its site was told of the failure
 *   NO_PARKING       a site that has not called yet does not keep the failure that it is told
 *   NO_BUSY          a failing call leaves a meeting while data moves
 *   NO_SEND_WAIT     a failing call ends while its message may be read
 *   NO_GIVE_BACK     a site that fails, or is through, does not give back what is sent to it
 *   NO_SWEEP         nor does one that leaves out the generation, which it says at once
 *   NO_MOVED_PAST    nobody says that a generation was left out, when asked */
#define G 2
#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef LATER
#define LATER REDUCE
#endif
#define SITES 4
#define NOBODY 255 /* no site is */

#define BIT(i) (1 << (i))
#define LOCALITY_OF(site) ((site) / 2)
#define MATE(site) ((site) ^ 1)
#define PEER(site) ((site) ^ 2)
#define OWN_BIT(site) BIT((site) & 1)
#define IS_LEADER(site) (!((site) & 1))
#define ALL 3 /* sites of a locality */

/* What a generation does. */
#define REDUCE 0
#define BROADCAST 1
#define ALL_REDUCE 2
#define HAS_UP(g) (kind[g] != BROADCAST)
#define HAS_DOWN(g) (kind[g] != REDUCE)
#define HAS_BOTH(g) (kind[g] == ALL_REDUCE)
#define SENDS(site, g) (IS_LEADER(site) && (kind[g] == ALL_REDUCE || ((site) == 0) == HAS_DOWN(g)))
#define RECEIVES(site, g)                                                                          \
    (IS_LEADER(site) && (kind[g] == ALL_REDUCE || ((site) == 0) == HAS_UP(g)))

/* Meetings have numbers from 0 to N - 1, two for each generation. */
#define N (2 * G)
#define GENERATION(n) ((n) / 2 + 1)
#define FIRST(g) (2 * (g) - 2)
#define SECOND(g) (2 * (g) - 1)
#ifdef BY_PHASE
#define UP(g) FIRST(g)
#define DOWN(g) SECOND(g)
#define ENTRANCE(g) (HAS_UP(g) -> FIRST(g) : SECOND(g))
#define IS_UP(n) ((n) % 2 == 0)
#else
#define UP(g) FIRST(g)
#define DOWN(g) (HAS_UP(g) -> SECOND(g) : FIRST(g))
#define ENTRANCE(g) FIRST(g)
#define IS_UP(n) ((n) % 2 == 0 && HAS_UP(GENERATION(n)))
#endif
#define OF_CALL(g) ((HAS_UP(g) -> BIT(UP(g)) : 0) | (HAS_DOWN(g) -> BIT(DOWN(g)) : 0))

/* States of a meeting. */
#define NONE 0
#define OPEN 1
#define MOVING 2
#define MOVED 3
#define FAILED 4

typedef locality {
    byte state[N];
    byte come[N];   /* sites, by OWN_BIT */
    byte ready[N];  /* of these */
    byte inside[N]; /* of these, too */
    byte why[N];    /* whose fault it is that it has failed */
    byte untold;    /* numbers */
    byte late       /* numbers: opened when the other site was beyond */
};

/* Masks of generations, unless said otherwise. */
typedef endpoint {
    byte last;      /* the generation that was called last */
    byte in_flight;
    byte failing;   /* of these */
    byte told;      /* of these: the others learn of the failure in another way */
    byte skipped;
    byte failed;    /* has ended so */
    byte done;      /* numbers: the MEET is over */
    byte over;      /* items under way: numbers */
    byte entering;  /* the turn goes on, and enters this number - 1 */
    byte to_fail;   /* the turn goes on, and fails these numbers */
    byte out;       /* the message is at the peer, or on its way */
    byte back;      /* an item under way: the peer needs it no more */
    byte sent;
    byte received;
    byte errors;    /* about a call: messages under way, or kept */
    byte step_errors; /* the same, along the peer's sends */
    byte past;      /* answers under way: the peer has left it out */
    byte why[G + 1];
    byte error_why[G + 1];
    byte step_error_why[G + 1]
};

locality localities[2];
endpoint endpoints[SITES];

byte kind[G + 1];
byte guilty[G + 1]; /* sites that have failed by themselves, or left it out */
byte absent[G + 1]; /* sites that have brought nothing for sure */
byte faults = FAULTS;

hidden byte i; /* in `fail_left_out` only */
hidden byte y; /* in `meeting_fail` only */
hidden byte w; /* in `go_on` only */
hidden byte z; /* in `call` and `call_told` only */
hidden byte x;

#define L localities[l]
#define E endpoints[me]
#define P endpoints[PEER(me)]

/* Steps ------------------------------------------------------------------------------------ */

#define IS_OPEN(site, g) (endpoints[site].in_flight & ~endpoints[site].failing & BIT(g))
#define IS_OVER(site, n) (endpoints[site].done & BIT(n))
#define IS_UP_OVER(site, g) (!HAS_UP(g) || IS_OVER(site, UP(g)))
/* What it sends: 2 what its locality has, 0 the result. */
#define HAS_PAYLOAD(site, g) ((site) == 0 -> HAS_RESULT(0, g) : IS_UP_OVER(site, g))
#define HAS_RESULT(site, g)                                                                        \
    (IS_UP_OVER(site, g) && (!RECEIVES(site, g) || (endpoints[site].received & BIT(g))))
#define ARE_MEETS_OVER(site, g) ((endpoints[site].done & OF_CALL(g)) == OF_CALL(g))
#define IS_AMID(g)                                                                                 \
    ((E.entering > 0 && GENERATION(E.entering - 1) == (g)) || (E.to_fail & OF_CALL(g)))
#define IS_INSIDE_ANY(g)                                                                           \
    ((L.inside[FIRST(g)] | L.inside[SECOND(g)]) & OWN_BIT(me))
#define IS_RECEIVING(me, g) (RECEIVES(me, g) && IS_UP_OVER(me, g) && !(E.received & BIT(g)))

/* Sites whose data it needs. */
#define DEPENDS_ON(me, g)                                                                          \
    (kind[g] == ALL_REDUCE || (kind[g] == REDUCE && (me) == 0)                                     \
         -> 15 : ((me) < 2 -> 3 : (kind[g] == BROADCAST -> 13 : 12)))

#ifdef NO_SEND_WAIT
#define IS_SENDING(g) 0
#else
#define IS_SENDING(g) ((E.out | E.back) & BIT(g))
#endif

inline forget(me, g)
{
    E.in_flight = E.in_flight & ~BIT(g);
    E.failing = E.failing & ~BIT(g);
    E.told = E.told & ~BIT(g);
    E.done = E.done & ~(BIT(FIRST(g)) | BIT(SECOND(g)));
    E.sent = E.sent & ~BIT(g);
    E.received = E.received & ~BIT(g)
}

/* At the end of a step: the call may end. */
inline end_call(me, l, g)
{
    if
    :: (E.in_flight & BIT(g)) && !(IS_AMID(g)) && (E.failing & BIT(g)) && !(IS_INSIDE_ANY(g)) &&
       !(IS_SENDING(g)) ->
        assert(guilty[g] & BIT(E.why[g]));
        E.failed = E.failed | BIT(g);
        forget(me, g)
    :: IS_OPEN(me, g) && !(IS_AMID(g)) && ARE_MEETS_OVER(me, g) &&
       (!SENDS(me, g) || (E.sent & BIT(g))) && (!RECEIVES(me, g) || (E.received & BIT(g))) ->
        assert(!(IS_INSIDE_ANY(g)));
        assert(!(absent[g] & (DEPENDS_ON(me, g))));
        forget(me, g)
    :: else
    fi
}

/* Meetings --------------------------------------------------------------------------------- */

/* Tells the other site here, unless it is through with G. */
inline tell(me, g)
{
    if
    :: !(E.told & BIT(g)) &&
       (g > endpoints[MATE(me)].last || (endpoints[MATE(me)].in_flight & BIT(g))) ->
        endpoints[MATE(me)].errors = endpoints[MATE(me)].errors | BIT(g);
        endpoints[MATE(me)].error_why[g] = E.why[g]
    :: else
    fi
}

inline tell_outside(me, l, n)
{
    if
    :: L.untold & BIT(n) ->
        L.untold = L.untold & ~BIT(n);
#ifndef NO_TELL_OUTSIDE
        tell(me, GENERATION(n))
#endif
    :: else
    fi
}

inline meeting_fail(l, n, whose, except)
{
    assert(guilty[GENERATION(n)] & BIT(whose));
    assert(L.state[n] == OPEN);
    if
    :: L.come[n] != ALL -> L.untold = L.untold | BIT(n)
    :: else
    fi;
    L.state[n] = FAILED;
    L.why[n] = whose;
    for (y : 2 * l .. 2 * l + 1) {
        if
        :: y != except && (L.inside[n] & OWN_BIT(y)) ->
            endpoints[y].over = endpoints[y].over | BIT(n)
        :: else
        fi
    }
}

/* The last one to leave ends the meeting. */
inline leave(me, l, n)
{
    L.inside[n] = L.inside[n] & ~OWN_BIT(me);
    if
    :: L.inside[n] == 0 ->
        L.state[n] = NONE;
        L.come[n] = 0;
        L.ready[n] = 0;
        L.why[n] = 0;
        L.untold = L.untold & ~BIT(n);
        L.late = L.late & ~BIT(n)
    :: else
    fi
}

inline get_ready(me, l, n)
{
    if
#ifdef ENTER_LATE
    :: !(L.come[n] & OWN_BIT(me)) -> E.entering = n + 1
#endif
    :: L.state[n] == OPEN && (L.inside[n] & OWN_BIT(me)) ->
        L.ready[n] = L.ready[n] | OWN_BIT(me);
        if
        :: L.ready[n] == ALL -> L.state[n] = MOVING
        :: else
        fi
    :: else
    fi
}

/* Starts the steps that can start. */
inline go_on(me, l, g)
{
    if
    :: IS_OPEN(me, g) && HAS_UP(g) && !IS_OVER(me, UP(g)) ->
        w = UP(g);
        get_ready(me, l, w)
    :: else
    fi;
    if
    :: IS_OPEN(me, g) && SENDS(me, g) && HAS_PAYLOAD(me, g) &&
       !((E.out | E.back | E.sent) & BIT(g)) -> E.out = E.out | BIT(g)
    :: else
    fi;
    if
#ifdef EARLY_DOWN
    :: IS_OPEN(me, g) && HAS_DOWN(g) && !IS_OVER(me, DOWN(g)) && !IS_LEADER(me) ->
        w = DOWN(g);
        get_ready(me, l, w)
#endif
    :: IS_OPEN(me, g) && HAS_DOWN(g) && !IS_OVER(me, DOWN(g)) && HAS_RESULT(me, g) ->
        w = DOWN(g);
        get_ready(me, l, w)
    :: else
    fi;
    end_call(me, l, g)
}

/* Failing ---------------------------------------------------------------------------------- */

#ifdef TOLD_IS_ENOUGH
#define HAS_TO_SEND(me, g) (SENDS(me, g) && !(E.sent & BIT(g)) && !(E.told & BIT(g)))
#elif defined(SEND_STARTED)
#define HAS_TO_SEND(me, g) (SENDS(me, g) && (E.out & BIT(g)))
#else
#define HAS_TO_SEND(me, g) (SENDS(me, g) && !(E.sent & BIT(g)))
#endif

/* The call of G fails, unless it does already. The turn goes on with its meetings. */
inline fail(me, l, g, whose)
{
    if
    :: IS_OPEN(me, g) ->
        E.failing = E.failing | BIT(g);
        E.why[g] = whose;
        if
        :: E.entering > 0 && GENERATION(E.entering - 1) == g -> E.entering = 0
        :: else
        fi;
#ifndef NO_SEND_ERROR
        if
        :: HAS_TO_SEND(me, g) && (g > P.last || (P.in_flight & BIT(g))) ->
            P.step_errors = P.step_errors | BIT(g);
            P.step_error_why[g] = whose
        :: else
        fi;
#endif
        E.to_fail = E.to_fail | (OF_CALL(g) & ~E.done)
    :: else
    fi
}

/* Its meeting fails, now or later. */
inline fail_meet(me, l, n)
{
    E.to_fail = E.to_fail & ~BIT(n);
    if
    :: !(L.inside[n] & OWN_BIT(me)) ->
        E.done = E.done | BIT(n);
#ifndef NO_TELL_STAYED
        tell(me, GENERATION(n))
#endif
#ifdef STARTED_ONLY
    :: (L.inside[n] & OWN_BIT(me)) && L.state[n] == OPEN && !(L.ready[n] & OWN_BIT(me)) ->
        E.done = E.done | BIT(n);
        leave(me, l, n)
#endif
#ifdef STARTED_ONLY
    :: (L.inside[n] & OWN_BIT(me)) && L.state[n] == OPEN && (L.ready[n] & OWN_BIT(me)) ->
#else
    :: (L.inside[n] & OWN_BIT(me)) && L.state[n] == OPEN ->
#endif
        x = E.why[GENERATION(n)];
        meeting_fail(l, n, x, me);
        x = 0;
        tell_outside(me, l, n);
        E.done = E.done | BIT(n);
        leave(me, l, n)
#ifdef NO_BUSY
    :: (L.inside[n] & OWN_BIT(me)) && L.state[n] == MOVING ->
        E.done = E.done | BIT(n);
        leave(me, l, n)
#endif
    :: else /* it is told, or will be */
    fi;
    end_call(me, l, GENERATION(n))
}

/* Calling ---------------------------------------------------------------------------------- */

#ifdef READY_DECIDES
#define IS_MISSED(me, l, n) (!(L.ready[n] & OWN_BIT(me)))
#else
#define IS_MISSED(me, l, n) (!(L.come[n] & OWN_BIT(me)))
#endif
#ifdef KEY_ALONE
#define IS_LOOKED_AT(i, n) ((i) % 2 == (n) % 2)
#else
#define IS_LOOKED_AT(i, n) true
#endif

/* What the site has left out, by entering N. */
inline fail_left_out(me, l, n)
{
#ifndef NO_LEFT_OUT
    for (i : 0 .. FIRST(GENERATION(n))) {
        if
        :: i < FIRST(GENERATION(n)) && IS_LOOKED_AT(i, n) && L.state[i] == OPEN &&
           IS_MISSED(me, l, i) ->
            x = ((E.failed | E.failing) & BIT(GENERATION(i)) -> E.why[GENERATION(i)] : me);
            meeting_fail(l, i, x, NOBODY);
            x = 0
        :: else
        fi
    }
#else
    skip
#endif
}

inline enter(me, l, n)
{
    if
    :: L.state[n] == FAILED ->
        E.told = E.told | BIT(GENERATION(n));
        x = L.why[n];
        fail(me, l, GENERATION(n), x);
        x = 0
    :: else ->
        assert(L.state[n] == NONE || L.state[n] == OPEN);
        if
        :: L.state[n] == NONE ->
            L.state[n] = OPEN;
            if
            :: endpoints[MATE(me)].last > GENERATION(n) -> L.late = L.late | BIT(n)
            :: else
            fi
        :: else
        fi;
        L.come[n] = L.come[n] | OWN_BIT(me);
        L.inside[n] = L.inside[n] | OWN_BIT(me);
#ifdef READY_AT_ENTRY
        get_ready(me, l, n)
#endif
    fi
}

/* A turn that has entered N goes on. */
inline have_entered(me, l, g, n)
{
    if
#ifndef ENTER_LATE
    :: IS_OPEN(me, g) && HAS_BOTH(g) && n == FIRST(g) -> E.entering = n + 2
#endif
    :: else -> go_on(me, l, g)
    fi
}

inline begin(me, g)
{
    E.last = g;
    E.in_flight = E.in_flight | BIT(g)
}

inline call(me, l, g)
{
    begin(me, g);
    z = ENTRANCE(g);
    fail_left_out(me, l, z);
    enter(me, l, z);
    have_entered(me, l, g, z)
}

inline take_error(me, l, g)
{
    E.errors = E.errors & ~BIT(g);
    if
    :: E.in_flight & BIT(g) ->
        E.told = E.told | BIT(g);
        x = E.error_why[g];
        fail(me, l, g, x);
        x = 0
    :: else
    fi;
    E.error_why[g] = 0;
    end_call(me, l, g)
}

/* It was told before, so it comes to no meeting. */
inline call_told(me, l, g)
{
    begin(me, g);
    z = ENTRANCE(g);
    fail_left_out(me, l, z);
    go_on(me, l, g);
    take_error(me, l, g)
}

inline spoil(me, g)
{
    guilty[g] = guilty[g] | BIT(me)
}

/* There is no memory for meeting N. */
inline enter_no_more(me, l, g, n)
{
    fail_left_out(me, l, n);
    spoil(me, g);
    absent[g] = absent[g] | BIT(me);
    x = me;
    fail(me, l, g, x);
    x = 0
}

/* What comes to a site ----------------------------------------------------------------------- */

inline be_over(me, l, g, n)
{
    E.over = E.over & ~BIT(n);
    E.done = E.done | BIT(n);
    if
    :: L.state[n] == FAILED ->
        x = L.why[n];
        fail(me, l, g, x);
        x = 0;
        tell_outside(me, l, n)
    :: else
    fi;
    leave(me, l, n);
    go_on(me, l, g)
}

inline take_step_error(me, l, g)
{
    E.step_errors = E.step_errors & ~BIT(g);
    x = E.step_error_why[g];
    fail(me, l, g, x);
    x = 0;
    E.step_error_why[g] = 0;
    end_call(me, l, g)
}

/* The peer's message is needed no more. */
inline give_back(me, g)
{
    P.out = P.out & ~BIT(g);
    P.back = P.back | BIT(g)
}

inline receive(me, l, g)
{
    assert(P.in_flight & BIT(g)); /* its buffers are */
    assert(HAS_PAYLOAD(PEER(me), g));
    give_back(me, g);
    E.received = E.received | BIT(g);
    go_on(me, l, g)
}

inline be_back(me, l, g)
{
    E.back = E.back & ~BIT(g);
    if
    :: E.in_flight & BIT(g) ->
        E.sent = E.sent | BIT(g);
        end_call(me, l, g)
    :: else
    fi
}

inline take_past(me, l, g)
{
    E.past = E.past & ~BIT(g);
    x = PEER(me);
    fail(me, l, g, x);
    x = 0;
    end_call(me, l, g)
}

/* Whether what has come is not kept for later. */
#define IS_CALLED(me, g) ((g) <= E.last)
#ifdef NO_PARKING
#define IS_TAKEN(me, g) true
#else
#define IS_TAKEN(me, g) IS_CALLED(me, g)
#endif
#define HAS_SKIPPED(site, g) (endpoints[site].skipped & BIT(g))

#define HAS_OVER(me, g) (E.over & (BIT(FIRST(g)) | BIT(SECOND(g))))
#define HAS_ERROR(me, g) ((E.errors & BIT(g)) && IS_TAKEN(me, g))
#define HAS_STEP_ERROR(me, g) ((E.step_errors & BIT(g)) && IS_TAKEN(me, g))
#define HAS_MESSAGE(me, g) ((P.out & BIT(g)) && IS_OPEN(me, g) && IS_RECEIVING(me, g))
#define IS_NOT_FOR(me, g)                                                                          \
    ((P.out & BIT(g)) && ((IS_CALLED(me, g) && !IS_OPEN(me, g) && !HAS_SKIPPED(me, g)) ||          \
                          (!IS_CALLED(me, g) && (E.step_errors & BIT(g)))))
#define IS_FOR_SKIPPED(me, g) ((P.out & BIT(g)) && HAS_SKIPPED(me, g))
#define HAS_BACK(me, g) (E.back & BIT(g))
#define HAS_PAST(me, g) (E.past & BIT(g))
#define MAY_FAIL(me, g) (faults > 0 && IS_OPEN(me, g))

/* Questions -------------------------------------------------------------------------------- */

#define MISSES_MATE(me, l, n)                                                                      \
    (L.state[n] == OPEN && (L.ready[n] & OWN_BIT(me)) && !(L.ready[n] & OWN_BIT(MATE(me))))
#define WAITS_FOR_MATE(me, l, g)                                                                   \
    (IS_OPEN(me, g) && (MISSES_MATE(me, l, FIRST(g)) || MISSES_MATE(me, l, SECOND(g))))
#define WAITS_FOR_PEER(me, g) (IS_OPEN(me, g) && (IS_RECEIVING(me, g) || (E.out & BIT(g))))
#ifdef NO_MOVED_PAST
#define SAYS_MOVED_PAST(site, g) false
#else
#define SAYS_MOVED_PAST(site, g) HAS_SKIPPED(site, g)
#endif
#define SAYS_FAILED(site, g) ((endpoints[site].failed | endpoints[site].failing) & BIT(g))
#define SAYS(site, g) (SAYS_MOVED_PAST(site, g) || SAYS_FAILED(site, g))
#define ASKS_MATE(me, l, g) (WAITS_FOR_MATE(me, l, g) && SAYS(MATE(me), g))
#define ASKS_PEER(me, g) (WAITS_FOR_PEER(me, g) && SAYS(PEER(me), g))
#define ASKS(me, l, g) (ASKS_MATE(me, l, g) || ASKS_PEER(me, g))

inline ask(me, l, g)
{
    x = (ASKS_MATE(me, l, g) -> MATE(me) : PEER(me));
    assert(!SAYS_FAILED(x, g)); /* it has told who depends on it */
    /* If the other one came to a later generation when the meeting was open, it has seen that. */
    assert(x != MATE(me) || (L.late & OF_CALL(g)));
    fail(me, l, g, x);
    x = 0;
    end_call(me, l, g)
}

/* Processes -------------------------------------------------------------------------------- */

#define IS_IDLE (E.entering == 0 && E.to_fail == 0)
#define NEXT (E.last + 1)
#ifdef WINDOW
#define FITS(me) true
#else
#define FITS(me) ((me) < 2 || E.in_flight == 0)
#endif
#define MAY_CALL (IS_IDLE && E.last < G && FITS(me))
#define EITHER(what, me) (what(me, 1) || what(me, 2))
#define PICK(what, me)                                                                             \
    if                                                                                             \
    :: what(me, 1) -> g = 1                                                                        \
    :: what(me, 2) -> g = 2                                                                        \
    fi
#define IS_THROUGH(s) (endpoints[s].last == G && endpoints[s].in_flight == 0)
#define ARE_ALL_THROUGH (IS_THROUGH(0) && IS_THROUGH(1) && IS_THROUGH(2) && IS_THROUGH(3))

proctype site(byte me; byte l)
{
    byte g, n;
    do
    :: d_step { MAY_CALL -> g = NEXT; call(me, l, g); g = 0 }
    :: d_step { MAY_CALL && (E.errors & BIT(NEXT)) -> g = NEXT; call_told(me, l, g); g = 0 }
    :: d_step { MAY_CALL && faults > 0 ->
        faults--;
        g = NEXT;
        begin(me, g);
        n = ENTRANCE(g);
        enter_no_more(me, l, g, n);
        n = 0;
        g = 0 }
    :: d_step { IS_IDLE && E.last == 0 && faults > 0 ->
        faults--;
        E.skipped = BIT(1);
        spoil(me, 1);
        absent[1] = absent[1] | BIT(me);
        call(me, l, G);
        skip }
    :: d_step { E.entering > 0 ->
        n = E.entering - 1;
        g = GENERATION(n);
        E.entering = 0;
        fail_left_out(me, l, n);
        enter(me, l, n);
        have_entered(me, l, g, n);
        n = 0;
        g = 0 }
    :: d_step { E.entering > 0 && faults > 0 ->
        faults--;
        n = E.entering - 1;
        g = GENERATION(n);
        enter_no_more(me, l, g, n);
        n = 0;
        g = 0 }
    :: d_step { E.to_fail ->
        do
        :: E.to_fail & BIT(n) -> break
        :: else -> n++
        od;
        fail_meet(me, l, n);
        n = 0 }
    :: atomic { IS_IDLE && E.over ->
        if
        :: E.over & BIT(0) -> n = 0
        :: E.over & BIT(1) -> n = 1
        :: E.over & BIT(2) -> n = 2
        :: E.over & BIT(3) -> n = 3
        fi;
        d_step { g = GENERATION(n); be_over(me, l, g, n); g = 0; n = 0 } }
    :: atomic { IS_IDLE && EITHER(HAS_ERROR, me) ->
        PICK(HAS_ERROR, me);
        d_step { take_error(me, l, g); g = 0 } }
    :: atomic { IS_IDLE && EITHER(HAS_STEP_ERROR, me) ->
        PICK(HAS_STEP_ERROR, me);
        d_step { take_step_error(me, l, g); g = 0 } }
    :: atomic { IS_IDLE && EITHER(HAS_MESSAGE, me) ->
        PICK(HAS_MESSAGE, me);
        d_step { receive(me, l, g); g = 0 } }
#ifndef NO_GIVE_BACK
    :: atomic { IS_IDLE && EITHER(IS_NOT_FOR, me) ->
        PICK(IS_NOT_FOR, me);
        d_step { give_back(me, g); g = 0 } }
#endif
#ifndef NO_SWEEP
    :: d_step { IS_IDLE && IS_FOR_SKIPPED(me, 1) ->
        give_back(me, 1);
        P.past = P.past | BIT(1) }
#endif
    :: atomic { IS_IDLE && EITHER(HAS_BACK, me) ->
        PICK(HAS_BACK, me);
        d_step { be_back(me, l, g); g = 0 } }
    :: atomic { IS_IDLE && EITHER(HAS_PAST, me) ->
        PICK(HAS_PAST, me);
        d_step { take_past(me, l, g); g = 0 } }
    :: atomic { IS_IDLE && EITHER(MAY_FAIL, me) ->
        PICK(MAY_FAIL, me);
        d_step {
            faults--; spoil(me, g); x = me; fail(me, l, g, x); x = 0; end_call(me, l, g); g = 0
        } }
    :: atomic { timeout && IS_IDLE && (ASKS(me, l, 1) || ASKS(me, l, 2)) ->
        if
        :: ASKS(me, l, 1) -> g = 1
        :: ASKS(me, l, 2) -> g = 2
        fi;
        d_step { ask(me, l, g); g = 0 } }
    :: ARE_ALL_THROUGH -> break
    od
}

/* The data of N has been moved, by a site's turn or a crew. */
inline move(l, n)
{
    assert(endpoints[2 * l].in_flight & endpoints[2 * l + 1].in_flight & BIT(GENERATION(n)));
    assert(IS_UP(n) || HAS_RESULT(2 * l, GENERATION(n)));
    L.state[n] = MOVED;
    endpoints[2 * l].over = endpoints[2 * l].over | BIT(n);
    endpoints[2 * l + 1].over = endpoints[2 * l + 1].over | BIT(n)
}

proctype crew(byte l)
{
end:
    do
    :: d_step { L.state[0] == MOVING -> move(l, 0) }
    :: d_step { L.state[1] == MOVING -> move(l, 1) }
    :: d_step { L.state[2] == MOVING -> move(l, 2) }
    :: d_step { L.state[3] == MOVING -> move(l, 3) }
    od
}

init
{
#ifdef EARLIER
    kind[1] = EARLIER;
#else
    if
    :: kind[1] = REDUCE
    :: kind[1] = BROADCAST
    :: kind[1] = ALL_REDUCE
    fi;
#endif
    kind[2] = LATER;
    atomic {
        run crew(0);
        run crew(1);
        run site(0, 0);
        run site(1, 0);
        run site(2, 1);
        run site(3, 1)
    }
}
