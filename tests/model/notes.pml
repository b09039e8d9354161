/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of runtime/net/notes.h, and the noticeboard that leaves and reads them
 * (comm/noticeboard.c, exec/note_steps.c). The model checks:
 * - Every call of every site ends.
 * - What a site reads is the note of its call, and stays so until it has read it.
 * - No call that depends on a site that has not called it ends with OK.
 * - No site has to ask because of a failure, unless another site leaves out what it is asked about,
 *   and all later calls of that place.
 * - When the communicator's number is lent again, all its words are zero.
 *
 * As it is, locality A has the sites 0 and 1, and B has site 2. Each site makes its calls of
 * generations 1 to G in order, with up to W in flight, so places are shared by each W-th
 * generation. What a generation does is drawn: a reduce (the sites of a locality meet, its leader
 * posts, the root reads), a broadcast (the root posts, leaders read, the sites of each locality
 * meet), or both (the last one always does, without -DALL); with any root, and in A with any leader
 * where the root is not there. So sites of one locality use the same place. One site fails at some
 * point, or leaves a generation out; those that depend on it may fail, or stay out as well. What an
 * endpoint does in one turn is one step, except writing, reading, and what is between a post and
 * the look who has posted.
 *
 * With -DTHREE there are three localities of one site each, and a generation may also be a part of
 * a call in which only two of them have notes, while the third one waits for a message of theirs.
 * With -DMEET_FIRST the first generation's root posts after its locality has met, which no plan
 * does today.
 *
 * That has 1,922,002 states, found in 4 s in 410 MB. There are 11,935,234 with -DTHREE, 13,557,386
 * with -DW=2 -DG=4 -DKIND=BOTH, and 5,823,352 with -DALL, compressed in up to 2.7 GB and 65 s
 * (suite long).
 *
 * Simplifications: a site may learn of a failure as soon as it depends on the one that has failed
 * (of these messages board.pml is a model), and does so sooner or later. A meeting within a
 * locality is over when all have come. Whoever is woken looks at once, and then sleeps
 * (doorbell.pml). Cells are not modelled: they change hands as places do.
 *
 * Variants that have an error, which spin must find:
 *   NO_WAIT      a place is used though a reader has not passed the earlier note
 *   PASS_EARLY   a note is passed when it is found, and not when it has been read
 *   NO_SKIP      a call does not pass what was left out before it
 *   NO_COME      a call without notes of its own does not (THREE)
 *   PASS_OVER    passing does not stop below an earlier open call of another site
 *   NO_TURN      a call takes the place although an earlier one has yet to post there (MEET_FIRST)
 *   RETAKE       a place is used though an earlier note is still being written, as its readers have
 *                failed
 *   NO_END       what a failed call has not read stays unread
 *   NO_LAST      whoever posts for one reader wakes nobody
 *   LOOK_FIRST   he looks for the others' notes before he leaves his own (THREE)
 *   NO_WAITING   whoever waits for a place does not say so
 *   NO_SECOND    whoever waits looks first, and then says so
 *   NO_TURN_OVER a post, or the end of a call that has not posted, does not wake its own locality
 *   ASK_READERS  whoever waits for a place asks only those whom the new note is for (THREE, two
 *                faults)
 *   NO_CLEAR     a number is lent again though a locality has not cleared its notes */
#ifndef G
#define G 3
#endif
#ifndef W
#define W 1
#endif
#ifndef FAULTS
#define FAULTS 1
#endif

#define SITES 3
#ifdef THREE
#define LOCALITIES 3
#define LOCALITY_OF(site) (site)
#define ALL_OF(l) BIT(l)
#else
#define LOCALITIES 2
#define LOCALITY_OF(site) ((site) / 2)
#define ALL_OF(l) ((l) == 0 -> 3 : 4)
#endif
#define BIT(i) (1 << (i))
#define PLACE(g) ((g) % W)

/* What a generation does. */
#define REDUCE 0
#define BROADCAST 1
#define BOTH 2
#define PART 3 /* the next site posts to the root; the third one waits for a message of the root */

