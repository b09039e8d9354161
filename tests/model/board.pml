/* SPDX-License-Identifier: Apache-2.0 */
/* The board of runtime/net/board.h and the meetings that use it (comm/team.c, failure.c,
 * reception.c, exec/meeting*.c, rejection.c, visit.c). The model checks:
 * - Every call of every site ends.
 * - It ends with OK if all sites have called the same.
 * - It never ends with OK if a site has not.
 * - No locality reads a place after the place was used for a later generation.
 *
 * There are two localities, A with the sites 0 and 1, and B with site 2, and a board of depth 2.
 * Each site makes its calls of generations 1 to G in order, with up to 2 in flight. Each call is
 * right, rejected or left out, as far as there is a budget for that. One generation runs as a plan
 * at all sites. An endpoint's turn is one step, and so is everything that is done while the group's
 * lock is held.
 *
 * That has 686,035 states, found in 3 s in 240 MB. With -DSITES=4, B also has site 3. Then there
 * are 9,187,236 states with -DPLAN=2 and 15,770,148 with -DPLAN=3, compressed in 1.5 and 2.7 GB, in
 * 75 and 145 s. All of them are visited. The variants below have their errors there, too (suite
 * long).
 *
 * Simplifications: a plan ends at once. A locality that waits is always woken (doorbell.pml). What
 * is read from a post is its generation. A question and its answer are one step, except with
 * -DHASTE. A site that has left a generation out calls a later one.
 *
 * Questions are asked when nothing else can happen. So the model shows whether all are told in
 * time: no site has to ask because of a failure, unless the message about it was dropped at the
 * bound. With -DHASTE questions are asked at any time, and the answers to two of them may arrive
 * late. In that mode the model does not find hangs.
 *
 * Also without an error: -DPLAN=2 or 3 (only that generation runs as a plan; without this option,
 * either one does), -DNO_PLAN (none does), -DSOURCE (only A brings data in some generations),
 * -DSHARES (the result is made in shares).
 *
 * Variants that have an error, which spin must find:
 *   FAIL_ON_BOARD  a failure takes its generation's place
 *   PASS_ENDED     only generations that have ended are passed, and not those that no site will
 *                  call any more
 *   PASS_ACTIVE    generations that are still active may be passed
 *   NO_ORDER       posts are made in any order
 *   NO_WAIT        a place is used although not all have passed the generation in it
 *   NO_REJECTION   a rejected call tells no other site
 *   NO_PARKING     a site that has not called yet does not keep the failure that it is told
 *   NO_TELL_FAR    a failed meeting does not tell the localities that wait for it
 *   NO_TELL_NEAR   it does not tell its own sites that call later
 *   NO_LEFT_OUT    a site that calls a later generation does not fail the one that it left out
 *   NO_MOVED_PAST  and it does not say so when it is asked
 *   NO_FORGOTTEN   a site that has said that it is through, but is missing, is waited for
 *   TWICE          that is decided by two answers, and not by a look after the first one
 *   BUSY           a meeting fails while works use its buffers */
#define G 4
#ifndef SITES
#define SITES 3
#endif
#ifdef NO_FORGOTTEN
#define REJECTIONS 3
#endif
#ifndef REJECTIONS
#define REJECTIONS 1
#endif
#ifdef TWICE
#define HASTE
#endif
/* How many reports about calls to come a site keeps, and how many failures of its own it remembers.
 */
#define FAILURES 1
#define DEPTH 2
#define IN_FLIGHT 2
#define NOBODY 255

#define BIT(i) (1 << (i))
#define LOCALITY_OF(site) ((site) / 2)
#define ALL_OF(l) ((l) == 0 -> 3 : (BIT(SITES) - 4))
#define NEIGHBOUR(site) ((site) ^ 1) /* with SITES 3 B's site has none */

/* Neighbours behave alike, and so do the localities if each of them brings data. So it is enough
 * that the lower sites make mistakes. */
#if SITES == 4 && !defined(SOURCE)
#define MAY_SKIP(me) ((me) == 0)
#else
#define MAY_SKIP(me) ((me) != 1)
#endif
#if REJECTIONS == 1
#define MAY_REJECT(me) ((me) != 3)
#else
#define MAY_REJECT(me) true
#endif

