/* SPDX-License-Identifier: Apache-2.0 */
/* Taking back one generation of a communicator (collectives/comm/verdict.c, hold.c).
 *
 * There are two localities: A, which decides, has the sites 0 and 1, and B has site 2. Each site
 * may make its call of the generation at any time, or never. A call ends when all sites that it
 * needs have called; while works are at its buffers it is busy. Two sites ask for the generation to
 * be taken back, at any time. Site 1 is made at any time: what has been begun by then freezes it as
 * it is made, and tells it as it has frozen if the others are being told, or have been.
 *
 * A locality freezes its sites, each in a turn of its own: the end of the call is held back, or a
 * mark is left, so that a call that is still to come does not start before the verdict. When all
 * have frozen it votes. When all votes are there A decides, and all sites learn it. A locality
 * whose sites have all passed the generation says so; A forgets the verdict when all have. Messages
 * overtake each other.
 *
 * Checked is
 * - that who has called has a result in the end, if anybody has asked;
 * - that no site has OK while another one has been refused, if all sites depend on each other and
 *   nobody has died (not with EMPTY and ROOTED);
 * - that all who have no OK are refused, those too who call later;
 * - that nobody is at the buffers of a call that has a result;
 * - that no site is told twice.
 *
 * More that has no error: EMPTY: site 0 needs no other one, as where the blocks for it are empty.
 * ROOTED: the same, in a collective whose sites complete alone. DEATHS: a locality may die at any
 * time; then all calls that have not ended fail.
 *
 * Simplifications: memory is sequentially consistent; failures are not passed on by the calls.
 *
 * Variants that have an error, which spin must find:
 *   NO_MARK         who calls after its vote is not frozen
 *   MARK_HOLDS      who calls after its vote starts, and only its end is held back
 *   NO_HOLD         a frozen call that ends completes at once
 *   VOTE_EARLY      a locality votes when its first site has frozen
 *   ALWAYS_WON      it is not looked whether somebody has OK
 *   DROP_MARK       who calls after the verdict is not refused
 *   TOLD_AS_MADE    who is told is looked up while it is done, not when it is decided
 *   MADE_UNTOLD     (DEATHS) who is made after the decision is not told
 *   CALL_FIRST      who is made may call before it freezes
 *   TELL_BUSY       a frozen call completes with the verdict, though works are at its buffers
 *   LOST_ON_ANY_OK  (EMPTY) one OK is enough, even if somebody has not called yet
 *   FORGET_EARLY    (EMPTY) A forgets the verdict when its own sites have passed
 *   NO_RELEASE      (DEATHS) after a death what is undecided stays so
 *   KEEP_MARK       (DEATHS) a mark stays after a death */
#ifdef ROOTED
#define EMPTY
#endif
#define A 0
#define B 1
#define AT(site) (site / 2)

mtype = { PENDING, OK, REFUSED, DIED };             /* what the caller's future has */
mtype = { NONE, FREEZING, VOTED, LOST, WON };       /* how a verdict stands in a locality */
mtype = { NOTHING, NOT_CALLED, FROZEN, HAS_OK, HAS_FAILED };

bit is_alive[2] = 1;
bit has_died;      /* and the other locality knows it */
bit made[3];
bit silent[3];     /* never calls */
bit called[3];     /* and the call has started */
bit busy[3];
bit ended[3];      /* the call itself is over */
bit failing[3];
mtype result[3] = PENDING;
bit mark[3];
bit held[3];       /* the end of the call is held back */
mtype vote[3] = NOTHING;
mtype state[2] = NONE;
bit freeze_item[3];
bit to_tell[2], told[2]; /* of A's sites: is to be told, and has been decided to be */
bit result_item[3];
byte asks;         /* that are on their way to A */
byte num_asked;
bit freeze_message, vote_message, lost_message, won_message, passed_message;
bit has_vote_of_b, has_b_passed;

#ifdef EMPTY
#define CAN_END(me) (me == 0 || (called[0] && called[1] && called[2]))
#else
#define CAN_END(me) (called[0] && called[1] && called[2])
#endif

inline complete(me, what)
{
    assert(!busy[me] && result[me] == PENDING);
    result[me] = what;
    held[me] = 0
}

/* In A, of a site that is there. */
inline tell(me)
{
    assert(!result_item[me]);
    to_tell[me] = 0;
    result_item[me] = 1
}

inline freeze(me)
{
    freeze_item[me] = 0;
    if
    :: !called[me] && result[me] == PENDING ->
        vote[me] = NOT_CALLED;
#ifndef NO_MARK
        mark[me] = 1;
#endif
        skip
    :: called[me] && result[me] == PENDING && !failing[me] -> vote[me] = FROZEN; held[me] = 1
    :: result[me] == OK -> vote[me] = HAS_OK
    :: else -> vote[me] = HAS_FAILED
    fi;
#ifndef MADE_UNTOLD
    if
    :: AT(me) == A && (state[A] == LOST || state[A] == WON) && !told[me] ->
        told[me] = 1;
        tell(me)
    :: else
    fi
#endif
}