/* What a site does in a call, in this order. WAIT: it is registered as waiting. */
#define NOT_YET 0
#define UP 1 /* in the meeting on the way up */
#define POST_UP 2
#define LATE_POST_UP 3 /* it has looked in vain */
#define WAIT_POST_UP 4
#define WRITE_UP 5
#define POSTED_UP 6
#define READ_UP 7
#define LATE_READ_UP 8
#define WAIT_READ_UP 9
#define READING_UP 10
#define POST_DOWN 11
#define LATE_POST_DOWN 12
#define WAIT_POST_DOWN 13
#define WRITE_DOWN 14
#define READ_DOWN 15
#define LATE_READ_DOWN 16
#define WAIT_READ_DOWN 17
#define READING_DOWN 18
#define DOWN 19 /* in the meeting on the way down */
#define MESSAGE 20
#define OVER 21

typedef locality {
    byte note[2 * W]; /* the generation in a place, by number and place */
    byte data[2 * W]; /* 0: it is being written */
    byte line[2 * W]; /* the latest generation that has taken the place here */
    byte readers[2 * W]; /* localities, of that */
    byte done[2 * W];
    byte passed[2 * W];
    byte up[G + 1];  /* sites that have come to the meetings of each generation */
    byte down[G + 1]
};

typedef endpoint {
    byte next;
    byte doing[G + 1];
    byte from[G + 1] /* the locality whose note is read next */
};

locality localities[LOCALITIES];
endpoint endpoints[SITES];

byte kind[G + 1];
byte root[G + 1];
byte leader[G + 1]; /* of A, where the root is not there */
byte bad[G + 1];    /* sites that have failed, or left out, that generation */
byte absent[G + 1]; /* sites that never begin it */
byte faults = FAULTS;
byte gone;

hidden byte i, j, low; /* used by `pass` only */
hidden byte m, k, woken; /* used by `alert` and `look` only */
hidden byte h, n, x, y, z, far;

#define L localities[l]
#define E endpoints[me]
#define DOING(site, g) endpoints[site].doing[g]
#define IS_OPEN(site, g) (DOING(site, g) > NOT_YET && DOING(site, g) < OVER)

#ifdef THREE
#define LEADER(l, g) (l)
#else
#define LEADER(l, g) ((l) == 1 -> 2 : (root[g] == 2 -> leader[g] : root[g]))
#endif
#define IS_LEADER(me, g) (LEADER(LOCALITY_OF(me), g) == (me))
#define HAS_UP(g) (kind[g] != BROADCAST)
#define HAS_DOWN(g) (kind[g] == BROADCAST || kind[g] == BOTH)
#define NEXT_SITE(s) ((s) + 1 == SITES -> 0 : (s) + 1)
#define IS_OUTSIDE(me, g) (kind[g] == PART && (me) != root[g] && (me) != NEXT_SITE(root[g]))
#define POSTS(me, n, g)                                                                            \
    ((n) == 0 -> (HAS_UP(g) && IS_LEADER(me, g) && (me) != root[g] && !IS_OUTSIDE(me, g))          \
              : (HAS_DOWN(g) && (me) == root[g]))
#define READS(me, n, g)                                                                            \
    ((n) == 0 -> (HAS_UP(g) && (me) == root[g])                                                    \
              : (HAS_DOWN(g) && IS_LEADER(me, g) && (me) != root[g]))

#ifdef PASS_EARLY
#define FIRST_READ(n) ((n) == 0 -> READING_UP : READING_DOWN)
#else
#define FIRST_READ(n) ((n) == 0 -> POST_DOWN : DOWN)
#endif
#ifdef NO_END
#define IS_UNREAD(me, n, g)                                                                        \
    (READS(me, n, g) &&                                                                            \
     ((DOING(me, g) > NOT_YET && DOING(me, g) < FIRST_READ(n)) || (stuck[g] & BIT(me))))
byte stuck[G + 1];
#else
#define IS_UNREAD(me, n, g)                                                                        \
    (READS(me, n, g) && DOING(me, g) > NOT_YET && DOING(me, g) < FIRST_READ(n))
#endif
#define IS_UNPOSTED(me, n, g)                                                                      \
    (POSTS(me, n, g) && DOING(me, g) > NOT_YET &&                                                  \
     DOING(me, g) < ((n) == 0 -> WRITE_UP : WRITE_DOWN))
#define IS_WRITING(me, n, g)                                                                       \
    (POSTS(me, n, g) && DOING(me, g) == ((n) == 0 -> WRITE_UP : WRITE_DOWN))

#define AT(n, g) ((n) * W + PLACE(g))

/* Places ----------------------------------------------------------------------------------- */