/* States of a meeting. */
#define NONE 0
#define OPEN 1
#define GATHERED 2
#define BRINGING 3
#define REDUCING 4
#define REDUCED 5
#define MOVING 6
#define MOVED 7
#define FAILED 8

/* Masks have one bit for each generation, or for each site. */
typedef locality {
    byte state[G + 1];
    byte come[G + 1];   /* sites */
    byte inside[G + 1]; /* sites */
    byte posted;        /* generations that have not ended */
    byte shared;
    byte untold, awaited, error;
    byte place[DEPTH]; /* on the board: the generation in it */
    byte passed;       /* what no site here reads any more */
    byte last_ended, last_gathered;
#ifdef FAIL_ON_BOARD
    byte failures; /* in places */
#endif
    byte spoiled;  /* by the sites of this locality */
    byte is_late   /* meetings begun by a site when another one was beyond */
};

typedef endpoint {
    byte next, last; /* the generation to call next; the latest that was called */
    byte called;
    byte met; /* the latest that was neither rejected nor a plan */
    byte in_flight, failing, told; /* of these */
    byte remembered;               /* the latest own call that has failed */
    byte errors, parked;           /* messages under way; messages kept */
    byte over;                     /* items under way */
#ifdef HASTE
    byte questions, asked, asked_of; /* questions under way; of this generation, to this site */
#endif
    byte through /* generations of which a missing site has said that it is through */
};

locality localities[2];
endpoint endpoints[SITES];

byte planned;  /* this generation runs as a plan */
byte sourced;  /* in these only A brings data */
byte spoiled;  /* a site has rejected these, or left them out */
byte dropped;  /* messages about these */
byte found;    /* a question has found that these were left out */
byte rejections = REJECTIONS;
bit has_skipped;

hidden byte i, j, least; /* each is used by one inline, which calls no other one that uses it */

#define L localities[l]
#define E endpoints[me]

#ifdef SOURCE
#define HAS_SOURCE(g) (sourced & BIT(g))
#else
#define HAS_SOURCE(g) false
#endif
#define POSTS(l, g) (!HAS_SOURCE(g) || (l) == 0)

#ifdef FAIL_ON_BOARD
#define IS_THERE(l, g)                                                                             \
    (localities[l].place[(g) % DEPTH] == (g) && !(localities[l].failures & BIT(g)))
#else
#define IS_THERE(l, g) (localities[l].place[(g) % DEPTH] == (g))
#endif

/* Passing ---------------------------------------------------------------------------------- */

#ifdef PASS_ENDED
#define BEGINNING (L.last_ended + 1)
#else
#define BEGINNING (L.last_ended + 1 < L.last_gathered -> L.last_gathered : L.last_ended + 1)
#endif

inline pass(l)
{
    least = BEGINNING;
#ifndef PASS_ACTIVE
    for (i : 1 .. G) {
        if
        :: i < least && L.state[i] != NONE && L.state[i] != FAILED -> least = i
        :: else
        fi
    }
#endif
    if
    :: least > L.passed + 1 -> L.passed = least - 1
    :: else
    fi
}

/* Failing ---------------------------------------------------------------------------------- */

/* Tells SITE, unless it has called G and is through with it. */
inline send_error(site, g)
{
    if
    :: g > endpoints[site].last || (endpoints[site].in_flight & BIT(g)) ->
        endpoints[site].errors = endpoints[site].errors | BIT(g)
    :: else
    fi
}

inline tell(me, g, is_for_all)
{
    if
    :: !((E.told | E.parked) & BIT(g)) ->
        for (i : 0 .. SITES - 1) {
            if
            :: i == me
#ifdef NO_TELL_NEAR
            :: i != me && LOCALITY_OF(i) == LOCALITY_OF(me)
#else
            :: i != me && LOCALITY_OF(i) == LOCALITY_OF(me) -> send_error(i, g)
#endif
            :: LOCALITY_OF(i) != LOCALITY_OF(me) && (is_for_all) -> send_error(i, g)
            :: LOCALITY_OF(i) != LOCALITY_OF(me) && !(is_for_all)
            fi
        }
    :: else
    fi
}