inline apply(me)
{
    result_item[me] = 0;
    if
    :: held[me] && ended[me] -> complete(me, (state[AT(me)] == WON -> REFUSED : OK))
    :: held[me] && !ended[me] && state[AT(me)] == WON ->
        failing[me] = 1;
#ifdef TELL_BUSY
        complete(me, REFUSED);
#endif
        skip
    :: mark[me] && state[AT(me)] == LOST ->
#ifndef KEEP_MARK
        mark[me] = 0;
#endif
        skip
    :: mark[me] && state[AT(me)] == WON ->
#ifdef DROP_MARK
        mark[me] = 0;
#endif
        skip
    :: else
    fi
}

inline call(me)
{
    if
    :: mark[me] && state[AT(me)] == WON -> mark[me] = 0; complete(me, REFUSED)
    :: else ->
        called[me] = 1;
        busy[me] = 1;
        held[me] = mark[me];
        mark[me] = 0
    fi
}

inline finish(me)
{
    ended[me] = 1;
    if
#ifdef NO_HOLD
    :: 1 -> complete(me, OK)
#else
    :: held[me] && state[AT(me)] == WON -> complete(me, REFUSED)
    :: held[me] && (state[AT(me)] == FREEZING || state[AT(me)] == VOTED)
    :: else -> complete(me, OK)
#endif
    fi
}

#ifdef MARK_HOLDS
#define MAY_START(me) 1
#else
#define MAY_START(me) (!mark[me] || state[AT(me)] == WON)
#endif

/* Each step is a turn of the site's endpoint. */
proctype site(byte me)
{
    if
    :: silent[me] = 0
    :: silent[me] = 1
    fi;
end:
    do
    :: atomic { is_alive[AT(me)] && made[me] && !silent[me] && !called[me] &&
                result[me] == PENDING && MAY_START(me) -> call(me) }
    :: atomic { is_alive[AT(me)] && busy[me] -> busy[me] = 0; assert(result[me] == PENDING) }
    :: atomic { is_alive[AT(me)] && called[me] && !ended[me] && !busy[me] && failing[me] ->
                ended[me] = 1;
                complete(me, (has_died -> DIED : REFUSED)) }
    :: atomic { is_alive[AT(me)] && called[me] && !ended[me] && !busy[me] && !failing[me] &&
                CAN_END(me) -> finish(me) }
    :: atomic { is_alive[AT(me)] && has_died && called[me] && !ended[me] && !failing[me] ->
                failing[me] = 1 }
    :: atomic { is_alive[AT(me)] && freeze_item[me] -> freeze(me) }
    :: atomic { is_alive[AT(me)] && result_item[me] -> apply(me) }
    od
}

#define HAS_FROZEN(me) (!freeze_item[me] && vote[me] != NOTHING)
#define HAS_PASSED(me) (!result_item[me] && !held[me] && !mark[me])
#define HAS_PASSED_A(me) (made[me] && told[me] && !to_tell[me] && HAS_PASSED(me))
#ifdef VOTE_EARLY
#define A_HAS_FROZEN HAS_FROZEN(0)
#else
#define A_HAS_FROZEN (HAS_FROZEN(0) && HAS_FROZEN(1))
#endif
#ifdef FORGET_EARLY
#define MAY_FORGET 1
#else
#define MAY_FORGET (has_b_passed || has_died)
#endif

inline tell_all()
{
    told[0] = 1;
    told[1] = made[1];
    to_tell[0] = 1;
    to_tell[1] = made[1]
}

#ifdef TOLD_AS_MADE
#define IS_TO_BE_TOLD(me) (to_tell[me] || (to_tell[0] && told[me]))
#else
#define IS_TO_BE_TOLD(me) to_tell[me]
#endif

inline decide()
{
    any_ok = vote[0] == HAS_OK || vote[1] == HAS_OK || vote[2] == HAS_OK;
    has_all = vote[0] != NOT_CALLED && vote[1] != NOT_CALLED && vote[2] != NOT_CALLED;
#ifdef LOST_ON_ANY_OK
    has_all = 1;
#endif
#ifdef ALWAYS_WON
    any_ok = 0;
#endif
#ifdef ROOTED
    any_ok = 0;
#endif
    if
    :: any_ok && has_all -> state[A] = LOST; lost_message = 1
    :: else -> state[A] = WON; won_message = 1
    fi;
    any_ok = 0;
    has_all = 0;
    tell_all()
}

