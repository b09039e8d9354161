/* SPDX-License-Identifier: Apache-2.0 */
/* The board of runtime/net/board.h and the meetings that use it (comm/team.c, operation.c,
 * reception.c, exec/meeting*.c, attendance.c, rejection.c). The model checks:
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
 * With -DSEGMENTS each call has two segments, each a meeting of its own with a number of its own,
 * and there are two generations. Instead of being rejected a call may also be another one, which
 * has one segment, or find no memory for its second one. Between the segments that a site enters,
 * or that it fails, come steps of others. Neighbours behave alike, so only the lower one makes
 * mistakes. That has 9,972,093 states, found in a minute in 1.9 GB (suite long).
 *
 * With -DSOURCE only A brings data in some generations. It posts before the data is there. The post
 * has a mark, by which B may read first one half of it, and then all. A call of A's may be
 * cancelled while the data is written. That has 3,534,452 states (suite long).
 *
 * With -DLENT a locality may lend what it brings: others read it where it is, and not on the board.
 * In some generations both do so, or one of them, or only A brings data and lends it. A call whose
 * data is lent may be cancelled while it is read, or while its locality waits until all have passed
 * it. That has 3,687,892 states, compressed in 0.7 GB, found in half a minute (suite long).
 *
 * Also without an error: -DPLAN=2 or 3 (only that generation runs as a plan; without this option,
 * either one does), -DNO_PLAN (none does), -DSOURCE, -DSHARES (the result is made in shares),
 * -DLENT, -DSEGMENTS,BY_NUMBER (what is left out is judged by numbers: with all segments entered at
 * once it makes no difference).
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
 *   BUSY           a meeting fails while works use its buffers
 * with -DSOURCE:
 *   NO_MARK   a post is read as soon as it is there
 *   OLD_MARK  a post begins with the mark of the earlier one in its place
 *   NO_REST   a source that has failed meanwhile does not write the rest
 * with -DLENT:
 *   NO_SECOND_LOOK   who has read what was lent does not look again whether it was withdrawn
 *   NO_WITHDRAW      a meeting that fails does not withdraw what it has lent
 *   WITHDRAW_LATE    it does so when it ends, and not before its sites are told
 *   WITHDRAW_PASSED  it does so even if all have passed its post
 *   OLD_WITHDRAWAL   a post begins with the withdrawal of the earlier one in its place
 *   NO_ACK           who has lent something does not wait until all have passed it
 *   PASS_AT_END      a locality that has read all, but waits because it has lent something, has not
 *                    passed that number
 *   NO_LAST_READ     it passes it only when a later one has gathered or ended
 *   LENT_UNTOLD      a failed meeting does not tell those that may read what it has lent
 *   FAR_ALONE        it does not tell them if only its own locality has not passed its number
 *   READ_BUSY        a meeting that has read all, but waits, can't fail
 *   READ_UNASKED     it asks nobody
 *   LENT_FORGOTTEN   there, a site that has said that it is through is missing
 *   THROUGH_IGNORED  there, that does not count as if its locality had passed
 *   BUSY
 * and with -DSEGMENTS:
 *   SEGMENT_LATE     a site enters a segment when the one before is over
 *   SEGMENT_ALONE    a failed segment does not fail the other one of its call
 *   PASS_GENERATION  who passes a segment passes all of its generation
 *   PASS_SEGMENT     the end of a meeting ends its segment only, and not all of its generation that
 *                    is not under way
 *   NO_TELL_PART     a call that enters a part of its segments tells no other site */
#ifdef SEGMENTS
#ifndef G
#define G 2
#endif
#define N 6 /* the last number */
#else
#define G 4
#define N G
#endif
#ifndef SITES
#define SITES 3
#endif
#if defined(NO_FORGOTTEN) || defined(THROUGH_IGNORED)
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
#define ALL_NUMBERS (BIT(N + 1) - 2)
#define LOCALITY_OF(site) ((site) / 2)
#define ALL_OF(l) ((l) == 0 -> 3 : (BIT(SITES) - 4))
#define NEIGHBOUR(site) ((site) ^ 1) /* with SITES 3 B's site has none */

/* Neighbours behave alike, and so do the localities if each of them brings data. So it is enough
 * that the lower sites make mistakes. */
#if SITES == 4 && !defined(SOURCE) && !defined(LENT)
#define MAY_SKIP(me) ((me) == 0)
#else
#define MAY_SKIP(me) ((me) != 1)
#endif
#ifdef SEGMENTS
#define MAY_REJECT(me) MAY_SKIP(me)
#elif REJECTIONS == 1
#define MAY_REJECT(me) ((me) != 3)
#else
#define MAY_REJECT(me) true
#endif

/* A meeting and its post have a number N, which is that of the generation G; or with segments, two
 * numbers for each generation. */
#ifdef SEGMENTS
#define HAS_TWO(g) ((g) != single && !((g) == shortened && me == shortener))
#define GENERATION(n) (((n) + 1) / 2)
#define SECOND(n) ((n) % 2 == 0)
#define FIRST(g) (2 * (g) - 1)
#define IS_LATE(l, g) (L.is_late & (BIT(FIRST(g)) | BIT(2 * (g))))
#define PLACE(n) ((GENERATION(n) + SECOND(n)) % DEPTH)
#define IS_INSIDE(n) (L.inside[n] & BIT(me))
#define IS_INSIDE_ANY(g) ((L.inside[2 * (g) - 1] | L.inside[2 * (g)]) & BIT(me))
#else
#define GENERATION(n) (n)
#define FIRST(g) (g)
#define IS_LATE(l, g) (L.is_late & BIT(g))
#define PLACE(n) ((n) % DEPTH)
#define IS_INSIDE_ANY(g) (L.inside[g] & BIT(me))
#endif

/* States of a meeting. */
#define NONE 0
#define OPEN 1
#define GATHERED 2
#define BRINGING 3
#define REDUCING 4
#define READING 5
#define REDUCED 6
#define READ 7
#define MOVING 8
#define MOVED 9
#define FAILED 10