#ifdef SHARES
#define MISSES_SHARE(g) (L.state[g] == GATHERED)
#else
#define MISSES_SHARE(g) false
#endif
#ifdef NO_TELL_FAR
#define IS_AWAITED(l, g) false
#else
#define IS_AWAITED(l, g) (POSTS(l, g) && (!(L.posted & BIT(g)) || MISSES_SHARE(g)))
#endif

inline meeting_fail(l, g, except)
{
    assert(spoiled & BIT(g));
    assert(L.state[g] != BRINGING && L.state[g] != REDUCING); /* no work uses the buffers */
    if
    :: IS_AWAITED(l, g) -> L.awaited = L.awaited | BIT(g); L.untold = L.untold | BIT(g)
    :: else ->
        if
        :: L.state[g] == OPEN && L.come[g] != ALL_OF(l) -> L.untold = L.untold | BIT(g)
        :: else
        fi
    fi;
    L.state[g] = FAILED;
    L.error = L.error & ~BIT(g);
    for (i : 0 .. SITES - 1) {
        if
        :: i != except && (L.inside[g] & BIT(i)) ->
            endpoints[i].over = endpoints[i].over | BIT(g)
        :: else
        fi
    }
#ifdef FAIL_ON_BOARD
    post_failure(l, g)
#endif
}

#ifdef FAIL_ON_BOARD
/* As with a post: the generation in the place has been passed by then. */
inline post_failure(l, g)
{
    if
    :: L.place[g % DEPTH] < g && localities[0].passed >= L.place[g % DEPTH] &&
       localities[1].passed >= L.place[g % DEPTH] ->
        L.place[g % DEPTH] = g;
        L.failures = L.failures | BIT(g)
    :: else
    fi
}
#endif

inline tell_outside(me, l, g)
{
    if
    :: L.untold & BIT(g) -> L.untold = L.untold & ~BIT(g); tell(me, g, L.awaited & BIT(g))
    :: else
    fi
}

inline remember_failure(me, g)
{
    E.remembered = g
}

/* The operation ends. The last one to leave ends the meeting. */
inline end_visit(me, l, g)
{
    if
    :: E.failing & BIT(g) -> remember_failure(me, g)
    :: else
    fi;
    E.in_flight = E.in_flight & ~BIT(g);
    E.failing = E.failing & ~BIT(g);
    E.told = E.told & ~BIT(g);
    E.through = E.through & ~BIT(g);
    E.errors = E.errors & ~BIT(g); /* a late site finds no failure */
    L.inside[g] = L.inside[g] & ~BIT(me);
    if
    :: L.inside[g] == 0 ->
        L.state[g] = NONE;
        L.come[g] = 0;
        /* No site will call this any more and would read these. */
        L.awaited = L.awaited & ~BIT(g);
        L.posted = L.posted & ~BIT(g);
        L.is_late = L.is_late & ~BIT(g);
        if
        :: L.last_ended < g -> L.last_ended = g
        :: else
        fi;
        pass(l)
    :: else
    fi
}

#ifdef BUSY
#define MAY_FAIL(g) (L.state[g] < MOVING)
#else
#define MAY_FAIL(g)                                                                                \
    (L.state[g] == OPEN || L.state[g] == GATHERED || L.state[g] == REDUCED)
#endif

inline fail(me, l, g)
{
    if
    :: !(E.failing & BIT(g)) ->
        assert(spoiled & BIT(g));
        E.failing = E.failing | BIT(g);
        if
        :: MAY_FAIL(g) ->
            meeting_fail(l, g, me);
            tell_outside(me, l, g);
            end_visit(me, l, g)
        :: L.state[g] < MOVING && !(MAY_FAIL(g)) -> L.error = L.error | BIT(g)
        :: L.state[g] >= MOVING
        fi
    :: else
    fi
}

/* Calling ---------------------------------------------------------------------------------- */