#define HAS_PASSED(l, r, n, g)                                                                     \
    (!(localities[l].readers[AT(n, g)] & BIT(r)) || \
     localities[r].passed[AT(n, g)] >= localities[l].line[AT(n, g)])
#ifdef THREE
#define ARE_PASSED(l, n, g)                                                                        \
    (HAS_PASSED(l, 0, n, g) && HAS_PASSED(l, 1, n, g) && HAS_PASSED(l, 2, n, g))
#else
#define ARE_PASSED(l, n, g) (HAS_PASSED(l, 0, n, g) && HAS_PASSED(l, 1, n, g))
#endif
#ifdef NO_WAIT
#define IS_PASSED(l, n, g) true
#else
#define IS_PASSED(l, n, g) ARE_PASSED(l, n, g)
#endif

/* What the other site of the locality does in an earlier call of the place. */
#define MATE(me) ((me) ^ 1)
#define SHARES(j, g) ((j) < (g) && PLACE(j) == PLACE(g))
#define HAS_MATE(me) (ALL_OF(LOCALITY_OF(me)) == 3)
#if G == 5
#define SHARES_LAST(what, me, n, g)                                                                \
    (SHARES(3, g) && what(MATE(me), n, 3)) || (SHARES(4, g) && what(MATE(me), n, 4))
#else
#define SHARES_LAST(what, me, n, g) (SHARES(3, g) && what(MATE(me), n, 3))
#endif
#define ANY_EARLIER(what, me, n, g)                                                                \
    (HAS_MATE(me) && ((SHARES(1, g) && what(MATE(me), n, 1)) ||                                    \
                      (SHARES(2, g) && what(MATE(me), n, 2)) ||                                    \
                      SHARES_LAST(what, me, n, g)))
#ifdef NO_TURN
#define IS_WANTED_BEFORE(me, n, g) false
#else
#define IS_WANTED_BEFORE(me, n, g) ANY_EARLIER(IS_UNPOSTED, me, n, g)
#endif
#ifdef RETAKE
#define IS_WRITTEN_BEFORE(me, n, g) false
#else
#define IS_WRITTEN_BEFORE(me, n, g) ANY_EARLIER(IS_WRITING, me, n, g)
#endif
#define HAS_PLACE(me, l, n, g)                                                                     \
    (localities[l].line[AT(n, g)] < (g) && !IS_WANTED_BEFORE(me, n, g) && \
     !IS_WRITTEN_BEFORE(me, n, g) && \
     IS_PASSED(l, n, g))
#define IS_THERE(l, f, n, g)                                                                    \
    (localities[f].note[AT(n, g)] == (g) && localities[l].passed[AT(n, g)] < (g))

/* Whether what the site waits for is there. */
#define IS_READY(me, l, g)                                                                         \
    ((DOING(me, g) == WAIT_POST_UP && HAS_PLACE(me, l, 0, g)) ||                                  \
      (DOING(me, g) == WAIT_POST_DOWN && HAS_PLACE(me, l, 1, g)) ||                                \
      (DOING(me, g) == WAIT_READ_UP && IS_THERE(l, endpoints[me].from[g], 0, g)) ||                \
      (DOING(me, g) == WAIT_READ_DOWN && IS_THERE(l, LOCALITY_OF(root[g]), 1, g)))

#define READERS_UP(g) BIT(LOCALITY_OF(root[g]))
#define READERS_DOWN(g) ((BIT(LOCALITIES) - 1) & ~BIT(LOCALITY_OF(root[g])))

/* Waking ----------------------------------------------------------------------------------- */

#define WAITS_FOR_PLACE(me, g) (DOING(me, g) == WAIT_POST_UP || DOING(me, g) == WAIT_POST_DOWN)
#if G == 3
#define ANY_PLACE(me) (WAITS_FOR_PLACE(me, 1) || WAITS_FOR_PLACE(me, 2) || WAITS_FOR_PLACE(me, 3))
#elif G == 4
#define ANY_PLACE(me)                                                                              \
    (WAITS_FOR_PLACE(me, 1) || WAITS_FOR_PLACE(me, 2) || WAITS_FOR_PLACE(me, 3) ||                 \
     WAITS_FOR_PLACE(me, 4))
