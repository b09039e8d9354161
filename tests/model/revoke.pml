/* SPDX-License-Identifier: Apache-2.0 */
/* How a communicator is revoked (coll/survivors.c, names/home.c, proc/registry*.c, comm/inbox.c).
 *
 * There are N localities with a site each, and a home, which has sent them the map of the
 * communicator. Site 0 calls something there that not all sites will call; all may make a child,
 * by a join; sites 1 and 2 may revoke it, at any time, and site 1 then dies or leaves, or stays.
 * Messages overtake each other, but for those of one home to one locality. The child's home may be
 * another one, so its map comes at any time.
 *
 * A revocation is a message to the home. Of the first one the home tells all localities, of a later
 * one only who has sent it; it always names the first. A locality that hears of it notes it in the
 * group, which ends its calls, and after that ends the joins of children, and its revocations that
 * wait. Looking whether the group is revoked, and listing a join, is one step (under the registry's
 * lock); looking, and listing a revocation, are two. A map for a join that has ended is answered:
 * the site leaves.
 *
 * Checked is, if anybody has revoked it, that
 * - nobody who lives waits at the end, neither in a call nor for a child nor for a revocation;
 * - all name the same site;
 * - nobody takes a site that has left, since the communicator is revoked, as gone by itself;
 * - all sites of a child either have it or have left it, so its home forgets it at last;
 * - this is so, too, if a site dies as soon as its revocation is over.
 *
 * Simplifications: memory is sequentially consistent; the home does not die (it is cohortrun, or
 * the job ends); a death alone ends nothing here, though in real jobs it does.
 *
 * Variants that have an error, which spin must find:
 *   BY_ITSELF      who revokes tells the others itself
 *   LAST_COUNTS    a later revocation is answered with its own site, and counts
 *   NO_ANSWER      a later revocation is not answered
 *   OVERTAKE       the news of it overtakes the map, so that there is no group yet
 *   JOINS_FIRST    the joins of children are ended before the group is revoked
 *   NO_LOOK        a join does not look whether the group is revoked
 *   NO_END         joins that wait are not ended
 *   NO_LEAVE       a map for a join that has ended is not answered
 *   BARE_GONE      who has left does not say that it is revoked
 *   HEED_GONE      who is told so does not look at that */
#define N 3

mtype = { NONE, LISTED, OVER };            /* a join of the child, a revocation */

bit has_map[N] = 1;    /* the communicator's map is on its way */
bit known[N];          /* the group is made */
byte revoked[N];       /* in the group: who has revoked it, + 1 */
bit has_left[N];
bit is_dead[N];

bit called, has_result;                    /* of site 0 */
bit gone_message, gone_names;              /* to site 0, and whether it has the revoker */

byte first;            /* at the home: who has revoked it, + 1 */
bit revoke_message[N]; /* to the home */
byte news[N];          /* from the home, to all: the first; 0: none */
byte answer[N];        /* from the home, to who was late */
mtype revocation[N] = NONE;

mtype join[N] = NONE;
bit join_message[N];
byte num_joined;
bit child_map[N];
bit has_child[N], has_left_child[N];

#define LIVES(me) (!is_dead[me])

/* In the group, if it is there. */
inline note(me, by)
{
    if
    :: known[me] ->
        if
#ifndef LAST_COUNTS
        :: revoked[me] != 0
#endif
        :: else -> revoked[me] = by
        fi
    :: else
    fi
}

/* Under the registry's lock. */
inline end_waiting(me)
{
#ifndef NO_END
    if
    :: join[me] == LISTED -> join[me] = OVER
    :: else
    fi;
#endif
    if
    :: revocation[me] == LISTED -> revocation[me] = OVER
    :: else
    fi
}

inline hear(me, message)
{
    atomic {
        by = message;
        message = 0;
#ifdef JOINS_FIRST
        end_waiting(me)
#else
        note(me, by)
#endif
    };
    atomic {
#ifdef JOINS_FIRST
        note(me, by);
#else
        end_waiting(me);
#endif
        by = 0
    }
}

