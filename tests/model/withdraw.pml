/* SPDX-License-Identifier: Apache-2.0 */
/* How a site waits no longer for the others to join (proc/registry.c, names/home.c).
 *
 * There are N sites, each in a locality of its own, and the home of a name, with a channel in order
 * each way. Each site joins under the name, and, when it has got the communicator and left it, or
 * was refused, joins once more. Whatever happens, the j-th join of each site is in the j-th
 * creation of the name.
 *
 * With each join begins its alarm: its scope may be cancelled at any time, or its deadline be
 * over, by another thread than the one that joins. If the scope is cancelled when it looks,
 * the join says that it can't take part. Otherwise, whoever comes second of the one that
 * has sent the JOIN and the one that gives up sends the WITHDRAW, with the number of the join. The
 * home may put it off, while it asks whose programs have returned, and go on meanwhile. A creation
 * that has failed stays until all of its sites have been told.
 *
 * Checked is that nobody waits at the end for a creation in which a site has given up, that all
 * sites of a creation have the same result, that one in which nobody has given up does not fail,
 * and that one in which a site's scope was cancelled before it joined does not succeed.
 *
 * Simplifications: nobody dies (see survivors.pml); a put-off WITHDRAW is one at a time; a site has
 * a scope the first time only, and site 0 a deadline with DEADLINE (long); it may stay away.
 *
 * Variants that have an error, which spin must find:
 *   NO_SEQUENCE     the home does not look at the number of the join
 *   OVERTAKE        who gives up sends at once, though the JOIN may not have been sent
 *   NOT_REMEMBERED  who has sent the JOIN does not look whether its site has given up
 *   FORGET          a creation that has failed is forgotten when those who have joined are told
 *   TELL_ONE        only who withdraws is told
 *   NO_FAILED       a join whose scope is cancelled says nothing of that */
#define N 2
#define ROUNDS 2
#define ALL 3

mtype = { JOIN, WITHDRAW, LEAVE };

chan up[N] = [5] of {mtype, byte, bit}; /* number of the join; whether it can't take part */
chan down[N] = [3] of {byte, bit};      /* the creation, and whether it has failed */

/* Of each site: */
byte round[N];        /* its join, from 0 */
bit is_cancelled[N];  /* its scope, in this round */
bit has_joined[N];    /* bits of the alarm's state */
bit has_given_up[N];
bit is_over[N] = 1;
bit waits[N];

/* What is true, by creations: bits of the sites */
byte gave_up[ROUNDS];     /* before they had the result */
byte could_not[ROUNDS];   /* were cancelled when they joined */
byte got[ROUNDS], refused[ROUNDS];

/* The home. The creations before `oldest` are over. */
byte members[ROUNDS];
bit failed[ROUNDS], lives[ROUNDS];
byte left[ROUNDS];
byte put_off_site = N, put_off_number;

inline tell(who, creation, has_failed)
{
    down[who]!creation, has_failed
}

/* All who have joined CREATION. */
inline tell_members(creation, has_failed)
{
    to = 0;
    do
    :: to < N ->
        if
        :: members[creation] & (1 << to) -> tell(to, creation, has_failed)
        :: else
        fi;
        to++
    :: to == N -> break
    od;
    to = 0
}

inline fail(creation, who)
{
    failed[creation] = 1;
#ifdef TELL_ONE
    tell(who, creation, 1)
#else
    tell_members(creation, 1)
#endif
#ifdef FORGET
    ;
    members[creation] = 0;
    failed[creation] = 0
#endif
}

/* The oldest one that WHO has not joined and that does not live. */
inline join_at_home(who, can_not)
{
    in = 0;
    do
    :: in < ROUNDS && ((members[in] & (1 << who)) || lives[in] || left[in] == ALL) -> in++
    :: else -> break
    od;
    assert(in < ROUNDS);
    members[in] = members[in] | (1 << who);
    if
    :: failed[in] -> tell(who, in, 1)
    :: !failed[in] && can_not -> fail(in, who)
    :: !failed[in] && !can_not && members[in] == ALL -> lives[in] = 1; tell_members(in, 0)
    :: else
    fi;
    in = 0
}

inline withdraw_at_home(who, number)
{
    in = 0;
    do
    :: in < ROUNDS && (!(members[in] & (1 << who)) || lives[in] || failed[in] || left[in] == ALL
#ifndef NO_SEQUENCE
                       || in != number
#endif
                      ) -> in++
    :: else -> break
    od;
    if
    :: in < ROUNDS -> fail(in, who)
    :: else
    fi;
    in = 0
}