#else
#define ANY_PLACE(me)                                                                              \
    (WAITS_FOR_PLACE(me, 1) || WAITS_FOR_PLACE(me, 2) || WAITS_FOR_PLACE(me, 3) ||                 \
     WAITS_FOR_PLACE(me, 4) || WAITS_FOR_PLACE(me, 5))
#endif
#ifdef NO_WAITING
#define ANY_WAITING false
#else
#define ANY_WAITING (ANY_PLACE(0) || ANY_PLACE(1) || ANY_PLACE(2))
#endif

inline alert(who)
{
    woken = woken | (who)
}

/* At the end of a step. Those who are woken look at once. Whatever is ready goes on. */
inline look()
{
    for (m : 0 .. SITES - 1) {
        for (k : 1 .. G) {
            if
            :: (woken & BIT(LOCALITY_OF(m))) && IS_READY(m, LOCALITY_OF(m), k) ->
                endpoints[m].doing[k] = endpoints[m].doing[k] - 2
            :: else
            fi
        }
    }
    woken = 0
}

inline alert_if_waiting(l)
{
#ifndef NO_TURN_OVER
    if
    :: ANY_WAITING -> alert(BIT(l))
    :: else
    fi
#else
    skip
#endif
}

/* Passing ---------------------------------------------------------------------------------- */

inline pass(l, n, g)
{
    low = L.done[AT(n, g)];
#ifndef PASS_OVER
    for (i : 0 .. SITES - 1) {
        for (j : 1 .. G) {
            if
            :: LOCALITY_OF(i) == l && PLACE(j) == PLACE(g) && j <= low && IS_UNREAD(i, n, j) ->
                low = j - 1
            :: else
            fi
        }
    }
#endif
    if
    :: low > L.passed[AT(n, g)] ->
        L.passed[AT(n, g)] = low;
        if
        :: ANY_WAITING -> alert(BIT(LOCALITIES) - 1)
        :: else
        fi
    :: else
    fi
}

inline set_done(l, n, g)
{
    if
    :: g > L.done[AT(n, g)] -> L.done[AT(n, g)] = g
    :: else
    fi;
    pass(l, n, g)
}

inline pass_left_out(l, g)
{
#ifndef NO_SKIP
    for (h : 1 .. g - W) {
        for (n : 0 .. 1) {
            if
            :: L.passed[AT(n, h)] < h -> set_done(l, n, h)
            :: else
            fi
        }
    }
#else
    skip
#endif
}

/* Leaving notes ---------------------------------------------------------------------------- */

inline take_place(l, n, g)
{
    L.line[AT(n, g)] = g;
    L.readers[AT(n, g)] = (n == 0 -> READERS_UP(g) : READERS_DOWN(g));
    L.data[AT(n, g)] = 0
}

inline write(l, n, g)
{
    L.data[AT(n, g)] = g;
    L.note[AT(n, g)] = g
}

/* Whether all others who post for the root have done so. */
#define IS_LATE(l, f, g)                                                                           \
    ((f) != (l) && (f) != LOCALITY_OF(root[g]) && POSTS(LEADER(f, g), 0, g) &&                     \
     localities[f].note[AT(0, g)] != (g))
#ifdef THREE
#define ALL_HAVE_POSTED(l, g) (!IS_LATE(l, 0, g) && !IS_LATE(l, 1, g) && !IS_LATE(l, 2, g))
#else
#define ALL_HAVE_POSTED(l, g) (!IS_LATE(l, 0, g) && !IS_LATE(l, 1, g))
#endif
#ifdef LOOK_FIRST
#define IS_LAST(me, l, g) (E.from[g] == 1)
#else
#define IS_LAST(me, l, g) ALL_HAVE_POSTED(l, g)
#endif

inline wake_root(me, l, g)
{
#ifndef NO_LAST
    if
    :: IS_LAST(me, l, g) -> alert(READERS_UP(g))
    :: else
    fi;
#endif
    alert_if_waiting(l)
}

/* Calls ------------------------------------------------------------------------------------ */

/* Sites. */
#define INSIDE(g) (kind[g] == PART -> BIT(root[g]) | BIT(NEXT_SITE(root[g])) : BIT(SITES) - 1)
#define DEPENDS_ON(me, l, g)                                                                       \
    (kind[g] == BOTH || (HAS_UP(g) && me == root[g]) || IS_OUTSIDE(me, g)                          \
         -> INSIDE(g)                                                                              \
         : (ALL_OF(l) | (HAS_DOWN(g) -> BIT(root[g]) : 0)))

