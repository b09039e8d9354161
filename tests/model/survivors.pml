/* SPDX-License-Identifier: Apache-2.0 */
/* How survivors agree, shrink and create communicators (coll/survivors.c, proc/registry*.c,
 * names/home.c, launch/launcher.c), if the job goes on without the dead.
 *
 * There is cohortrun, the home of all names, and N localities, with a channel in order each way.
 * Localities 1 and 2 first create a communicator under a user's name, which has a site in each of
 * them; locality 0 has nothing to do with it. Then all that live agree once (a shrink is the same).
 * Up to DEATHS localities die at any time. cohortrun notices a death at some time later, and may
 * have read all, some or nothing of what the dead one has sent.
 *
 * A locality joins (JOIN), and waits for the MAP, in which everybody is. cohortrun tells deaths
 * (DIED). A locality that hears of one ends its join, and joins again. To agree it joins under a
 * name that has the number of dead sites in it. With a user's name the join has the locality's
 * view, the number of deaths that it has heard of.
 *
 * Checked is that nobody who lives waits at the end; that all who get a result, also if they die
 * afterwards, get the same one; that it has the values of all who live; and that nobody joins
 * twice.
 *
 * Simplifications: a site in each locality; all have the same terms; nobody leaves. The channels
 * are long enough, so sending never waits.
 *
 * Variants that have an error, which spin must find:
 *   NO_REJOIN       who hears of a death does not join again
 *   KEEP_WAITING    nor does it end its join
 *   ONE_NAME        the number of the dead is not in the name of an agreement
 *   TWO_STREAMS     deaths and maps come on different channels
 *   OWN_EYES        a locality counts the deaths that it has noticed by itself
 *   JOIN_ANY_VIEW   the home takes joins of an older view
 *   KEEP_PENDING    at a death the home keeps what is pending under a user's name
 *   COUNT_DEAD      the home waits for those who have died
 *   MAP_TO_SOME     the home dies between two sends of a map, as a locality would */
#define N 3
#ifndef DEATHS
#define DEATHS 2
#endif
#define ALL 7

mtype = {DIED, MAP};
/* what: 0 the user's name, 1 the agreement */
chan up[N] = [6] of {bit, byte, byte};          /* JOIN: what, number of dead in its name, view */
chan down[N] = [8] of {mtype, bit, byte, byte}; /* what, number, who is in it; or who has died */
#ifdef TWO_STREAMS
chan news[N] = [4] of {byte};
#endif

byte num_died;     /* really */
bit no_more;       /* of them */
byte is_dead;      /* really: a bit each */
byte told;         /* by cohortrun: the same */
byte home_view;    /* how many it has told */
byte named;        /* who has joined under the user's name */
byte agreeing[N];  /* by the number in the name */
byte result = 0;   /* of the agreement: who is in it; 0: none yet */
bit over;          /* the home has died: MAP_TO_SOME */

inline send_map(kind, key, who_is_in)
{
    to = 0;
    members = who_is_in;
    do
    :: to < N ->
        if
        :: (members & (1 << to)) && !(told & (1 << to)) -> down[to]!MAP, kind, key, members
        :: else
        fi;
        to++;
#ifdef MAP_TO_SOME
        if
        :: true
        :: over = 1; break
        fi
#endif
    :: to == N -> break
    od
}

inline join_at_home(who)
{
    up[who]?what, number, view;
    if
    :: what == 0 ->
        if
#ifndef JOIN_ANY_VIEW
        :: view < home_view -> skip
#endif
        :: else ->
            assert(!(named & (1 << who)));
            named = named | (1 << who);
            if
            :: named == 6 -> send_map(0, 0, named); named = 0
            :: else
            fi
        fi
    :: else ->
        assert(!(agreeing[number] & (1 << who)));
        agreeing[number] = agreeing[number] | (1 << who);
        num = (agreeing[number] & 1) + (agreeing[number] >> 1 & 1) + (agreeing[number] >> 2 & 1);
#ifdef COUNT_DEAD
        if
        :: num == N -> send_map(1, number, agreeing[number]); agreeing[number] = 0
#else
        if
        :: num == N - number -> send_map(1, number, agreeing[number]); agreeing[number] = 0
#endif
        :: else
        fi
    fi
}