/* The j-th join of a site is in the j-th creation, so its number is that of the creation. */
inline leave_at_home(who, creation)
{
    left[creation] = left[creation] | (1 << who);
    if
    :: left[creation] == ALL -> lives[creation] = 0
    :: else
    fi
}

inline take(who)
{
    up[who]?kind, number, can_not;
    if
    :: kind == JOIN -> join_at_home(who, can_not)
    :: kind == LEAVE -> leave_at_home(who, number)
    :: kind == WITHDRAW && put_off_site == N -> put_off_site = who; put_off_number = number
    :: kind == WITHDRAW -> withdraw_at_home(who, number)
    fi;
    kind = 0; number = 0; can_not = 0
}

active proctype home()
{
    mtype kind;
    byte number, to, in;
    bit can_not;
end:
    do
    :: atomic { nempty(up[0]) -> take(0) }
    :: atomic { nempty(up[1]) -> take(1) }
    :: atomic { put_off_site < N ->
            withdraw_at_home(put_off_site, put_off_number);
            put_off_site = N;
            put_off_number = 0
        }
    od
}

/* The thread that cancels the scope, or turns the loop when the deadline is over. */
proctype alarm(byte me; byte j; bit is_scope)
{
    bit sends;
    if
    :: atomic {
            if
            :: is_scope -> is_cancelled[me] = 1
            :: else
            fi;
            if
            :: waits[me] && round[me] == j -> gave_up[j] = gave_up[j] | (1 << me)
            :: else
            fi
        };
        atomic {
            /* The alarm is of the join that this thread watches. */
            if
            :: round[me] == j ->
#ifdef OVERTAKE
                sends = !has_given_up[me] && !is_over[me];
#else
                sends = has_joined[me] && !has_given_up[me] && !is_over[me];
#endif
                has_given_up[me] = 1
            :: else
            fi
        };
        if
        :: sends -> up[me]!WITHDRAW, j, 0
        :: else
        fi
    :: skip
    fi
}

proctype site(byte me)
{
    byte creation;
    bit has_failed, sends, can_not;
    do
    :: round[me] < ROUNDS ->
        if
        :: break /* it stays away */
        :: skip
        fi;
        /* Its alarm begins. */
        atomic {
            is_cancelled[me] = 0;
            has_joined[me] = 0;
            has_given_up[me] = 0;
            is_over[me] = 0;
            waits[me] = 1;
            if
            :: round[me] == 0 -> run alarm(me, 0, 1)
            :: else
            fi;
#ifdef DEADLINE
            if
            :: round[me] == 0 && me == 0 -> run alarm(me, 0, 0)
            :: else
            fi
#endif
        };
        atomic {
#ifndef NO_FAILED
            can_not = is_cancelled[me] && has_given_up[me];
#endif
            if
            :: is_cancelled[me] && has_given_up[me] ->
                could_not[round[me]] = could_not[round[me]] | (1 << me)
            :: else
            fi
        };
        up[me]!JOIN, round[me], can_not;
        atomic {
            has_joined[me] = 1;
            sends = has_given_up[me] && !is_over[me];
            can_not = 0
        };
#if !defined(NOT_REMEMBERED) && !defined(OVERTAKE)
        if
        :: sends -> up[me]!WITHDRAW, round[me], 0
        :: else
        fi;
#endif
end:    atomic { down[me]?creation, has_failed; assert(creation == round[me]); waits[me] = 0 };
        is_over[me] = 1;
        if
        :: has_failed -> refused[creation] = refused[creation] | (1 << me)
        :: else -> got[creation] = got[creation] | (1 << me); up[me]!LEAVE, creation, 0
        fi;
        atomic { round[me]++; creation = 0; has_failed = 0; sends = 0 }
    :: else -> break
    od
}

init
{
    atomic { run site(0); run site(1) };
    /* At the end: nothing is under way, and whoever runs still waits. */
    (timeout);
    assert(!got[0] || !refused[0]);
    assert(!got[1] || !refused[1]);
    assert(!refused[0] || gave_up[0]);
    assert(!refused[1] || gave_up[1]);
    assert(!could_not[0] || !got[0]);
    assert(!could_not[1] || !got[1]);
    /* Who has given up, or was there with such a one, does not wait. */
    assert(!waits[0] || !gave_up[round[0]]);
    assert(!waits[1] || !gave_up[round[1]])
}