#define NUM_IN_FLIGHT                                                                              \
    ((E.in_flight >> 1 & 1) + (E.in_flight >> 2 & 1) + (E.in_flight >> 3 & 1) +                    \
     (E.in_flight >> 4 & 1) + (E.in_flight >> 5 & 1))
#define MAY_CALL (E.next <= G && NUM_IN_FLIGHT < IN_FLIGHT)

inline call(me)
{
    E.last = E.next;
    E.called = E.called | BIT(E.next);
    E.parked = E.parked & (~(BIT(E.next) - 1)); /* about generations left out */
    E.next++
}

inline fail_left_out(me, l, g)
{
#ifndef NO_LEFT_OUT
    for (j : 1 .. g - 1) {
        if
        :: L.state[j] == OPEN && !(L.come[j] & BIT(me)) -> meeting_fail(l, j, NOBODY)
        :: else
        fi
    }
#else
    skip
#endif
}

inline gather(l, g)
{
    L.state[g] = GATHERED;
    L.last_gathered = g;
    pass(l)
}

inline enter(me, l, g)
{
    if
    :: L.state[g] == FAILED ->
        remember_failure(me, g);
        E.parked = E.parked & ~BIT(g)
    :: else ->
        E.met = g;
        if
        :: L.state[g] == NONE ->
            L.state[g] = OPEN;
            if
            :: NEIGHBOUR(me) < SITES && endpoints[NEIGHBOUR(me)].last > g ->
                L.is_late = L.is_late | BIT(g)
            :: else
            fi
        :: else
        fi;
        E.in_flight = E.in_flight | BIT(g);
        L.come[g] = L.come[g] | BIT(me);
        L.inside[g] = L.inside[g] | BIT(me);
        if
        :: L.come[g] == ALL_OF(l) -> gather(l, g)
        :: else
        fi;
        if
        :: E.parked & BIT(g) -> E.parked = E.parked & ~BIT(g); E.errors = E.errors | BIT(g)
        :: else
        fi
    fi
}

/* A site of this locality does not bring its data. */
inline spoil(l, g)
{
    spoiled = spoiled | BIT(g);
#ifdef SOURCE
    L.spoiled = L.spoiled | BIT(g)
#endif
}

inline reject(me, l, g)
{
    spoil(l, g);
#ifndef NO_REJECTION
    tell(me, g, true);
#endif
    E.parked = E.parked & ~BIT(g);
    remember_failure(me, g);
#ifdef FAIL_ON_BOARD
    post_failure(l, g)
#endif
}

/* Messages --------------------------------------------------------------------------------- */

inline receive_error(me, l, g)
{
    E.errors = E.errors & ~BIT(g);
    if
    :: E.in_flight & BIT(g) -> E.told = E.told | BIT(g); fail(me, l, g)
    :: !(E.in_flight & BIT(g)) && (g <= E.last || (E.parked & BIT(g)))
#ifndef NO_PARKING
    :: !(E.in_flight & BIT(g)) && g > E.last && E.parked == 0 ->
        E.parked = BIT(g) /* FAILURES of them */
    :: !(E.in_flight & BIT(g)) && g > E.last && E.parked != 0 &&
       !(E.parked & BIT(g)) ->
        dropped = dropped | BIT(g)
#else
    :: else
#endif
    fi
}

#ifdef SOURCE
#define DEPENDS_ON(l, g) (POSTS(1 - (l), g) -> spoiled : L.spoiled)
#else
#define DEPENDS_ON(l, g) spoiled
#endif

inline be_over(me, l, g)
{
    E.over = E.over & ~BIT(g);
    if
    :: L.state[g] == FAILED -> E.failing = E.failing | BIT(g)
    :: else ->
        assert(!((DEPENDS_ON(l, g)) & BIT(g)))
    fi;
    if
    :: E.failing & BIT(g) -> tell_outside(me, l, g)
    :: else
    fi;
    end_visit(me, l, g)
}

/* Questions -------------------------------------------------------------------------------- */

/* What a site of locality L in the meeting of G waits for: for locality FAR's post, or as the
 * source, until FAR has passed. Also for whatever an earlier meeting needs before it can post. */