inline tell_death(who)
{
    told = told | (1 << who);
    home_view++;
    to = 0;
    do
    :: to < N ->
        if
        :: !(told & (1 << to)) ->
#ifdef TWO_STREAMS
            news[to]!who
#else
            down[to]!DIED, 0, 0, who
#endif
        :: else
        fi;
        to++
    :: to == N -> break
    od;
#ifndef KEEP_PENDING
    named = 0
#endif
}

active proctype cohortrun()
{
    bit what;
    byte number, view, num, to, members;
end:
    do
    :: atomic { !over && up[0]?[what, number, view] && !(told & 1) -> join_at_home(0) }
    :: atomic { !over && up[1]?[what, number, view] && !(told & 2) -> join_at_home(1) }
    :: atomic { !over && up[2]?[what, number, view] && !(told & 4) -> join_at_home(2) }
    :: atomic { !no_more -> no_more = 1 }
    :: atomic { (is_dead & 1) && !(told & 1) -> tell_death(0) }
    :: atomic { (is_dead & 2) && !(told & 2) -> tell_death(1) }
    :: atomic { (is_dead & 4) && !(told & 4) -> tell_death(2) }
    od
}

#define HAS_DIED ((is_dead & (1 << me)) != 0)
#define LIVES ((is_dead & (1 << me)) == 0)
/* Both whom the user's name is for live, as far as is known here. */
#define HAS_PARTNER ((knows & 6) == 0)

inline hear_of(who)
{
    knows = knows | (1 << who);
    view++;
#ifndef KEEP_WAITING
    waits = 0;
#endif
#ifdef NO_REJOIN
    gives_up = 1;
#endif
}

inline count_known()
{
#ifdef OWN_EYES
    number = num_died
#else
    number = view
#endif
}

proctype locality(byte me)
{
    bit waits, gives_up, kind;
    byte view, knows, number, key, who, stage; /* stage 0: creates; 1: agrees; 2: is done */
    if
    :: me == 0 -> stage = 1
    :: else
    fi;
    do
    :: atomic { LIVES && stage == 0 && !waits && !gives_up && HAS_PARTNER ->
        up[me]!0, 0, view; waits = 1 }
    :: atomic { LIVES && stage == 0 && !waits && !HAS_PARTNER -> stage = 1 }
    :: atomic { LIVES && stage == 1 && !waits && !gives_up ->
        count_known();
#ifdef ONE_NAME
        number = 0;
#endif
        up[me]!1, number, view; waits = 1 }
#ifdef TWO_STREAMS
    :: atomic { LIVES && news[me]?[who] -> news[me]?who; hear_of(who); who = 0 }
#endif
    :: atomic { LIVES && down[me]?[DIED, kind, key, who] ->
        down[me]?DIED, kind, key, who; hear_of(who); who = 0; kind = 0; key = 0 }
    :: atomic { LIVES && down[me]?[MAP, kind, key, who] ->
        down[me]?MAP, kind, key, who;
        if
        :: waits && kind == stage && (kind == 0 || key == number) ->
            waits = 0;
            if
            :: kind == 0 ->
                stage = 1
            :: else ->
                assert(result == 0 || result == who);
                result = who;
                assert((who | knows) == ALL && (who & knows) == 0);
                stage = 2
            fi
        :: else
        fi;
        who = 0; kind = 0; key = 0 }
    :: atomic { LIVES && num_died < DEATHS && !no_more ->
        num_died++; is_dead = is_dead | (1 << me) }
    :: HAS_DIED -> break
    /* Nothing more happens. */
    :: timeout -> break
    od;
    assert(HAS_DIED || stage == 2)
}

init
{
    atomic { run locality(0); run locality(1); run locality(2) };
}
