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
 * Up to CANCELS of them are cancelled at any time while they wait for the others to agree, some of
 * whom may not come at all then. Such a one withdraws each of its joins of the agreement, after the
 * join (WITHDRAW). The home fails that attempt, unless it is complete: all who have joined it, or
 * join it later, are refused (REFUSE), and so are those who know of other deaths, and join another
 * attempt. An attempt that has failed is forgotten once all of its sites have been told, if nobody
 * has died since it began: else some may hear of the death before, and come again.
 *
 * Checked is that nobody who lives waits at the end, unless for one who does not come, and nobody
 * who lives is cancelled; that all who get a result, also if they die afterwards, get the same one;
 * that it has the values of all who live; that nobody joins twice; that nobody gets a result where
 * another one is refused; and that nobody is refused unless somebody is cancelled.
 *
 * Simplifications: a site in each locality; all have the same terms; nobody leaves; who creates
 * is not cancelled. The channels are long enough, so sending never waits.
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
 *   MAP_TO_SOME     the home dies between two sends of a map, as a locality would
 *   NO_WITHDRAW     who is cancelled after it has joined tells nobody
 *   WITHDRAW_ONCE   it withdraws its first join only, not those that follow a death
 *   END_AT_ONCE     it does not wait for the home's answer
 *   REFUSE_ONE      only who withdraws is refused
 *   REFUSE_JOINED   who joins later is not
 *   FAILURE_OF_ATTEMPT  the home remembers a failure only under the attempt's own name
 *   FORGET_FAILED   it forgets it once all who were to join have joined, though some have died */
#define N 3
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef CANCELS
#define CANCELS 1
#endif
#define ALL 7

mtype = {DIED, MAP, REFUSE, JOIN, WITHDRAW};
/* what: 0 the user's name, 1 the agreement */
chan up[N] = [8] of {mtype, bit, byte, byte};   /* what, number of dead in its name, view */
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
byte failed;       /* which of these: a bit each */
byte num_cancelled;
byte cancelled;    /* a bit each */
bit any_away;
bit any_refused;
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

/* Who of these lives, as far as the home knows. */
inline refuse(key, whom)
{
    members = whom;
    to = 0;
    do
    :: to < N ->
        if
        :: (members & (1 << to)) && !(told & (1 << to)) -> down[to]!REFUSE, 1, key, 0
        :: else
        fi;
        to++
    :: to == N -> break
    od;
    to = 0; members = 0
}

inline join_at_home(who)
{
    up[who]?type, what, number, view;
    if
    :: type == WITHDRAW ->
        if
        :: (agreeing[number] & (1 << who)) && !(failed & (1 << number)) ->
            failed = failed | (1 << number);
#ifdef REFUSE_ONE
            refuse(number, 1 << who)
#else
            refuse(number, agreeing[number])
#endif
        :: else
        fi
    :: type == JOIN && what == 0 ->
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
#ifndef FAILURE_OF_ATTEMPT
        if
        :: agreeing[number] == 0 && failed != 0 -> failed = failed | (1 << number)
        :: else
        fi;
#endif
        agreeing[number] = agreeing[number] | (1 << who);
        num = (agreeing[number] & 1) + (agreeing[number] >> 1 & 1) + (agreeing[number] >> 2 & 1);
        if
        :: failed & (1 << number) ->
#ifndef REFUSE_JOINED
            refuse(number, 1 << who);
#endif
            if
#ifdef FORGET_FAILED
            :: num == N - number ->
#else
            :: num == N - number && number == home_view ->
#endif
                failed = failed & ~(1 << number);
                agreeing[number] = 0
            :: else
            fi
#ifdef COUNT_DEAD
        :: !(failed & (1 << number)) && num == N ->
#else
        :: !(failed & (1 << number)) && num == N - number ->
#endif
            send_map(1, number, agreeing[number]);
            agreeing[number] = 0
        :: else
        fi
    fi;
    what = 0; number = 0; view = 0; num = 0
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
    mtype type;
end:
    do
    :: atomic { !over && up[0]?[type, what, number, view] && !(told & 1) -> join_at_home(0) }
    :: atomic { !over && up[1]?[type, what, number, view] && !(told & 2) -> join_at_home(1) }
    :: atomic { !over && up[2]?[type, what, number, view] && !(told & 4) -> join_at_home(2) }
    :: atomic { !no_more -> no_more = 1 }
    :: atomic { (is_dead & 1) && !(told & 1) -> tell_death(0) }
    :: atomic { (is_dead & 2) && !(told & 2) -> tell_death(1) }
    :: atomic { (is_dead & 4) && !(told & 4) -> tell_death(2) }
    od
}

#define HAS_DIED ((is_dead & (1 << me)) != 0)
#define IS_CANCELLED ((cancelled & (1 << me)) != 0)
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

inline be_refused()
{
    waits = 0;
    assert(num_cancelled > 0);
    assert(result == 0);
    any_refused = 1;
    stage = 2
}

proctype locality(byte me)
{
    bit waits, gives_up, kind;
    bit has_begun, has_withdrawn; /* an agreement; this join of it */
    byte view, knows, number, key, who, stage; /* stage 0: creates; 1: agrees; 2: is done */
    if
    :: me == 0 -> stage = 1
    :: else
    fi;
    do
    :: atomic { LIVES && stage == 0 && !waits && !gives_up && HAS_PARTNER ->
        up[me]!JOIN, 0, 0, view; waits = 1 }
    :: atomic { LIVES && stage == 0 && !waits && !HAS_PARTNER -> stage = 1 }
    :: atomic { LIVES && stage == 1 && !waits && !gives_up ->
        count_known();
#ifdef ONE_NAME
        number = 0;
#endif
        up[me]!JOIN, 1, number, view; waits = 1; has_begun = 1;
#ifdef WITHDRAW_ONCE
        has_withdrawn = IS_CANCELLED }
#else
        has_withdrawn = 0 }
#endif
    :: atomic { LIVES && stage == 1 && waits && !IS_CANCELLED && num_cancelled < CANCELS &&
                !no_more ->
        num_cancelled++; cancelled = cancelled | (1 << me) }
    :: atomic { LIVES && stage == 1 && !waits && !has_begun && num_cancelled > 0 ->
        any_away = 1; stage = 2 }
#ifndef NO_WITHDRAW
    :: atomic { LIVES && stage == 1 && waits && IS_CANCELLED && !has_withdrawn ->
        up[me]!WITHDRAW, 1, number, 0; has_withdrawn = 1;
#ifdef END_AT_ONCE
        be_refused()
#endif
        }
#endif
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
                assert(!any_refused);
                assert((who | knows) == ALL && (who & knows) == 0);
                stage = 2
            fi
        :: else
        fi;
        who = 0; kind = 0; key = 0 }
    :: atomic { LIVES && down[me]?[REFUSE, kind, key, who] ->
        down[me]?REFUSE, kind, key, who;
        if
        :: waits && stage == 1 && key == number -> be_refused()
        :: else
        fi;
        who = 0; kind = 0; key = 0 }
    :: atomic { LIVES && num_died < DEATHS && !no_more ->
        num_died++; is_dead = is_dead | (1 << me) }
    :: HAS_DIED -> break
    /* Nothing more happens. */
    :: timeout -> break
    od;
    assert(HAS_DIED || stage == 2 || any_away && !any_refused && (cancelled & ~is_dead) == 0)
}

init
{
    atomic { run locality(0); run locality(1); run locality(2) };
}