#ifdef SOURCE
#define WAITS(l, g, far)                                                                           \
    ((!(HAS_SOURCE(g)) && !IS_THERE(far, g)) ||                                                    \
     ((HAS_SOURCE(g)) && (l) == 0 && localities[far].passed < L.place[(g) % DEPTH]) ||             \
     ((HAS_SOURCE(g)) && (l) == 1 && !IS_THERE(0, g)))
#else
#define WAITS(l, g, far) (!IS_THERE(far, g))
#endif
#ifdef SHARES
#define WAITS_FOR_SHARE(l, g, far) (L.state[g] == REDUCED && !(localities[far].shared & BIT(g)))
#else
#define WAITS_FOR_SHARE(l, g, far) false
#endif
#define IS_TO_POST(l, g) (POSTS(l, g) && !(L.posted & BIT(g)))
#define IS_BEFORE(l, j, g)                                                                         \
    ((j) < (g) && (L.state[j] == GATHERED || L.state[j] == BRINGING) && IS_TO_POST(l, j))
#define WAITS_BEHIND(l, j, g, far)                                                                 \
    (IS_TO_POST(l, g) && IS_BEFORE(l, j, g) && WAITS(l, j, far))
#define IS_MISSING(me, l, g, site)                                                                 \
    ((E.in_flight & BIT(g)) && L.state[g] != NONE && L.state[g] < MOVING &&                        \
     ((LOCALITY_OF(site) == (l) && !(L.come[g] & BIT(site))) ||                                    \
      (LOCALITY_OF(site) != (l) &&                                                                 \
       (WAITS(l, g, 1 - (l)) || WAITS_FOR_SHARE(l, g, 1 - (l)) ||                                  \
        WAITS_BEHIND(l, 1, g, 1 - (l)) || WAITS_BEHIND(l, 2, g, 1 - (l)) ||                        \
        WAITS_BEHIND(l, 3, g, 1 - (l))))))

/* What SITE answers, if the answer matters. */
#define SAYS_FAILED(site, g) (endpoints[site].remembered == (g))
#define SAYS_THROUGH(site, g)                                                                      \
    ((endpoints[site].called & BIT(g)) && !(endpoints[site].in_flight & BIT(g)) &&                 \
     !SAYS_FAILED(site, g))
#ifdef NO_MOVED_PAST
#define SAYS_MOVED_PAST(site, g) false
#else
#define SAYS_MOVED_PAST(site, g) ((g) < endpoints[site].last && !(endpoints[site].called & BIT(g)))
#endif

#if defined(NO_FORGOTTEN)
#define MATTERS(me, g, site) (SAYS_THROUGH(site, g) && !(E.through & BIT(g)))
#else
#define MATTERS(me, g, site) SAYS_THROUGH(site, g)
#endif

#ifdef HASTE
#define IN_TIME(g) skip
#else
/* A site that has to ask was not told. That is allowed only if the message was dropped, or if the
 * question is about a generation that was left out. */
#define IN_TIME(g) assert((dropped | found) & BIT(g))
#endif

inline take_answer(me, l, g, site)
{
    if
    :: SAYS_FAILED(site, g) -> IN_TIME(g); fail(me, l, g)
    :: SAYS_MOVED_PAST(site, g) ->
        /* If a neighbour calls a later generation, this is seen without a question. */
        assert(LOCALITY_OF(site) != (l) || (L.is_late & BIT(g)) ||
               endpoints[site].met < g);
        found = found | BIT(g);
        fail(me, l, g)
    :: SAYS_THROUGH(site, g) ->
        if
#if !defined(HASTE) || defined(TWICE)
        :: E.through & BIT(g) -> IN_TIME(g); fail(me, l, g)
#endif
        :: else -> E.through = E.through | BIT(g)
        fi
    :: else
    fi
}

#ifdef HASTE
/* A look, and then a question. Its answer is taken later. */
#define ASKS(g, site)                                                                              \
    (me != site && IS_MISSING(me, l, g, site) && E.questions < 2 &&                                \
     (E.questions == 0 || (E.asked == (g) && E.asked_of == site)))