/* Masks have one bit for each number, generation or site. */
typedef locality {
    byte state[N + 1];
    byte come[N + 1];   /* sites */
    byte inside[N + 1]; /* sites */
    byte posted;        /* numbers that have not ended */
    byte shared;
    byte untold, awaited, error;
    byte place[DEPTH]; /* on the board: the number in it */
#ifdef SOURCE
    byte written[DEPTH]; /* halves of that post that are there */
    byte mark[DEPTH];    /* as the post says; the same */
    byte read;           /* numbers of which one half is read */
#endif
#ifdef LENT
    bit withdrawn[DEPTH]; /* as the post says: what it has lent is not to be read */
    byte last_read;
#endif
    byte passed;       /* what no site here reads any more */
    byte last_ended, last_gathered;
#ifdef FAIL_ON_BOARD
    byte failures; /* in places */
#endif
    byte spoiled;  /* by the sites of this locality */
#ifdef SEGMENTS
    bit meets_short, posted_short; /* in generation SHORTENED */
#endif
    byte is_late   /* meetings begun by a site when another one was beyond */
};

typedef endpoint {
    byte next, last; /* the generation to call next; the latest that was called */
    byte called;
    byte met; /* the latest that was neither rejected nor a plan */
    byte in_flight, failing, told; /* of these */
    byte remembered;               /* the latest own call that has failed */
    byte errors, parked;           /* messages under way; messages kept */
    byte over;                     /* items under way: numbers */
#ifdef SEGMENTS
    byte amid; /* the number that the turn goes on with, to enter it, or to fail it */
#endif
#ifdef HASTE
    byte questions, asked, asked_of; /* questions under way; of this generation, to this site */
#endif
    byte through /* generations of which a missing site has said that it is through */
};

locality localities[2];
endpoint endpoints[SITES];

byte planned;  /* this generation runs as a plan */
byte sourced;  /* in these only A brings data */
#ifdef SEGMENTS
byte single;    /* this generation has one segment */
byte shortened; /* in this one a site has called something with one segment */
byte shortener; /* this site */
#endif
byte spoiled;  /* a site has rejected these, or left them out */
#ifdef LENT
byte lends[2];  /* in these the locality lends what it brings */
byte cancelled; /* while what is brought was lent */
#elif defined(SOURCE)
byte cancelled; /* while A wrote to its post */
#else
#define cancelled 0
#endif
byte dropped;  /* messages about these */
byte found;    /* a question has found that these were left out */
byte rejections = REJECTIONS;
bit has_skipped;

hidden byte i, j, least; /* each is used by one inline, which calls no other one that uses it */

#define L localities[l]
#define E endpoints[me]

#if defined(SOURCE) || defined(LENT)
#define HAS_SOURCE(g) (sourced & BIT(g))
#else
#define HAS_SOURCE(g) false
#endif
#define POSTS(l, g) (!HAS_SOURCE(g) || (l) == 0)

#if defined(SOURCE) || defined(LENT)
#define DEPENDS_ON(l, g) (POSTS(1 - (l), g) -> spoiled : L.spoiled)
#else
#define DEPENDS_ON(l, g) spoiled
#endif

#ifdef SEGMENTS
#define IS_SAME(n)                                                                                 \
    (GENERATION(n) != shortened || localities[0].posted_short == localities[1].posted_short)
#else
#define IS_SAME(n) true
#endif
#ifdef FAIL_ON_BOARD
#define IS_THERE(l, n)                                                                             \
    (localities[l].place[PLACE(n)] == (n) && !(localities[l].failures & BIT(n)))
#else
#define IS_THERE(l, n)                                                                             \
    (localities[l].place[PLACE(n)] == (n) && IS_SAME(n) && !IS_WITHDRAWN(l, n))
#endif

#ifdef LENT
#define LENDS(l, n) (lends[l] & BIT(n))
#define IS_LENT(n) ((lends[0] | lends[1]) & BIT(n))
#define IS_WITHDRAWN(l, n) localities[l].withdrawn[PLACE(n)]
#define HAS_LENT(l, n) (LENDS(l, n) && (L.posted & BIT(n)))
/* The other locality may still read there, or wait for this one to pass. */
#ifdef FAR_ALONE
#define IS_LENT_OUT(l, n) (HAS_LENT(l, n) && localities[1 - (l)].passed < (n))
#else
#define IS_LENT_OUT(l, n) (HAS_LENT(l, n) && !HAVE_PASSED(n))
#endif
/* The calls of this generation have ended at SITE, so that its buffers may be gone. */
#define HAS_ENDED(site, g)                                                                         \
    ((endpoints[site].called & BIT(g)) && !(endpoints[site].in_flight & BIT(g)))
#define IS_GONE(l, g)                                                                              \
    ((l) == 0 -> HAS_ENDED(0, g) || HAS_ENDED(1, g) : HAS_ENDED(2, g) || HAS_ENDED(SITES - 1, g))
#else
#define LENDS(l, n) false
#define IS_LENT(n) false
#define IS_WITHDRAWN(l, n) false
#define IS_LENT_OUT(l, n) false
#endif

/* What a post of A's says is there, and what B may read of it before all is. */
#ifdef SOURCE
#ifdef NO_MARK
#define IS_WHOLE(l, n) true
#else
#define IS_WHOLE(l, n) (!HAS_SOURCE(GENERATION(n)) || localities[l].mark[PLACE(n)] == 2)
#endif
#define MAY_READ(l, n)                                                                             \
    (L.state[n] == GATHERED && !POSTS(l, GENERATION(n)) && IS_THERE(1 - (l), n) &&                 \
     localities[1 - (l)].mark[PLACE(n)] == 1 && !(L.read & BIT(n)))
#else
#define IS_WHOLE(l, n) true
#define MAY_READ(l, n) false
#endif