proctype locality_a()
{
    bit any_ok, has_all;
end:
    do
    :: atomic { is_alive[A] && asks > 0 ->
        asks--;
        if
        :: state[A] == NONE && !has_died ->
            state[A] = FREEZING;
            vote[0] = NOTHING;
            vote[1] = (made[1] -> NOTHING : NOT_CALLED);
            freeze_item[0] = 1;
            freeze_item[1] = made[1];
            has_vote_of_b = 0;
            has_b_passed = 0;
            freeze_message = 1
        :: else
        fi }
    :: atomic { is_alive[A] && state[A] == FREEZING && A_HAS_FROZEN && has_vote_of_b &&
                !has_died -> decide() }
    :: atomic { is_alive[A] && vote_message -> vote_message = 0; has_vote_of_b = 1 }
    :: atomic { is_alive[A] && passed_message -> passed_message = 0; has_b_passed = 1 }
    :: atomic { is_alive[A] && (state[A] == LOST || state[A] == WON) && HAS_PASSED_A(0) &&
                HAS_PASSED_A(1) && MAY_FORGET ->
        state[A] = NONE;
        told[0] = 0;
        told[1] = 0 }
    :: atomic { is_alive[A] && IS_TO_BE_TOLD(1) -> tell(1) }
    :: atomic { is_alive[A] && IS_TO_BE_TOLD(0) -> tell(0) }
#ifndef NO_RELEASE
    :: atomic { is_alive[A] && state[A] == FREEZING && HAS_FROZEN(0) && HAS_FROZEN(1) &&
                has_died ->
        state[A] = LOST;
        tell_all() }
#endif
    od
}

proctype locality_b()
{
end:
    do
    :: atomic { is_alive[B] && freeze_message ->
        freeze_message = 0;
        if
        :: state[B] == NONE && !has_died ->
            state[B] = FREEZING;
            vote[2] = NOTHING;
            freeze_item[2] = 1
        :: state[B] == VOTED -> vote_message = 1
        :: else
        fi }
    :: atomic { is_alive[B] && state[B] == FREEZING && HAS_FROZEN(2) ->
        state[B] = VOTED;
        vote_message = 1 }
    :: atomic { is_alive[B] && lost_message ->
        lost_message = 0;
        if
        :: state[B] == VOTED -> state[B] = LOST; result_item[2] = 1
        :: else
        fi }
    :: atomic { is_alive[B] && won_message ->
        won_message = 0;
        if
        :: state[B] == VOTED -> state[B] = WON; result_item[2] = 1
        :: else
        fi }
    :: atomic { is_alive[B] && (state[B] == LOST || state[B] == WON) && HAS_PASSED(2) ->
        state[B] = NONE;
        passed_message = 1 }
#ifndef NO_RELEASE
    :: atomic { is_alive[B] && state[B] == VOTED && has_died ->
        state[B] = LOST;
        result_item[2] = 1 }
#endif
    od
}

proctype maker()
{
    atomic {
        made[1] = 1;
        freeze_item[1] = state[A] != NONE;
#ifndef CALL_FIRST
        if
        :: freeze_item[1] -> freeze(1)
        :: else
        fi
#endif
    }
}

proctype asker()
{
    do
    :: num_asked < 2 -> atomic { asks++; num_asked++ }
    :: num_asked == 2 -> break
    od
}

proctype death()
{
    if
    :: is_alive[A] = 0
    :: is_alive[B] = 0
    fi;
    has_died = 1
}

#define IS_FINE(me) (!is_alive[AT(me)] || silent[me] || result[me] != PENDING)
#define IS_REFUSED(me) (silent[me] || result[me] == REFUSED || result[me] == OK)
#define IS_OK(me) (silent[me] || result[me] == OK)

init
{
    atomic {
        made[0] = 1;
        made[2] = 1;
        run locality_a();
        run locality_b();
        run site(0);
        run site(1);
        run site(2);
        run asker();
        run maker();
#ifdef DEATHS
        run death()
#endif
    };
    timeout;
    assert(num_asked == 2 && IS_FINE(0) && IS_FINE(1) && IS_FINE(2));
    assert(state[A] == NONE || state[A] == WON || !is_alive[A]);
#ifdef DEATHS
    assert(is_alive[A] || (!mark[2] || state[B] == WON));
    assert(is_alive[B] || ((!mark[0] && !mark[1]) || state[A] == WON));
#else
    assert(IS_REFUSED(0) && IS_REFUSED(1) && IS_REFUSED(2));
#ifndef EMPTY
    assert((IS_OK(0) && IS_OK(1) && IS_OK(2)) ||
           (result[0] != OK && result[1] != OK && result[2] != OK));
#endif
#endif
}