inline look_and_ask(me, l, g, site)
{
    if
#ifndef TWICE
    :: E.through & BIT(g) -> fail(me, l, g)
#endif
    :: else -> E.questions++; E.asked = g; E.asked_of = site
    fi
}
#define ASK(me, l, g, site) look_and_ask(me, l, g, site)
#define MAY_ASK true
#else
#define ASK(me, l, g, site) take_answer(me, l, g, site)
#define MAY_ASK timeout
#define ASKS(g, site)                                                                              \
    (me != site && IS_MISSING(me, l, g, site) &&                                                   \
     (SAYS_FAILED(site, g) || SAYS_MOVED_PAST(site, g) ||                    \
      MATTERS(me, g, site)))
#endif
#if SITES == 4
#define ASKS_LAST(g) ASKS(g, 3)
#else
#define ASKS_LAST(g) false
#endif
#define ASKS_ANY(g) (ASKS(g, 0) || ASKS(g, 1) || ASKS(g, 2) || ASKS_LAST(g))

/* Processes -------------------------------------------------------------------------------- */

proctype site(byte me; byte l)
{
    byte g, asked;
    do
    :: d_step { MAY_CALL && planned != E.next ->
        call(me);
        fail_left_out(me, l, E.last);
        enter(me, l, E.last);
        skip }
    :: d_step { MAY_CALL && planned == E.next ->
        call(me);
        skip }
    :: d_step { MAY_CALL && planned != E.next && rejections > 0 && MAY_REJECT(me) ->
        rejections--;
        call(me);
        reject(me, l, E.last);
        skip }
    :: d_step { MAY_CALL && planned != E.next && E.next < G && !has_skipped &&
            MAY_SKIP(me) ->
        has_skipped = 1;
        spoil(l, E.next);
        E.next++ }
    :: atomic { E.errors ->
        if
        :: E.errors & BIT(1) -> g = 1
        :: E.errors & BIT(2) -> g = 2
        :: E.errors & BIT(3) -> g = 3
        :: E.errors & BIT(4) -> g = 4
        fi;
        d_step { receive_error(me, l, g); g = 0 } }
    :: atomic { E.over ->
        if
        :: E.over & BIT(1) -> g = 1
        :: E.over & BIT(2) -> g = 2
        :: E.over & BIT(3) -> g = 3
        :: E.over & BIT(4) -> g = 4
        fi;
        d_step { be_over(me, l, g); g = 0 } }
    :: atomic { MAY_ASK && (ASKS_ANY(1) || ASKS_ANY(2) || ASKS_ANY(3) || ASKS_ANY(4)) ->
        if
        :: ASKS_ANY(1) -> g = 1
        :: ASKS_ANY(2) -> g = 2
        :: ASKS_ANY(3) -> g = 3
        :: ASKS_ANY(4) -> g = 4
        fi;
        if
        :: ASKS(g, 0) -> asked = 0
        :: ASKS(g, 1) -> asked = 1
        :: ASKS(g, 2) -> asked = 2
        :: ASKS_LAST(g) -> asked = 3
        fi;
        d_step { ASK(me, l, g, asked); g = 0; asked = 0 } }
#ifdef HASTE
    :: d_step { E.questions > 0 ->
        E.questions--;
        g = E.asked;
        if
        :: E.in_flight & BIT(g) -> take_answer(me, l, g, E.asked_of)
        :: else
        fi;
        g = 0 }
#endif
    :: E.next > G && E.in_flight == 0 -> break
    od
}

#ifdef NO_ORDER
#define IS_NEXT(l, g) true
#else
#define IS_NEXT(l, g)                                                                              \
    (!IS_BEFORE(l, 1, g) && !IS_BEFORE(l, 2, g) && !IS_BEFORE(l, 3, g))
#endif
#ifdef NO_WAIT
#define HAS_PLACE(l, g) true
#else
#define HAS_PLACE(l, g)                                                                            \
    (localities[0].passed >= L.place[(g) % DEPTH] && localities[1].passed >= L.place[(g) % DEPTH])
#endif

/* Whether the other locality has posted what this locality reads. */
#define IS_FULL(l, g) (POSTS(1 - (l), g) -> IS_THERE(1 - (l), g) : true)

