/* SPDX-License-Identifier: Apache-2.0 */
/* What combinators tell of themselves (runtime/task/inputs.h).
 *
 * There are N + 2 processes:
 *   the worker      makes objects, in memory that is used again, and puts each into its place if
 *                   that is free
 *   completer i     ends the object in memory i, by a compare and swap of its place, and frees it
 *   the tick        takes what it finds in the place by a compare and swap, which marks it, uses
 *                   it, and takes the mark away
 *
 * Checked is that nobody touches an object that was freed, that the place of an object is only its
 * own, and that it is free in the end.
 *
 * Simplifications: memory is sequentially consistent. There is one place.
 *
 * Variants that have an error, which spin must find:
 *   NO_MARK         the tick uses what it finds without a mark
 *   BARE_MARK       it marks it without a comparison
 *   NO_WAIT         who ends an object goes on if that is marked
 *   BARE_END        who ends an object frees the place without a comparison
 *   FREE_FIRST      the object is freed before its place */
#define N 2
#define ROUNDS 4
#define LOOKS 3
#define MARK 8

byte place; /* 0: free; i + 1: the object in memory i; and MARK */
bit exists[N];
bit is_noted[N];
bit is_made[N]; /* the completer may end it */
byte num_ended;

inline touch(i)
{
    assert(exists[i])
}

active proctype worker()
{
    byte round, i;
    do
    :: round < ROUNDS ->
        if
        :: atomic { !exists[0] && !is_made[0] -> i = 0; exists[0] = 1 }
        :: atomic { !exists[1] && !is_made[1] -> i = 1; exists[1] = 1 }
        fi;
        is_noted[i] = place == 0;
        if
        :: is_noted[i] ->
            d_step { assert(place == 0); place = i + 1 }
        :: else
        fi;
        is_made[i] = 1;
        round++
    :: else -> break
    od;
    num_ended == ROUNDS;
    assert(place == 0 || place >= MARK)
}

inline end(i)
{
#ifdef BARE_END
    place = 0
#else
#ifdef NO_WAIT
    if
    :: d_step { place == i + 1 -> place = 0 }
    :: else
    fi
#else
    d_step { place == i + 1 -> place = 0 }
#endif
#endif
}

proctype completer(byte i)
{
end_idle:
    do
    :: is_made[i] ->
#ifdef FREE_FIRST
        exists[i] = 0;
#endif
        if
        :: is_noted[i] -> end(i)
        :: else
        fi;
        exists[i] = 0;
        d_step { is_made[i] = 0; num_ended++ }
    od
}

active proctype tick()
{
    byte look, found;
    do
    :: look < LOOKS ->
        found = place;
        if
        :: found == 0
        :: else ->
#ifdef NO_MARK
            skip;
#else
#ifdef BARE_MARK
            place = found + MARK;
#else
            if
            :: d_step { place == found -> place = found + MARK }
            :: else -> goto next
            fi;
#endif
#endif
            touch(found - 1);
            touch(found - 1);
#ifndef NO_MARK
            place = found
#endif
        fi;
next:
        look++
    :: else -> break
    od
}

init
{
    atomic {
        run completer(0);
        run completer(1)
    }
}
