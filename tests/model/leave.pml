/* SPDX-License-Identifier: Apache-2.0 */
/* How localities that a PMIx launcher has started leave their job (runtime/launch:
 * bootstrap_pmix.c; proc/peer.c: cohort__process_watch). The launcher may tell nobody of a death.
 *
 * There are N localities. A program returns, and its locality enters one fence after the other:
 * 0 says that all have returned, each of the next ROUNDS shows the counts of all, and after the
 * last of these the end is agreed on. All find the same number of rounds, since they see the same
 * counts. One more fence says that all know it. A fence is over when all have entered it, and each
 * is told of that at a time of its own, which may be long after others were.
 *
 * A fence may bring no counts, so that each locality is asked for its own. One that has died or
 * left may never answer, and who asks can't tell which of the two it is.
 *
 * A locality that waits in a fence looks whether the next one is still there (it asks, or the
 * connection breaks), and others may notice it as well. It can't see why the next one is gone. Then
 * its grace begins, and when that is over it has the launcher end the job, unless the end was
 * agreed on: then it leaves.
 *
 * DEATHS localities may die at any time before they have left. The launcher may tell of that
 * (TELLS), and may let a fence end without the dead, as an error or as if all had entered it
 * (DROPS), as PMIx does it.
 *
 * Checked is that a job in which nobody dies is never ended by the launcher; that nobody leaves a
 * job in which a locality has died before it showed its last counts; and that nobody waits for
 * ever.
 *
 * Simplifications: what a locality does in one turn of its loop is atomic, and the launcher ends
 * all at once.
 *
 * Variants that have an error, which spin must find:
 *   NO_LAST_FENCE   who knows that the end is agreed on leaves at once
 *   LOSS_COUNTS     who has agreed has the job ended if another one is gone
 *   FENCE_ALONE     who has agreed waits for the fence, whoever is gone
 *   NO_WATCH        who waits in a fence does not look whether the next one is still there
 *   NO_LOOK         who finds no counts of a dead one does not mind */
#define N 3 /* as IS_OVER, LACKS and SOME have it */
#ifndef DEATHS
#define DEATHS 1
#endif
#define MAX_ROUNDS 2

mtype = { RUNS, WAITS, LEFT, DEAD, ENDED };
mtype state[N];
byte entered[N]; /* the number of fences it has entered */
bit is_lost[N];  /* it knows that another one is gone, so that the grace runs */
bit has_agreed[N];
byte num_dead;
bit was_aborted; /* by PMIx_Abort */
bit is_told;     /* by the launcher, of a death */

byte rounds = 1;
bit tells, drops;
byte j; /* of loops in atomic parts */

#define NEXT(i) ((i + 1) % N)
#define IS_GONE(i) (state[i] == LEFT || state[i] == DEAD || state[i] == ENDED)
#define ALIVE(i) (state[i] == RUNS || state[i] == WAITS)
#define LAST_FENCE (rounds + 1)
#define SOME(what) (state[0] == what || state[1] == what || state[2] == what)

#define HAS_PASSED(i, fence) (entered[i] > fence || (drops && state[i] == DEAD))
#define IS_OVER(fence) (HAS_PASSED(0, fence) && HAS_PASSED(1, fence) && HAS_PASSED(2, fence))
#define LACKS(fence) (entered[0] <= fence || entered[1] <= fence || entered[2] <= fence)

#ifdef FENCE_ALONE
#define MAY_BE_OVER(i) (!has_agreed[i])
#else
#define MAY_BE_OVER(i) true
#endif

inline leave(i)
{
    state[i] = LEFT;
    assert(!LACKS(rounds)) /* all had shown their last counts */
}

/* The fence is over in which I waits. */
inline pass(i, fence)
{
    if
    :: fence == LAST_FENCE -> leave(i)
    :: fence != LAST_FENCE && LACKS(fence) -> is_lost[i] = 1 /* PMIx says so */
    :: fence > 0 && fence != LAST_FENCE && (SOME(DEAD) || SOME(LEFT)) ->
        is_lost[i] = 1 /* it does not answer */
#ifdef NO_LOOK
    :: fence != LAST_FENCE
#else
    :: fence != LAST_FENCE && (fence == 0 || !LACKS(fence))
#endif
        ->
        if
        :: fence == rounds -> has_agreed[i] = 1
        :: else
        fi;
#ifdef NO_LAST_FENCE
        if
        :: fence == rounds -> leave(i)
        :: else -> entered[i]++
        fi
#else
        entered[i]++
#endif
    fi
}

inline end_grace(i)
{
    if
#ifndef LOSS_COUNTS
    :: has_agreed[i] -> leave(i)
    :: !has_agreed[i] ->
#else
    :: true ->
#endif
        assert(num_dead > 0);
        was_aborted = 1
    fi
}

proctype locality(byte i)
{
    do
    :: atomic { state[i] == RUNS && !is_lost[i] -> state[i] = WAITS; entered[i] = 1 }
    :: atomic {
        state[i] == WAITS && IS_OVER(entered[i] - 1) && (!is_lost[i] || has_agreed[i]) ->
        pass(i, entered[i] - 1)
    }
#ifndef NO_WATCH
    :: atomic { state[i] == WAITS && IS_GONE(NEXT(i)) && !is_lost[i] -> is_lost[i] = 1 }
#endif
    :: atomic { ALIVE(i) && is_told && !is_lost[i] -> is_lost[i] = 1 }
    :: atomic { ALIVE(i) && is_lost[i] && MAY_BE_OVER(i) && !was_aborted -> end_grace(i) }
    :: atomic {
        ALIVE(i) && num_dead < DEATHS -> state[i] = DEAD;
        num_dead++;
        is_told = tells
    }
    :: atomic { ALIVE(i) && was_aborted -> state[i] = ENDED }
    :: atomic { IS_GONE(i) -> break }
    od
}

init
{
    atomic {
        if
        :: rounds = 1
        :: rounds = MAX_ROUNDS
        fi;
        if
        :: tells = 0
        :: tells = 1
        fi;
        if
        :: drops = 0
        :: drops = 1
        fi;
        j = 0;
        do
        :: j < N ->
            state[j] = RUNS;
            run locality(j);
            j++
        :: else -> break
        od
    }
}
