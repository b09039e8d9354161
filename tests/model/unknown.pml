/* SPDX-License-Identifier: Apache-2.0 */
/* What a locality does with a message of an instance of which it has no group (comm/inbox.c,
 * inbox.c, proc/letter.c, registry.c).
 *
 * There are two localities with a site each, A and B, and a home. They create the communicators 0
 * and 1 at the same time, and 2 after 0. When both have joined, the home numbers the instance and
 * tells both (MAP). B then announces something to A, which either takes it, or declines it since it
 * has left. Both may leave at any time; when both have, A's group ends (END). The next communicator
 * is joined by B only when what it has announced in 0 is given back; A does not wait for that.
 *
 * B's messages come at any time. Letters of the home to A come in the order in which it has decided
 * what is in them, whichever of its threads did: they are put in a list under its lock, and one
 * thread at a time sends from that. A keeps what comes for an instance with a higher number than
 * all that it has heard of, as long as a creation is under way there. All else it declines at once.
 *
 * Checked is that B waits for nothing at the end, and that A never declines what is for an instance
 * whose map is still to come.
 *
 * Variants that have an error, which spin must find:
 *   KEEP_ALL      A keeps all as long as a creation is under way
 *   KEEP_NONE     it keeps nothing
 *   OVERTAKE      a letter overtakes another one
 *   BARE_SEND     a thread of the home sends its letters when it has left the lock */
#define N 3

mtype = { MAP, END };
chan letters = [6] of { mtype, byte }; /* to A */
#ifdef BARE_SEND
bit is_decided[N], is_over[N];
#endif

byte num_joined[N], num_left[N];
byte number[N]; /* of the instances; 0: none yet */
byte last;
bit has_map[N]; /* B */

byte num_creations; /* under way at A */
byte highest;       /* that A has heard of */
bit known[N], has_ended[N];
bit kept[N];
bit announced[N], is_back[N];

inline a_joins(c)
{
    atomic { num_creations++; num_joined[c]++ }
}

/* Of B. */
inline joins_and_announces(c)
{
    num_joined[c]++;
    atomic { has_map[c] -> announced[c] = 1 }
}

inline give_back(c)
{
    is_back[c] = 1
}

inline decline(c)
{
    assert(known[c]);
    give_back(c)
}

inline decide()
{
    last++;
    number[c] = last;
    has_map[c] = 1;
#ifdef BARE_SEND
    is_decided[c] = 1
#else
    letters!MAP, c
#endif
}

active proctype home()
{
    byte c;
end:
    do
    :: atomic { num_joined[0] == 2 -> num_joined[0] = 3; c = 0; decide() }
    :: atomic { num_joined[1] == 2 -> num_joined[1] = 3; c = 1; decide() }
    :: atomic { num_joined[2] == 2 -> num_joined[2] = 3; c = 2; decide() }
#ifdef BARE_SEND
    :: atomic { is_decided[0] -> is_decided[0] = 0; letters!MAP, 0 }
    :: atomic { is_decided[1] -> is_decided[1] = 0; letters!MAP, 1 }
    :: atomic { is_decided[2] -> is_decided[2] = 0; letters!MAP, 2 }
#endif
    :: atomic { num_left[0] == 2 -> num_left[0] = 3; letters!END, 0 }
    :: atomic { num_left[1] == 2 -> num_left[1] = 3; letters!END, 1 }
    :: atomic { num_left[2] == 2 -> num_left[2] = 3; letters!END, 2 }
    od
}

/* Whether C's map may be still on its way, as far as A knows. */
#ifdef KEEP_ALL
#define IS_TO_COME(c) (num_creations > 0)
#elif defined KEEP_NONE
#define IS_TO_COME(c) false
#else
#define IS_TO_COME(c) (num_creations > 0 && number[c] > highest)
#endif

inline hear(kind, c)
{
    if
    :: kind == MAP ->
        known[c] = 1;
        highest = (number[c] > highest -> number[c] : highest);
        if
        :: kept[c] -> kept[c] = 0; give_back(c)
        :: else
        fi;
        num_creations--;
        for (other : 0 .. N - 1) {
            if
            :: num_creations == 0 && kept[other] -> kept[other] = 0; decline(other)
            :: else
            fi
        };
        other = 0
    :: else -> has_ended[c] = 1
    fi
}

inline arrives(c)
{
    announced[c] = 0;
    if
    :: known[c] && !has_ended[c] -> give_back(c)
    :: else ->
        if
        :: IS_TO_COME(c) -> kept[c] = 1
        :: else -> decline(c)
        fi
    fi
}

/* What the thread of A handles that turns the loop. */
active proctype arrivals()
{
    mtype kind;
    byte c, other;
end:
    do
#ifdef OVERTAKE
    :: atomic { letters??MAP, 0 -> c = 0; hear(MAP, c) }
    :: atomic { letters??MAP, 1 -> c = 1; hear(MAP, c) }
    :: atomic { letters??MAP, 2 -> c = 2; hear(MAP, c) }
    :: atomic { letters??END, c -> hear(END, c) }
#else
    :: atomic { letters?kind, c -> hear(kind, c) }
#endif
    :: atomic { announced[0] -> arrives(0) }
    :: atomic { announced[1] -> arrives(1) }
    :: atomic { announced[2] -> arrives(2) }
    od
}

#define LEAVES(c) num_left[c]++

/* The tasks of A, and of B. */
active proctype a_first()
{
    a_joins(0);
    known[0];
    LEAVES(0);
    a_joins(2);
    known[2];
    LEAVES(2)
}

active proctype a_second()
{
    a_joins(1);
    known[1];
    LEAVES(1)
}

active proctype b_first()
{
    joins_and_announces(0);
    LEAVES(0);
    is_back[0];
    joins_and_announces(2);
    LEAVES(2);
    is_back[2]
}

active proctype b_second()
{
    joins_and_announces(1);
    LEAVES(1);
    is_back[1]
}