inline end_ok(me, l, g)
{
    assert(!(absent[g] & DEPENDS_ON(me, l, g)));
    E.doing[g] = OVER
}

inline end_bad(me, l, g)
{
    x = (IS_UNREAD(me, 0, g) -> 1 : 0) + (IS_UNREAD(me, 1, g) -> 2 : 0);
    bad[g] = bad[g] | BIT(me);
    if
    :: L.up[g] != ALL_OF(l) -> L.up[g] = L.up[g] & ~BIT(me)
    :: else
    fi;
    L.down[g] = L.down[g] & ~BIT(me);
    E.doing[g] = OVER;
    E.from[g] = 0;
#ifdef NO_END
    stuck[g] = stuck[g] | (x -> BIT(me) : 0);
#endif
    for (n : 0 .. 1) {
        if
        :: x & BIT(n) -> set_done(l, n, g)
        :: else
        fi
    }
    alert_if_waiting(l)
}

#ifdef MEET_FIRST
#define POSTS_LATE(me, g) ((g) == 1 && kind[g] == BROADCAST && (me) == root[g])
#else
#define POSTS_LATE(me, g) false
#endif

inline go_down(me, l, g)
{
    E.doing[g] = DOWN;
    L.down[g] = L.down[g] | BIT(me);
    if
    :: L.down[g] == ALL_OF(l) ->
        for (z : 0 .. SITES - 1) {
            if
            :: LOCALITY_OF(z) == l && !POSTS_LATE(z, g) -> end_ok(z, l, g)
            :: LOCALITY_OF(z) == l && POSTS_LATE(z, g) -> endpoints[z].doing[g] = POST_DOWN
            :: else
            fi
        }
    :: else
    fi
}

/* The notes that come from other localities, the next one after FROM. */
#define IS_SOURCE(f, g) (POSTS(LEADER(f, g), 0, g))
inline find_source(me, g)
{
    do
    :: E.from[g] < LOCALITIES && !IS_SOURCE(E.from[g], g) -> E.from[g] = E.from[g] + 1
    :: else -> break
    od
}

/* The meeting on the way up is over, or there is none. */
inline go_up(me, l, g)
{
    if
    :: IS_OUTSIDE(me, g) -> E.doing[g] = MESSAGE
    :: HAS_UP(g) && me == root[g] -> E.doing[g] = READ_UP; find_source(me, g)
    :: HAS_UP(g) && me != root[g] && IS_LEADER(me, g) && !IS_OUTSIDE(me, g) ->
        E.doing[g] = POST_UP
    :: HAS_UP(g) && !IS_LEADER(me, g) && kind[g] == BOTH -> go_down(me, l, g)
    :: HAS_UP(g) && !IS_LEADER(me, g) && kind[g] != BOTH -> end_ok(me, l, g)
    :: !HAS_UP(g) && me == root[g] && !POSTS_LATE(me, g) -> E.doing[g] = POST_DOWN
    :: !HAS_UP(g) && me == root[g] && POSTS_LATE(me, g) -> go_down(me, l, g)
    :: !HAS_UP(g) && me != root[g] && IS_LEADER(me, g) -> E.doing[g] = READ_DOWN
    :: !HAS_UP(g) && !IS_LEADER(me, g) -> go_down(me, l, g)
    fi
}

#ifdef NO_COME
#define COMES(me, g) (!IS_OUTSIDE(me, g))
#else
#define COMES(me, g) true
#endif

inline begin(me, l, g)
{
    E.next++;
    E.doing[g] = UP;
    if
    :: COMES(me, g) -> pass_left_out(l, g)
    :: else
    fi;
    if
    :: HAS_UP(g) -> L.up[g] = L.up[g] | BIT(me)
    :: else
    fi;
    if
    :: !HAS_UP(g) || L.up[g] == ALL_OF(l) ->
        for (y : 0 .. SITES - 1) {
            if
            :: y == me || (HAS_UP(g) && LOCALITY_OF(y) == l) -> go_up(y, l, g)
            :: else
            fi
        }
    :: else
    fi
}

inline leave_out(me, g)
{
    absent[g] = absent[g] | BIT(me);
    bad[g] = bad[g] | BIT(me);
    E.doing[g] = OVER;
    E.next++
}

/* Failures --------------------------------------------------------------------------------- */