inline post(l, g)
{
    L.state[g] = GATHERED;
    if
    :: L.error & BIT(g) -> meeting_fail(l, g, NOBODY)
    :: else ->
        assert(L.place[g % DEPTH] < g); /* G is later than what is in the place */
        L.place[g % DEPTH] = g;
        L.posted = L.posted | BIT(g)
    fi
}

inline begin_moving(l, g)
{
#ifdef SHARES
    L.state[g] = (L.state[g] == REDUCED -> MOVING : REDUCING)
#else
    L.state[g] = MOVING
#endif
}

inline move(l, g)
{
    assert(IS_FULL(l, g)); /* still full: all data was read from there */
    L.state[g] = MOVED;
    for (i : 0 .. SITES - 1) {
        if
        :: L.inside[g] & BIT(i) -> endpoints[i].over = endpoints[i].over | BIT(g)
        :: else
        fi
    }
}

#ifdef SHARES
#define IS_READY(l, g)                                                                             \
    ((L.state[g] == GATHERED && IS_FULL(l, g)) ||                                                  \
     (L.state[g] == REDUCED && (localities[1 - (l)].shared & BIT(g))))
inline reduce(l, g)
{
    assert(IS_FULL(l, g));
    L.state[g] = REDUCED;
    L.shared = L.shared | BIT(g);
    if
    :: L.error & BIT(g) -> meeting_fail(l, g, NOBODY)
    :: else
    fi
}
#else
#define IS_READY(l, g) (L.state[g] == GATHERED && IS_FULL(l, g))
#endif

#define MAY_BRING(g)                                                                               \
    (L.state[g] == GATHERED && IS_TO_POST(l, g) && IS_NEXT(l, g) && HAS_PLACE(l, g))
#define MAY_MOVE(g) (!IS_TO_POST(l, g) && IS_READY(l, g))
#define MAY_GO_ON(g)                                                                               \
    (L.state[g] == BRINGING || L.state[g] == REDUCING || L.state[g] == MOVING || MAY_BRING(g) ||   \
     MAY_MOVE(g))

inline go_on(l, g)
{
    if
    :: L.state[g] == BRINGING -> post(l, g)
    :: L.state[g] == MOVING -> move(l, g)
#ifdef SHARES
    :: L.state[g] == REDUCING -> reduce(l, g)
#endif
    :: L.state[g] == REDUCED -> begin_moving(l, g)
    :: L.state[g] == GATHERED && IS_TO_POST(l, g) -> L.state[g] = BRINGING
    :: L.state[g] == GATHERED && !IS_TO_POST(l, g) -> begin_moving(l, g)
    fi
}

/* Any process that finds that a meeting can continue: a site's turn, the loop, a crew. */
proctype meetings(byte l)
{
    byte g;
end:
    do
    :: atomic { MAY_GO_ON(1) || MAY_GO_ON(2) || MAY_GO_ON(3) || MAY_GO_ON(4) ->
        if
        :: MAY_GO_ON(1) -> g = 1
        :: MAY_GO_ON(2) -> g = 2
        :: MAY_GO_ON(3) -> g = 3
        :: MAY_GO_ON(4) -> g = 4
        fi;
        d_step { go_on(l, g); g = 0 } }
    od
}

init
{
    d_step {
        for (i : 0 .. SITES - 1) {
            endpoints[i].next = 1
        }
        skip
    }
#ifndef NO_PLAN
#ifdef PLAN
    planned = PLAN;
#else
    if
    :: planned = 2
    :: planned = 3
    fi;
#endif
#endif
#ifdef SOURCE
    if
    :: sourced = BIT(1) | BIT(3)
    :: sourced = BIT(2) | BIT(3) | BIT(4)
    :: sourced = BIT(1) | BIT(2) | BIT(3) | BIT(4)
    fi;
#endif
    atomic {
        run meetings(0);
        run meetings(1);
        run site(0, 0);
        run site(1, 0);
        run site(2, 1)
#if SITES == 4
        ; run site(3, 1)
#endif
    }
}