#define HAVE_PASSED(n) (localities[0].passed >= (n) && localities[1].passed >= (n))

/* Passing ---------------------------------------------------------------------------------- */

#ifdef PASS_ENDED
#define BEGINNING (L.last_ended + 1)
#else
#define BEGINNING (L.last_ended + 1 < L.last_gathered -> L.last_gathered : L.last_ended + 1)
#endif
#if defined(LENT) && !defined(PASS_AT_END)
#define IS_UNDER_WAY(l, n)                                                                         \
    (L.state[n] != NONE && L.state[n] != FAILED && L.state[n] != READ)
#else
#define IS_UNDER_WAY(l, n) (L.state[n] != NONE && L.state[n] != FAILED)
#endif

inline pass(l)
{
    least = BEGINNING;
#if defined(LENT) && !defined(PASS_AT_END) && !defined(NO_LAST_READ)
    if
    :: least < L.last_read + 1 -> least = L.last_read + 1
    :: else
    fi;
#endif
#ifndef PASS_ACTIVE
    for (i : 1 .. N) {
        if
        :: i < least && IS_UNDER_WAY(l, i) -> least = i
        :: else
        fi
    }
#endif
    if
#ifdef PASS_GENERATION
    :: least > L.passed + 1 -> L.passed = 2 * GENERATION(least - 1)
#else
    :: least > L.passed + 1 -> L.passed = least - 1
#endif
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
#define MISSES_SHARE(n) (L.state[n] == GATHERED)
#else
#define MISSES_SHARE(n) false
#endif
#ifdef LENT_UNTOLD
#define IS_TO_TELL_LENT(l, n) false
#else
#define IS_TO_TELL_LENT(l, n) IS_LENT_OUT(l, n)
#endif
#ifdef NO_TELL_FAR
#define IS_AWAITED(l, n) false
#else
#define IS_AWAITED(l, n)                                                                           \
    (POSTS(l, GENERATION(n)) &&                                                                    \
     (!(L.posted & BIT(n)) || MISSES_SHARE(n) || IS_TO_TELL_LENT(l, n)))
#endif

#ifdef LENT
inline withdraw(l, n)
{
    if
#ifdef WITHDRAW_PASSED
    :: HAS_LENT(l, n) -> L.withdrawn[PLACE(n)] = 1
#else
    :: IS_LENT_OUT(l, n) -> L.withdrawn[PLACE(n)] = 1
#endif
    :: else
    fi
}
#endif

inline meeting_fail(l, n, except)
{
    assert((spoiled | cancelled) & BIT(GENERATION(n)));
    assert(L.state[n] != BRINGING && L.state[n] != REDUCING); /* no work uses the buffers */
    assert(L.state[n] != READING);
    if
    :: IS_AWAITED(l, n) -> L.awaited = L.awaited | BIT(n); L.untold = L.untold | BIT(n)
    :: else ->
        if
        :: L.state[n] == OPEN && L.come[n] != ALL_OF(l) -> L.untold = L.untold | BIT(n)
        :: else
        fi
    fi;
#if defined(LENT) && !defined(NO_WITHDRAW) && !defined(WITHDRAW_LATE)
    withdraw(l, n);
#endif
    L.state[n] = FAILED;
    L.error = L.error & ~BIT(n);
    for (i : 0 .. SITES - 1) {
        if
        :: i != except && (L.inside[n] & BIT(i)) ->
            endpoints[i].over = endpoints[i].over | BIT(n)
        :: else
        fi
    }
#ifdef FAIL_ON_BOARD
    post_failure(l, n)
#endif
}

#ifdef FAIL_ON_BOARD
/* As with a post: the generation in the place has been passed by then. */
inline post_failure(l, n)
{
    if
    :: L.place[PLACE(n)] < n && localities[0].passed >= L.place[PLACE(n)] &&
       localities[1].passed >= L.place[PLACE(n)] ->
        L.place[PLACE(n)] = n;
        L.failures = L.failures | BIT(n)
    :: else
    fi
}
#endif

inline tell_outside(me, l, n)
{
    if
    :: L.untold & BIT(n) ->
        L.untold = L.untold & ~BIT(n);
        tell(me, GENERATION(n), L.awaited & BIT(n))
    :: else
    fi
}

inline remember_failure(me, g)
{
    E.remembered = g
}

/* What the end of N's meeting ends: with segments, its generation, since none of its meetings
 * gathers here any more if it is not there yet. */
#if defined(SEGMENTS) && !defined(PASS_SEGMENT)
#define ENDED(n) (2 * GENERATION(n))
#else
#define ENDED(n) (n)
#endif

/* The last one to leave ends the meeting. */
inline leave(me, l, n)
{
    L.inside[n] = L.inside[n] & ~BIT(me);
    if
    :: L.inside[n] == 0 ->
#ifdef WITHDRAW_LATE
        if
        :: L.state[n] == FAILED -> withdraw(l, n)
        :: else
        fi;
#endif
        L.state[n] = NONE;
        L.come[n] = 0;
        /* No site will call this any more and would read these. */
        L.awaited = L.awaited & ~BIT(n);
        L.posted = L.posted & ~BIT(n);
        L.is_late = L.is_late & ~BIT(n);
#ifdef SOURCE
        L.read = L.read & ~BIT(n);
#endif
        if
        :: L.last_ended < ENDED(n) -> L.last_ended = ENDED(n)
        :: else
        fi;
        pass(l)
    :: else
    fi
}

/* The operation ends if all its segments are over. */
inline end_call(me, l, g)
{
    if
    :: !(IS_INSIDE_ANY(g)) ->
#ifdef SEGMENTS
        assert((E.failing & BIT(g)) || !((DEPENDS_ON(l, g)) & BIT(g)));
#endif
        if
        :: E.failing & BIT(g) -> remember_failure(me, g)
        :: else
        fi;
        E.in_flight = E.in_flight & ~BIT(g);
        E.failing = E.failing & ~BIT(g);
        E.told = E.told & ~BIT(g);
        E.through = E.through & ~BIT(g);
        E.errors = E.errors & ~BIT(g) /* a late site finds no failure */
    :: else
    fi
}

#ifdef BUSY
#define MAY_FAIL(n) (L.state[n] < MOVING)
#elif defined(READ_BUSY)
#define MAY_FAIL(n) (L.state[n] == OPEN || L.state[n] == GATHERED)
#else
#define MAY_FAIL(n)                                                                                \
    (L.state[n] == OPEN || L.state[n] == GATHERED || L.state[n] == REDUCED || L.state[n] == READ)
#endif

/* A call fails, so its meeting fails, too, now or later. */
inline fail_number(me, l, n)
{
    if
    :: MAY_FAIL(n) ->
        meeting_fail(l, n, me);
        tell_outside(me, l, n);
        leave(me, l, n)
    :: L.state[n] < MOVING && !(MAY_FAIL(n)) -> L.error = L.error | BIT(n)
    :: L.state[n] >= MOVING
    fi
}

#ifdef SEGMENTS
/* Another site's turn may come before the other segment fails. */
inline fail(me, l, g)
{
    if
    :: !(E.failing & BIT(g)) ->
        assert(spoiled & BIT(g));
        E.failing = E.failing | BIT(g);
#ifdef SEGMENT_ALONE
        if
        :: IS_INSIDE(FIRST(g)) -> fail_number(me, l, FIRST(g))
        :: !IS_INSIDE(FIRST(g)) -> fail_number(me, l, 2 * (g))
        fi;
#else
        E.amid = (IS_INSIDE(2 * (g)) -> 2 * (g) : 0);
        if
        :: IS_INSIDE(FIRST(g)) -> fail_number(me, l, FIRST(g))
        :: !IS_INSIDE(FIRST(g)) -> fail_number(me, l, 2 * (g)); E.amid = 0
        fi;
#endif
        end_call(me, l, g)
    :: else
    fi
}
#else
inline fail(me, l, g)
{
    if
    :: !(E.failing & BIT(g)) ->
        assert((spoiled | cancelled) & BIT(g));
        E.failing = E.failing | BIT(g);
        fail_number(me, l, g);
        end_call(me, l, g)
    :: else
    fi
}
#endif

/* Calling ---------------------------------------------------------------------------------- */

#define NUM_IN_FLIGHT                                                                              \
    ((E.in_flight >> 1 & 1) + (E.in_flight >> 2 & 1) + (E.in_flight >> 3 & 1) +                    \
     (E.in_flight >> 4 & 1) + (E.in_flight >> 5 & 1))
#ifdef SEGMENTS
#define IS_IDLE (E.amid == 0)
#define IS_ENTERING (E.amid && !(E.failing & BIT(GENERATION(E.amid))))
#else
#define IS_IDLE true
#endif
#define MAY_CALL (IS_IDLE && E.next <= G && NUM_IN_FLIGHT < IN_FLIGHT)

inline call(me)
{
    E.last = E.next;
    E.called = E.called | BIT(E.next);
    E.parked = E.parked & (~(BIT(E.next) - 1)); /* about generations left out */
    E.next++
}

inline fail_left_out(me, l, n)
{
#ifndef NO_LEFT_OUT
    for (j : 1 .. n - 1) {
        if
        :: L.state[j] == OPEN && !(L.come[j] & BIT(me)) -> meeting_fail(l, j, NOBODY)
        :: else
        fi
    }
#else
    skip
#endif
}

#ifdef SEGMENTS
#define IS_TO_PASS(l, n) (GENERATION(n) > GENERATION(L.last_ended) + 1)
#else
#define IS_TO_PASS(l, n) true
#endif

inline gather(l, n)
{
    L.state[n] = GATHERED;
    L.last_gathered = n;
    if
    :: IS_TO_PASS(l, n) -> pass(l)
    :: else
    fi
}

#ifdef SEGMENTS
#define CALLS_SHORT(me, g) (shortened == (g) && shortener == (me))
/* A site that has been told that the call fails stays outside. */
#define IS_TOLD(me, n) (E.parked & BIT(GENERATION(n)))
#define IS_OTHER_CALL(me, l, n)                                                                    \
    (shortened == GENERATION(n) && !SECOND(n) && L.state[n] != NONE &&                             \
     L.meets_short != CALLS_SHORT(me, GENERATION(n)))
#else
#define IS_TOLD(me, n) false
#define IS_OTHER_CALL(me, l, n) false
#endif

inline come_to(me, l, n)
{
    if
    :: L.state[n] == NONE ->
        L.state[n] = OPEN;
        if
        :: NEIGHBOUR(me) < SITES && endpoints[NEIGHBOUR(me)].last > GENERATION(n) ->
            L.is_late = L.is_late | BIT(n)
        :: else
        fi
#ifdef SEGMENTS
        ;
        if
        :: shortened == GENERATION(n) && !SECOND(n) ->
            L.meets_short = CALLS_SHORT(me, GENERATION(n))
        :: else
        fi
#endif
    :: else
    fi;
    L.come[n] = L.come[n] | BIT(me);
    L.inside[n] = L.inside[n] | BIT(me);
    if
    :: L.come[n] == ALL_OF(l) -> gather(l, n)
    :: else
    fi
}

/* N is the first number of G. */
inline enter(me, l, g, n)
{
    if
    :: L.state[n] == FAILED || IS_TOLD(me, n) ->
        remember_failure(me, g);
        E.parked = E.parked & ~BIT(g)
#ifdef SEGMENTS
    :: L.state[n] != FAILED && !IS_TOLD(me, n) && IS_OTHER_CALL(me, l, n) ->
        meeting_fail(l, n, NOBODY);
        remember_failure(me, g)
#endif
    :: else ->
        E.met = g;
        E.in_flight = E.in_flight | BIT(g);
        come_to(me, l, n);
#ifdef SEGMENTS
#ifndef SEGMENT_LATE
        E.amid = (HAS_TWO(g) -> n + 1 : 0)
#endif
#else
        if
        :: E.parked & BIT(g) -> E.parked = E.parked & ~BIT(g); E.errors = E.errors | BIT(g)
        :: else
        fi
#endif
    fi
}

#ifdef SEGMENTS
/* The turn goes on with the second segment N of G. */
inline go_on_turn(me, l, n)
{
    E.amid = 0;
    if
    :: !(E.failing & BIT(GENERATION(n))) ->
#ifdef BY_NUMBER
        fail_left_out(me, l, n);
#else
        fail_left_out(me, l, FIRST(GENERATION(n)));
#endif
        if
        :: L.state[n] == FAILED -> E.told = E.told | BIT(GENERATION(n)); fail(me, l, GENERATION(n))
        :: else -> come_to(me, l, n)
        fi
    :: (E.failing & BIT(GENERATION(n))) && IS_INSIDE(n) ->
        fail_number(me, l, n);
        end_call(me, l, GENERATION(n))
    :: (E.failing & BIT(GENERATION(n))) && !IS_INSIDE(n)
    fi
}
#endif

/* A site of this locality does not bring its data. */
inline spoil(l, g)
{
    spoiled = spoiled | BIT(g);
#if defined(SOURCE) || defined(LENT)
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
    post_failure(l, FIRST(g))
#endif
}

#ifdef SEGMENTS
/* There is no memory for the second segment. */
inline enter_no_more(me, l, g)
{
    E.amid = 0;
    spoil(l, g);
#ifndef NO_TELL_PART
    tell(me, g, true);
#endif
    fail(me, l, g)
}
#endif

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

#ifdef SEGMENTS
inline be_over(me, l, n)
{
    E.over = E.over & ~BIT(n);
    if
    :: L.state[n] == FAILED && !(E.failing & BIT(GENERATION(n))) ->
        E.failing = E.failing | BIT(GENERATION(n));
#ifndef SEGMENT_ALONE
        E.amid = (SECOND(n) -> n - 1 : n + 1)
#endif
    :: else
    fi;
    if
    :: E.failing & BIT(GENERATION(n)) -> tell_outside(me, l, n)
    :: else
    fi;
    leave(me, l, n);
    E.amid = (E.amid > 0 && IS_INSIDE(E.amid) -> E.amid : 0);
#ifdef SEGMENT_LATE
    if
    :: !(E.failing & BIT(GENERATION(n))) && !SECOND(n) && HAS_TWO(GENERATION(n)) -> E.amid = n + 1
    :: else -> end_call(me, l, GENERATION(n))
    fi
#else
    end_call(me, l, GENERATION(n))
#endif
}
#else
inline be_over(me, l, n)
{
    E.over = E.over & ~BIT(n);
    if
    :: L.state[n] == FAILED -> E.failing = E.failing | BIT(GENERATION(n))
    :: else ->
        assert(!((DEPENDS_ON(l, GENERATION(n))) & BIT(GENERATION(n))))
    fi;
    if
    :: E.failing & BIT(GENERATION(n)) -> tell_outside(me, l, n)
    :: else
    fi;
    leave(me, l, n);
    end_call(me, l, GENERATION(n))
}
#endif

/* Questions -------------------------------------------------------------------------------- */

/* What a site of locality L in the meeting of N waits for: for locality FAR's post, or as the
 * source, until FAR has passed. Also for whatever an earlier meeting needs before it can post. */
#ifdef SOURCE
#define WAITS(l, n, far)                                                                           \
    ((!(HAS_SOURCE(GENERATION(n))) && !IS_THERE(far, n)) ||                                        \
     ((HAS_SOURCE(GENERATION(n))) && (l) == 0 && localities[far].passed < L.place[PLACE(n)]) ||    \
     ((HAS_SOURCE(GENERATION(n))) && (l) == 1 &&                                          \
      !(IS_THERE(0, n) && IS_WHOLE(0, n))))
#elif defined(LENT)
#ifdef READ_UNASKED
#define MISSES_PASSED(l, n, far) false
#else
#define MISSES_PASSED(l, n, far) (L.state[n] == READ && localities[far].passed < (n))
#endif
#define WAITS(l, n, far)                                                                           \
    (MISSES_PASSED(l, n, far) ||                                                                   \
     (L.state[n] != READ && POSTS(far, n) && !IS_THERE(far, n)) ||                                 \
     (L.state[n] != READ && !POSTS(far, n) && localities[far].passed < L.place[PLACE(n)]))
#else
#define WAITS(l, n, far) (!IS_THERE(far, n))
#endif
#ifdef SHARES
#define WAITS_FOR_SHARE(l, n, far) (L.state[n] == REDUCED && !(localities[far].shared & BIT(n)))
#else
#define WAITS_FOR_SHARE(l, n, far) false
#endif
#define IS_TO_POST(l, n) (POSTS(l, GENERATION(n)) && !(L.posted & BIT(n)))
#define IS_BEFORE(l, j, n)                                                                         \
    ((j) < (n) && (L.state[j] == GATHERED || L.state[j] == BRINGING) && IS_TO_POST(l, j))
#define WAITS_BEHIND(l, j, n, far)                                                                 \
    (IS_TO_POST(l, n) && IS_BEFORE(l, j, n) && WAITS(l, j, far))
#ifdef SEGMENTS
#define WAITS_BEHIND_MORE(l, n, far) (WAITS_BEHIND(l, 4, n, far) || WAITS_BEHIND(l, 5, n, far))
#else
#define WAITS_BEHIND_MORE(l, n, far) false
#endif
#define IS_MISSED_IN(l, n, site)                                                                   \
    (L.state[n] != NONE && L.state[n] < MOVING &&                                                  \
     ((LOCALITY_OF(site) == (l) && !(L.come[n] & BIT(site))) ||                                    \
      (LOCALITY_OF(site) != (l) &&                                                                 \
       (WAITS(l, n, 1 - (l)) || WAITS_FOR_SHARE(l, n, 1 - (l)) ||                                  \
        WAITS_BEHIND(l, 1, n, 1 - (l)) || WAITS_BEHIND(l, 2, n, 1 - (l)) ||                        \
        WAITS_BEHIND(l, 3, n, 1 - (l)) || WAITS_BEHIND_MORE(l, n, 1 - (l))))))
/* A call asks for the first of its segments that is not over. */
#ifdef SEGMENTS
#define IS_MISSING(me, l, g, site)                                                                 \
    ((E.in_flight & BIT(g)) &&                                                                     \
     ((IS_INSIDE(FIRST(g)) && IS_MISSED_IN(l, FIRST(g), site)) ||                                  \
      (!IS_INSIDE(FIRST(g)) && IS_INSIDE(2 * (g)) && IS_MISSED_IN(l, 2 * (g), site))))
/* The other locality has posted for another call. */
#define DIFFERS(me, l, n)                                                                          \
    (IS_INSIDE(n) && L.state[n] == GATHERED && (L.posted & BIT(n)) &&                              \
     localities[1 - (l)].place[PLACE(n)] == (n) && !IS_SAME(n))
#else
#define IS_MISSING(me, l, g, site) ((E.in_flight & BIT(g)) && IS_MISSED_IN(l, g, site))
#endif

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

/* In READ that is no error. The site's locality may be held back from passing by an earlier call.
 * Or its call has failed outside of a meeting, so that it never passes. In both cases nobody there
 * reads this number any more. */
#if !defined(LENT) || defined(LENT_FORGOTTEN)
#define IS_FINE(l, g) false
#else
#define IS_FINE(l, g) (L.state[g] == READ)
#endif
#if defined(THROUGH_IGNORED)
#define MATTERS(me, g, site) (SAYS_THROUGH(site, g) && !IS_FINE(l, g))
#elif defined(NO_FORGOTTEN)
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
        assert(LOCALITY_OF(site) != (l) || IS_LATE(l, g) || endpoints[site].met < g);
        found = found | BIT(g);
        fail(me, l, g)
    :: SAYS_THROUGH(site, g) && IS_FINE(l, g) -> E.through = E.through | BIT(g)
    :: SAYS_THROUGH(site, g) && !IS_FINE(l, g) ->
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
#if G == 4
#define ASKS_LAST_OF_ALL ASKS_ANY(4)
#else
#define ASKS_LAST_OF_ALL false
#endif

/* Processes -------------------------------------------------------------------------------- */

#ifdef SOURCE
#define MAY_STOP(g) (L.state[g] == BRINGING && HAS_SOURCE(g) && (E.in_flight & BIT(g)))
#define MAY_CANCEL(me) ((me) == 0)
#elif defined(LENT)
#define MAY_STOP(g)                                                                                \
    (LENDS(l, g) && (E.in_flight & BIT(g)) && !(E.failing & BIT(g)) &&                             \
     (L.state[g] == GATHERED || L.state[g] == READING || L.state[g] == READ))
#define MAY_CANCEL(me) ((me) % 2 == 0)
#endif
#define MAY_STOP_ANY (MAY_STOP(1) || MAY_STOP(2) || MAY_STOP(3) || MAY_STOP(4))

proctype site(byte me; byte l)
{
    byte g, asked;
    do
#ifdef SEGMENTS
    :: d_step { E.amid ->
        g = E.amid;
        go_on_turn(me, l, g);
        g = 0 }
    :: d_step { IS_ENTERING && rejections > 0 && MAY_SKIP(me) ->
        rejections--;
        g = GENERATION(E.amid);
        enter_no_more(me, l, g);
        g = 0 }
    :: d_step { MAY_CALL && planned != E.next && single != E.next && rejections > 0 &&
            MAY_SKIP(me) ->
        rejections--;
        shortened = E.next;
        shortener = me;
        spoil(l, E.next);
        call(me);
        fail_left_out(me, l, FIRST(E.last));
        enter(me, l, E.last, FIRST(E.last));
        skip }
    :: d_step { IS_IDLE && shortened > 0 && DIFFERS(me, l, FIRST(shortened)) ->
        found = found | BIT(shortened);
        fail(me, l, shortened);
        skip }
#endif
    :: d_step { MAY_CALL && planned != E.next ->
        call(me);
        fail_left_out(me, l, FIRST(E.last));
        enter(me, l, E.last, FIRST(E.last));
        skip }
    :: d_step { MAY_CALL && planned == E.next ->
        call(me);
        skip }
    :: d_step { MAY_CALL && planned != E.next && rejections > 0 && MAY_REJECT(me) ->
        rejections--;
        call(me);
        reject(me, l, E.last);
        skip }
#if defined(SOURCE) || defined(LENT)
    :: atomic { MAY_CANCEL(me) && rejections > 0 && MAY_STOP_ANY ->
        rejections--;
        if
        :: MAY_STOP(1) -> g = 1
        :: MAY_STOP(2) -> g = 2
        :: MAY_STOP(3) -> g = 3
        :: MAY_STOP(4) -> g = 4
        fi;
        d_step { cancelled = cancelled | BIT(g); fail(me, l, g); g = 0 } }
#endif
    :: d_step { MAY_CALL && planned != E.next && E.next < G && !has_skipped &&
            MAY_SKIP(me) ->
        has_skipped = 1;
        spoil(l, E.next);
        E.next++ }
    :: atomic { IS_IDLE && E.errors ->
        if
        :: E.errors & BIT(1) -> g = 1
        :: E.errors & BIT(2) -> g = 2
        :: E.errors & BIT(3) -> g = 3
        :: E.errors & BIT(4) -> g = 4
        fi;
        d_step { receive_error(me, l, g); g = 0 } }
    :: atomic { IS_IDLE && E.over ->
        if
        :: E.over & BIT(1) -> g = 1
        :: E.over & BIT(2) -> g = 2
        :: E.over & BIT(3) -> g = 3
        :: E.over & BIT(4) -> g = 4
#ifdef SEGMENTS
        :: E.over & BIT(5) -> g = 5
        :: E.over & BIT(6) -> g = 6
#endif
        fi;
        d_step { be_over(me, l, g); g = 0 } }
    :: atomic { IS_IDLE && MAY_ASK &&
            (ASKS_ANY(1) || ASKS_ANY(2) || ASKS_ANY(3) || ASKS_LAST_OF_ALL) ->
        if
        :: ASKS_ANY(1) -> g = 1
        :: ASKS_ANY(2) -> g = 2
        :: ASKS_ANY(3) -> g = 3
        :: ASKS_LAST_OF_ALL -> g = 4
        fi;
        if
        :: ASKS(g, 0) -> asked = 0
        :: ASKS(g, 1) -> asked = 1
        :: ASKS(g, 2) -> asked = 2
        :: ASKS_LAST(g) -> asked = 3
        fi;
        d_step { ASK(me, l, g, asked); g = 0; asked = 0 } }
#ifdef HASTE
    :: d_step { IS_IDLE && E.questions > 0 ->
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

#ifdef SEGMENTS
#define IS_BEFORE_MORE(l, n) (IS_BEFORE(l, 4, n) || IS_BEFORE(l, 5, n))
#else
#define IS_BEFORE_MORE(l, n) false
#endif
#ifdef NO_ORDER
#define IS_NEXT(l, n) true
#else
#define IS_NEXT(l, n)                                                                              \
    (!IS_BEFORE(l, 1, n) && !IS_BEFORE(l, 2, n) && !IS_BEFORE(l, 3, n) && !IS_BEFORE_MORE(l, n))
#endif
#ifdef NO_WAIT
#define HAS_PLACE(l, n) true
#else
#define HAS_PLACE(l, n) HAVE_PASSED(L.place[PLACE(n)])
#endif

/* Whether the other locality has posted what this locality reads. */
#define IS_FULL(l, n)                                                                              \
    (POSTS(1 - (l), GENERATION(n)) -> IS_THERE(1 - (l), n) && IS_WHOLE(1 - (l), n) : true)

#ifdef SOURCE
inline write_half(l, n)
{
    L.written[PLACE(n)]++;
    L.mark[PLACE(n)] = L.written[PLACE(n)]
}

inline begin_post(l, n)
{
    if
    :: HAS_SOURCE(GENERATION(n)) ->
        assert(L.place[PLACE(n)] < n);
        L.place[PLACE(n)] = n;
        L.posted = L.posted | BIT(n);
        L.written[PLACE(n)] = 0;
#ifndef OLD_MARK
        L.mark[PLACE(n)] = 0
#endif
    :: else
    fi
}

inline read_half(l, n)
{
    assert(IS_THERE(1 - l, n) && localities[1 - l].written[PLACE(n)] >= 1);
    L.state[n] = GATHERED;
    L.read = L.read | BIT(n);
    if
    :: L.error & BIT(n) -> meeting_fail(l, n, NOBODY)
    :: else
    fi
}
#define IS_TO_WRITE(l, n) (HAS_SOURCE(GENERATION(n)) && L.written[PLACE(n)] == 0)
#define IS_BEGUN(l, n) HAS_SOURCE(GENERATION(n))
#else
#define IS_TO_WRITE(l, n) false
#define IS_BEGUN(l, n) false
#endif

inline post(l, n)
{
    L.state[n] = GATHERED;
#ifdef SOURCE
    if
#ifdef NO_REST
    :: IS_BEGUN(l, n) && !(L.error & BIT(n)) -> write_half(l, n)
#else
    :: IS_BEGUN(l, n) -> write_half(l, n)
#endif
    :: else
    fi;
#endif
    if
    :: L.error & BIT(n) -> meeting_fail(l, g, NOBODY)
    :: !(L.error & BIT(n)) && IS_BEGUN(l, n)
    :: else ->
        assert(L.place[PLACE(n)] < n); /* N is later than what is in the place */
        L.place[PLACE(n)] = n;
        L.posted = L.posted | BIT(n)
#if defined(LENT) && !defined(OLD_WITHDRAWAL)
        ;
        L.withdrawn[PLACE(n)] = 0
#endif
#ifdef SEGMENTS
        ;
        if
        :: n == 2 * shortened - 1 -> L.posted_short = L.meets_short
        :: else
        fi
#endif
    fi
}

#ifdef LENT
/* What is lent is not copied. A source reads nothing. */
inline post_lent(l, n)
{
    assert(L.place[PLACE(n)] < n);
    L.place[PLACE(n)] = n;
    L.posted = L.posted | BIT(n);
#ifndef OLD_WITHDRAWAL
    L.withdrawn[PLACE(n)] = 0;
#endif
    if
    :: HAS_SOURCE(n) -> be_read(l, n)
    :: else
    fi
}

inline be_read(l, n)
{
    L.state[n] = READ;
    L.last_read = (L.last_read < n -> n : L.last_read);
    pass(l)
}

/* Looks again. If all that was read was still lent, it was there all the time. */
inline end_reading(l, n)
{
    if
#ifndef NO_SECOND_LOOK
    :: LENDS(1 - l, n) && IS_WITHDRAWN(1 - l, n) -> L.state[n] = GATHERED
#endif
    :: else ->
        assert(localities[1 - l].place[PLACE(n)] == n);
        assert(!LENDS(1 - l, n) || !IS_GONE(1 - l, n));
        L.state[n] = READ
    fi;
    if
    :: L.error & BIT(n) -> L.state[n] = GATHERED; meeting_fail(l, n, NOBODY)
    :: !(L.error & BIT(n)) && L.state[n] == READ ->
        be_read(l, n);
        if
        :: LENDS(l, n)
        :: else -> move(l, n)
        fi
    :: else
    fi
}
#endif

inline begin_moving(l, n)
{
#ifdef LENT
    L.state[n] = (IS_LENT(n) -> READING : MOVING)
#elif defined(SHARES)
    L.state[n] = (L.state[n] == REDUCED -> MOVING : REDUCING)
#else
    L.state[n] = MOVING
#endif
}

inline move(l, n)
{
    assert(IS_LENT(n) || IS_FULL(l, n)); /* still full: all data was read from there */
#ifdef SOURCE
    assert(POSTS(l, GENERATION(n)) || localities[1 - l].written[PLACE(n)] == 2);
#endif
    L.state[n] = MOVED;
    for (i : 0 .. SITES - 1) {
        if
        :: L.inside[n] & BIT(i) -> endpoints[i].over = endpoints[i].over | BIT(n)
        :: else
        fi
    }
}

#ifdef SHARES
#define IS_READY(l, n)                                                                             \
    ((L.state[n] == GATHERED && IS_FULL(l, n)) ||                                                  \
     (L.state[n] == REDUCED && (localities[1 - (l)].shared & BIT(n))))
inline reduce(l, n)
{
    assert(IS_FULL(l, n));
    L.state[n] = REDUCED;
    L.shared = L.shared | BIT(n);
    if
    :: L.error & BIT(n) -> meeting_fail(l, g, NOBODY)
    :: else
    fi
}
#else
#define IS_READY(l, n) (L.state[n] == GATHERED && IS_FULL(l, n))
#endif

#ifdef NO_ACK
#define IS_READ_BY_ALL(l, n) (L.state[n] == READ)
#elif defined(LENT)
#if defined(LENT_FORGOTTEN) || defined(THROUGH_IGNORED)
#define IS_THROUGH(l, n) false
#else
#define IS_THROUGH(l, n)                                                                           \
    ((l) == 0 -> (endpoints[0].through | endpoints[1].through) & BIT(n)                            \
              : (endpoints[2].through | endpoints[SITES - 1].through) & BIT(n))
#endif
#define IS_READ_BY_ALL(l, n)                                                                       \
    (L.state[n] == READ && (HAVE_PASSED(n) || IS_THROUGH(l, n)))
#else
#define IS_READ_BY_ALL(l, n) false
#endif

#define MAY_BRING(n)                                                                               \
    (L.state[n] == GATHERED && IS_TO_POST(l, n) && IS_NEXT(l, n) && HAS_PLACE(l, n))
#define MAY_MOVE(n) (!IS_TO_POST(l, n) && IS_READY(l, n))
#define MAY_GO_ON(n)                                                                               \
    (L.state[n] == BRINGING || L.state[n] == REDUCING || L.state[n] == READING ||                  \
     L.state[n] == MOVING || MAY_BRING(n) || MAY_MOVE(n) || MAY_READ(l, n) ||                      \
     IS_READ_BY_ALL(l, n))

#ifdef SEGMENTS
#define MAY_GO_ON_MORE (MAY_GO_ON(5) || MAY_GO_ON(6))
#else
#define MAY_GO_ON_MORE false
#endif

inline go_on(l, n)
{
    if
#ifdef SOURCE
    :: L.state[n] == BRINGING && IS_TO_WRITE(l, n) -> write_half(l, n)
    :: L.state[n] == READING -> read_half(l, n)
    :: MAY_READ(l, n) -> L.state[n] = READING
#endif
#ifdef LENT
    :: L.state[n] == GATHERED && IS_TO_POST(l, n) && LENDS(l, n) -> post_lent(l, n)
    :: L.state[n] == READING -> end_reading(l, n)
    :: L.state[n] == READ -> move(l, n)
#endif
    :: L.state[n] == BRINGING && !IS_TO_WRITE(l, n) -> post(l, n)
    :: L.state[n] == MOVING -> move(l, n)
#ifdef SHARES
    :: L.state[n] == REDUCING -> reduce(l, n)
#endif
    :: L.state[n] == REDUCED -> begin_moving(l, n)
    :: L.state[n] == GATHERED && IS_TO_POST(l, n) && !LENDS(l, n) ->
        L.state[n] = BRINGING;
#ifdef SOURCE
        begin_post(l, n)
#endif
    :: L.state[n] == GATHERED && !IS_TO_POST(l, n) && !MAY_READ(l, n) -> begin_moving(l, n)
    fi
}

/* Any process that finds that a meeting can continue: a site's turn, the loop, a crew. */
proctype meetings(byte l)
{
    byte g;
end:
    do
    :: atomic { MAY_GO_ON(1) || MAY_GO_ON(2) || MAY_GO_ON(3) || MAY_GO_ON(4) || MAY_GO_ON_MORE ->
        if
        :: MAY_GO_ON(1) -> g = 1
        :: MAY_GO_ON(2) -> g = 2
        :: MAY_GO_ON(3) -> g = 3
        :: MAY_GO_ON(4) -> g = 4
#ifdef SEGMENTS
        :: MAY_GO_ON(5) -> g = 5
        :: MAY_GO_ON(6) -> g = 6
#endif
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
#ifdef SINGLE
    single = SINGLE;
#endif
#ifdef LENT
    if
    :: lends[0] = ALL_NUMBERS; sourced = ALL_NUMBERS
    :: lends[0] = ALL_NUMBERS; lends[1] = ALL_NUMBERS
    :: lends[0] = BIT(1) | BIT(3); lends[1] = BIT(3) | BIT(4)
    :: lends[1] = BIT(1) | BIT(2); lends[0] = BIT(3) | BIT(4); sourced = lends[0]
    fi;
#endif
#ifdef SOURCE
    if
    :: sourced = BIT(1) | BIT(3)
    :: sourced = BIT(2) | BIT(3) | BIT(4)
    :: sourced = ALL_NUMBERS
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