/* Whether another site of the locality has failed, for which a meeting waits. */
#define MISSES_UP(me, l, g)                                                                        \
    (HAS_UP(g) && (bad[g] & ALL_OF(l) & ~BIT(me)) && localities[l].up[g] != ALL_OF(l))
#define MISSES_DOWN(me, l, g)                                                                      \
    (HAS_DOWN(g) && (bad[g] & ALL_OF(l) & ~BIT(me)) && localities[l].down[g] != ALL_OF(l))
#define HAS_FAILED(site, g) (bad[g] & BIT(site))
#define MISSES_SOURCE(f, g)                                                                        \
    (IS_SOURCE(f, g) && HAS_FAILED(LEADER(f, g), g) && localities[f].note[AT(0, g)] != (g))
#ifdef THREE
#define MISSES_ANY(g) (MISSES_SOURCE(0, g) || MISSES_SOURCE(1, g) || MISSES_SOURCE(2, g))
#else
#define MISSES_ANY(g) (MISSES_SOURCE(0, g) || MISSES_SOURCE(1, g))
#endif
#define MISSES_ROOT(me, l, g)                                                                      \
    (HAS_DOWN(g) && (me) != root[g] && HAS_FAILED(root[g], g) && DOING(me, g) < READING_DOWN &&    \
     localities[LOCALITY_OF(root[g])].note[AT(1, g)] != (g))

/* Not in the middle of a turn, and not while the user's operation reads a note. */
#define IS_BUSY(me, g)                                                                             \
    (DOING(me, g) == WRITE_UP || DOING(me, g) == POSTED_UP || DOING(me, g) == WRITE_DOWN ||        \
     DOING(me, g) == READING_UP || DOING(me, g) == READING_DOWN)
#define IS_TOLD(me, l, g)                                                                          \
    (MISSES_UP(me, l, g) || MISSES_DOWN(me, l, g) ||                                               \
     (READS(me, 0, g) && DOING(me, g) < READING_UP && MISSES_ANY(g)) ||                            \
     MISSES_ROOT(me, l, g) || (DOING(me, g) == MESSAGE && bad[g]))

#define MAY_FAIL(me, l, g) (IS_OPEN(me, g) && !IS_BUSY(me, g) && (faults > 0 || IS_TOLD(me, l, g)))

/* When nothing else can happen, who waits for a place asks the first site of each locality that has
 * not passed it, whether or not the new note is for that one. */
#define NUMBER(me, g) (DOING(me, g) == WAIT_POST_DOWN)
#ifdef THREE
#define FIRST_SITE(r) (r)
#else
#define FIRST_SITE(r) (2 * (r))
#endif
#ifdef ASK_READERS
#define IS_ASKED(r, n, g) (((n) == 0 -> READERS_UP(g) : READERS_DOWN(g)) & BIT(r))
#else
#define IS_ASKED(r, n, g) true
#endif
#define NEEDS(me, r, n, g)                                                                         \
    (IS_ASKED(r, n, g) && !HAS_PASSED(l, r, n, g) && HAS_FAILED(FIRST_SITE(r), g))
#ifdef THREE
#define NEEDS_ANY(me, n, g) (NEEDS(me, 0, n, g) || NEEDS(me, 1, n, g) || NEEDS(me, 2, n, g))
#else
#define NEEDS_ANY(me, n, g) (NEEDS(me, 0, n, g) || NEEDS(me, 1, n, g))
#endif
#define MAY_ASK(me, l, g) (WAITS_FOR_PLACE(me, g) && NEEDS_ANY(me, NUMBER(me, g), g))

/* Steps ------------------------------------------------------------------------------------ */

#ifdef NO_SECOND
#define WAITING(doing) ((doing) + 1)
#else
#define WAITING(doing) ((doing) + 2)
#endif

inline try_post(me, l, n, g)
{
    if
    :: HAS_PLACE(me, l, n, g) ->
        take_place(l, n, g);
        E.doing[g] = (n == 0 -> WRITE_UP : WRITE_DOWN)
    :: else -> E.doing[g] = WAITING(E.doing[g])
    fi
}

inline try_read(me, l, f, n, g)
{
    if
    :: IS_THERE(l, f, n, g) ->
        assert(localities[f].data[AT(n, g)] == g);
        E.doing[g] = (n == 0 -> READING_UP : READING_DOWN);
#ifdef PASS_EARLY
        set_done(l, n, g)
#endif
    :: else -> E.doing[g] = WAITING(E.doing[g])
    fi
}