/* What its worker handles that turns the loop. */
proctype arrivals(byte me)
{
    byte by;
end:
    do
    :: LIVES(me) && has_map[me] ->
        atomic { has_map[me] = 0; known[me] = 1 }
#ifdef OVERTAKE
    :: LIVES(me) && news[me] != 0 -> hear(me, news[me])
#else
    :: LIVES(me) && !has_map[me] && news[me] != 0 -> hear(me, news[me])
#endif
    :: LIVES(me) && answer[me] != 0 -> hear(me, answer[me])
    :: atomic { LIVES(me) && child_map[me] ->
        child_map[me] = 0;
        if
        :: join[me] == LISTED -> join[me] = OVER; has_child[me] = 1
        :: else ->
#ifndef NO_LEAVE
            has_left_child[me] = 1;
#endif
            skip
        fi }
    od
}

/* Its tasks. */
proctype makes_child(byte me)
{
end:
    atomic {
        known[me] && LIVES(me) ->
        if
#ifndef NO_LOOK
        :: revoked[me] != 0 -> join[me] = OVER
#endif
        :: else -> join[me] = LISTED; join_message[me] = 1
        fi
    }
}

proctype calls()
{
end:
    known[0];
    called = 1;
end_called:
    do
    :: atomic { !has_result && revoked[0] != 0 -> has_result = 1 }
    /* It asks one that has left. */
    :: atomic { !has_result && !gone_message && (has_left[1] || has_left[2]) ->
        gone_message = 1;
#ifndef BARE_GONE
        gone_names = 1
#endif
        }
    :: atomic { gone_message ->
        gone_message = 0;
#ifdef HEED_GONE
        assert(has_result || revoked[0] != 0)
#else
        assert(has_result || revoked[0] != 0 || gone_names)
#endif
        }
    :: atomic { has_result && !gone_message -> break }
    od
}

proctype revokes(byte me)
{
    byte to;
end:
    known[me];
    if
    :: true
    :: revoked[me] != 0 -> revocation[me] = OVER
    :: revoked[me] == 0 ->
#ifdef BY_ITSELF
        atomic { revocation[me] = LISTED; news[me] = me + 1 };
        for (to : 0 .. N - 1) {
            if
            :: is_dead[me] -> break
            :: else -> atomic {
                if
                :: to != me && news[to] == 0 -> news[to] = me + 1
                :: else
                fi }
            fi
        };
        first = me + 1
#else
        atomic { revocation[me] = LISTED; revoke_message[me] = 1 }
#endif
    fi
}

/* Site ME goes, once it knows. */
proctype goes(byte me)
{
end:
    atomic {
        revocation[me] == OVER && revoked[me] != 0 ->
        if
        :: has_left[me] = 1
        :: is_dead[me] = 1
        :: true
        fi
    }
}

proctype home()
{
    byte from, to;
end:
    do
    :: atomic { revoke_message[1] || revoke_message[2] ->
        if
        :: revoke_message[1] -> from = 1
        :: revoke_message[2] -> from = 2
        fi;
        revoke_message[from] = 0;
        if
        :: first == 0 ->
            first = from + 1;
            for (to : 0 .. N - 1) {
                news[to] = first
            }
        :: else ->
#ifdef LAST_COUNTS
            answer[from] = from + 1;
#elif !defined NO_ANSWER
            answer[from] = first;
#endif
            skip
        fi;
        from = 0;
        to = 0 }
    :: atomic { join_message[0] -> join_message[0] = 0; num_joined++ }
    :: atomic { join_message[1] -> join_message[1] = 0; num_joined++ }
    :: atomic { join_message[2] -> join_message[2] = 0; num_joined++ }
    :: atomic { num_joined == N ->
        num_joined = N + 1;
        for (to : 0 .. N - 1) {
            child_map[to] = 1
        };
        to = 0 }
    od
}

#define IS_RIGHT(me)                                                                               \
    (is_dead[me] ||                                                                                \
     (revoked[me] == first && join[me] != LISTED && revocation[me] != LISTED &&                    \
      (num_joined <= N || has_child[me] || has_left_child[me])))

init
{
    atomic {
        run home();
        run arrivals(0);
        run arrivals(1);
        run arrivals(2);
        run makes_child(0);
        run makes_child(1);
        run makes_child(2);
        run calls();
        run revokes(1);
        run revokes(2);
        run goes(1)
    };
    timeout;
    assert(first == 0 || (IS_RIGHT(0) && IS_RIGHT(1) && IS_RIGHT(2) && (!called || has_result)));
    assert(first != 0 || (revocation[1] != LISTED && revocation[2] != LISTED))
}