inline have_read_up(me, l, g)
{
    assert(localities[E.from[g]].data[AT(0, g)] == g);
    E.from[g] = E.from[g] + 1;
    find_source(me, g);
    if
    :: E.from[g] < LOCALITIES -> E.doing[g] = READ_UP
    :: else ->
        E.from[g] = 0;
        E.doing[g] = POST_DOWN; /* so it is read */
        set_done(l, 0, g);
        if
        :: kind[g] != BOTH -> end_ok(me, l, g)
        :: else
        fi
    fi
}

inline have_posted_up(me, l, g)
{
    if
    :: kind[g] == BOTH -> E.doing[g] = READ_DOWN
    :: else -> end_ok(me, l, g)
    fi
}

#define CAN_GO_ON(me, l, g)                                                                        \
    (IS_OPEN(me, g) && DOING(me, g) != UP && DOING(me, g) != DOWN &&                               \
     DOING(me, g) != WAIT_POST_UP && DOING(me, g) != WAIT_READ_UP && \
     DOING(me, g) != WAIT_POST_DOWN && \
     DOING(me, g) != WAIT_READ_DOWN &&                                                             \
     (DOING(me, g) != MESSAGE || (DOING(root[g], g) == OVER && !HAS_FAILED(root[g], g))))

inline go_on(me, l, g)
{
    if
    :: E.doing[g] == POST_UP -> try_post(me, l, 0, g)
    :: E.doing[g] == WRITE_UP ->
#ifdef LOOK_FIRST
        E.from[g] = (ALL_HAVE_POSTED(l, g) -> 1 : 0);
#else
        write(l, 0, g);
#endif
        E.doing[g] = POSTED_UP
    :: E.doing[g] == POSTED_UP ->
#ifdef LOOK_FIRST
        write(l, 0, g);
#endif
        wake_root(me, l, g);
        E.from[g] = 0;
        have_posted_up(me, l, g)
    :: E.doing[g] == READ_UP -> far = E.from[g]; try_read(me, l, far, 0, g)
    :: E.doing[g] == READING_UP -> have_read_up(me, l, g)
    :: E.doing[g] == POST_DOWN -> try_post(me, l, 1, g)
    :: E.doing[g] == WRITE_DOWN ->
        write(l, 1, g);
        alert(READERS_DOWN(g));
        alert_if_waiting(l);
        if
        :: POSTS_LATE(me, g) -> end_ok(me, l, g)
        :: else -> go_down(me, l, g)
        fi
    :: E.doing[g] == READ_DOWN -> far = LOCALITY_OF(root[g]); try_read(me, l, far, 1, g)
    :: E.doing[g] == READING_DOWN ->
        assert(localities[LOCALITY_OF(root[g])].data[AT(1, g)] == g);
        E.doing[g] = DOWN;
        set_done(l, 1, g);
        go_down(me, l, g)
    :: E.doing[g] == MESSAGE -> end_ok(me, l, g)
    :: E.doing[g] == LATE_POST_UP || E.doing[g] == LATE_READ_UP || E.doing[g] == LATE_POST_DOWN ||
       E.doing[g] == LATE_READ_DOWN -> E.doing[g] = E.doing[g] + 1
    fi
}

/* Processes -------------------------------------------------------------------------------- */

#if G == 3
#define ANY(what, me, l) (what(me, l, 1) || what(me, l, 2) || what(me, l, 3))
#define PICK(what, me, l)                                                                          \
    if                                                                                             \
    :: what(me, l, 1) -> g = 1                                                                     \
    :: what(me, l, 2) -> g = 2                                                                     \
    :: what(me, l, 3) -> g = 3                                                                     \
    fi
#elif G == 4
#define ANY(what, me, l) (what(me, l, 1) || what(me, l, 2) || what(me, l, 3) || what(me, l, 4))
#define PICK(what, me, l)                                                                          \
    if                                                                                             \
    :: what(me, l, 1) -> g = 1                                                                     \
    :: what(me, l, 2) -> g = 2                                                                     \
    :: what(me, l, 3) -> g = 3                                                                     \
    :: what(me, l, 4) -> g = 4                                                                     \
    fi
#else
#define ANY(what, me, l)                                                                           \
    (what(me, l, 1) || what(me, l, 2) || what(me, l, 3) || what(me, l, 4) || what(me, l, 5))
#define PICK(what, me, l)                                                                          \
    if                                                                                             \
    :: what(me, l, 1) -> g = 1                                                                     \
    :: what(me, l, 2) -> g = 2                                                                     \
    :: what(me, l, 3) -> g = 3                                                                     \
    :: what(me, l, 4) -> g = 4                                                                     \
    :: what(me, l, 5) -> g = 5                                                                     \
    fi
#endif

/* The window goes from the oldest call in flight. */
#define FITS(me, g) ((g) <= W || DOING(me, (g) - W) == OVER)
#define IS_STILL_OPEN(me, l, g) IS_OPEN(me, g)
#define MAY_CALL (E.next <= G && FITS(me, E.next))

proctype site(byte me; byte l)
{
    byte g;
    do
    :: d_step { MAY_CALL -> g = E.next; begin(me, l, g); look(); g = 0 }
    :: d_step { MAY_CALL && (faults > 0 || bad[E.next]) ->
        if
        :: !bad[E.next] -> faults--
        :: else
        fi;
        leave_out(me, E.next) }
    :: atomic { ANY(CAN_GO_ON, me, l) ->
        PICK(CAN_GO_ON, me, l);
        d_step { go_on(me, l, g); look(); g = 0 } }
    :: atomic { ANY(MAY_FAIL, me, l) ->
        PICK(MAY_FAIL, me, l);
        d_step {
            if
            :: !IS_TOLD(me, l, g) -> faults--
            :: else
            fi;
            end_bad(me, l, g);
            look();
            g = 0 } }
    :: atomic { timeout && ANY(MAY_ASK, me, l) ->
        PICK(MAY_ASK, me, l);
        assert(g + W > G || (absent[g + W]));
        d_step { end_bad(me, l, g); look(); g = 0 } }
    :: E.next > G && !ANY(IS_STILL_OPEN, me, l) -> break
    od
}

#define ALL_ARE_OVER                                                                               \
    (endpoints[0].next > G && endpoints[1].next > G && endpoints[2].next > G &&                    \
     !ANY(IS_STILL_OPEN, 0, 0) && !ANY(IS_STILL_OPEN, 1, 0) && !ANY(IS_STILL_OPEN, 2, 0))

/* The group is freed. The last locality gives the number back. */
inline clear(l)
{
    for (j : 0 .. 2 * W - 1) {
#ifdef NO_CLEAR
        if
        :: l > 0 -> L.note[j] = 0; L.passed[j] = 0
        :: else
        fi
#else
        L.note[j] = 0;
        L.passed[j] = 0
#endif
    }
    gone++;
    if
    :: gone == LOCALITIES ->
        for (n : 0 .. LOCALITIES - 1) {
            for (j : 0 .. 2 * W - 1) {
                assert(localities[n].note[j] == 0 && localities[n].passed[j] == 0)
            }
        }
    :: else
    fi
}

proctype end_of(byte l)
{
    d_step { ALL_ARE_OVER -> clear(l) }
}

init
{
    byte g;
    d_step {
        for (g : 0 .. SITES - 1) {
            endpoints[g].next = 1
        }
        g = 1
    }
    do
    :: g <= G ->
#ifdef KIND
        kind[g] = KIND;
#else
        if
#if defined(ALL) || G > 3
        :: kind[g] = REDUCE
        :: kind[g] = BROADCAST
#else
        :: g < 3 -> kind[g] = REDUCE
        :: g < 3 -> kind[g] = BROADCAST
#endif
        :: kind[g] = BOTH
#ifdef THREE
        :: kind[g] = PART
#endif
        fi;
#endif
        if
        :: root[g] = 0
        :: root[g] = 2
#ifdef THREE
        :: g > 1 -> root[g] = 1
#else
        :: g > 1 -> root[g] = 1
        :: g > 1 -> root[g] = 2; leader[g] = 1
#endif
        fi;
        g++
    :: else -> break
    od;
    atomic {
        g = 0;
        run end_of(0);
        run end_of(1);
#ifdef THREE
        run end_of(2);
#endif
        run site(0, LOCALITY_OF(0));
        run site(1, LOCALITY_OF(1));
        run site(2, LOCALITY_OF(2))
    }
}
