/* SPDX-License-Identifier: Apache-2.0 */
/* How a scope over several localities ends, and how it is cancelled (runtime/remote: call.c,
 * serve.c). Each call of a task in a scope counts there until its result has come. Where it
 * is served it has a scope of its own, which counts what its function starts, and whose end is
 * before the result.
 *
 * There are NUM calls. Call 0 is the root: a scope with a task, in a locality that stays. Each of
 * the others is started by one that runs, or never. A function ends by itself, or waits until it is
 * cancelled; any may fail, which cancels the scope in which it counts. The root may be cancelled at
 * any time. Messages overtake each other: they are flags. The locality in which call DIES is served
 * may die, and with it all that it has started is left without a caller.
 *
 * Checked is that when the root's await returns nothing runs, and no call is on its way, but for
 * what a dead locality had started; that nobody waits for ever; and that nothing begins in a
 * scope that is known to be cancelled.
 *
 * Simplifications: memory is sequentially consistent, what a locality does in one turn is atomic,
 * and each call is served in a locality of its own.
 *
 * Variants that have an error, which spin must find:
 *   EARLY_RESULT   the result is sent when the function has returned
 *   NO_ASK_AGAIN   a caller does not ask once more when its call was not known
 *   NO_UNKNOWN     who does not know the call that is to be cancelled says nothing
 *   NO_PASS_ON     what is cancelled does not cancel what it has started
 *   LATE_START     a call may be started in a scope that is cancelled
 *   NO_ORPHANS     calls of a dead locality are not cancelled
 *   NO_DEATH       who waits for the result of a dead locality is not told */
#define NUM 3
#define ROOT 0
#define DIES 1
#define NOBODY NUM

/* Of each call, where it is served. */
bit is_known[NUM];
bit runs[NUM];
bit waits[NUM];     /* its function does, until it is cancelled */
bit is_cancelled[NUM];
byte pending[NUM];  /* calls that count in its scope */
bit has_failed[NUM];
bit is_dead[NUM];

/* At its caller. */
byte caller[NUM];
bit is_expected[NUM];

/* Messages on their way. */
bit call[NUM], cancel[NUM], unknown[NUM], result[NUM], failure[NUM], death[NUM], orphan[NUM];

#ifdef LATE_START
#define MAY_START(c) true
#else
#define MAY_START(c) (!is_cancelled[c])
#endif

#ifdef EARLY_RESULT
#define HAS_ENDED(c) true
#else
#define HAS_ENDED(c) (pending[c] == 0)
#endif

byte next = 1; /* the next one that may be started */
bit is_over;   /* the root's await has returned */
byte i;        /* of loops in atomic parts */

/* In the scope of S. */
inline cancel_scope(in)
{
    is_cancelled[in] = 1;
#ifndef NO_PASS_ON
    i = 1;
    do
    :: i < NUM ->
        if
        :: (is_expected[i] && caller[i] == in) -> cancel[i] = 1
        :: else
        fi;
        i++
    :: else -> break
    od;
#endif
    i = 0
}

inline forget(c)
{
    is_expected[c] = 0;
    pending[caller[c]]--
}

/* The function of call C, or the root's task. */
proctype function(byte c)
{
    do
    :: atomic {
        (runs[c] && !is_dead[c] && next < NUM && MAY_START(c)) -> caller[next] = c;
        is_expected[next] = 1;
        pending[c]++;
        call[next] = 1;
        next++
    }
    :: atomic {
        runs[c] && !is_dead[c] && (!waits[c] || is_cancelled[c]) -> runs[c] = 0;
        break
    }
    :: atomic {
        runs[c] && !is_dead[c] && !is_cancelled[c] && !waits[c] && c != ROOT -> has_failed[c] = 1;
        cancel_scope(c);
        runs[c] = 0;
        break
    }
    :: atomic { is_dead[c] -> runs[c] = 0; break }
    od
}

/* What comes where call C is served, and its result. */
proctype serve(byte c)
{
    do
    :: atomic {
        call[c] && !is_dead[c] -> call[c] = 0;
        is_known[c] = 1;
        if
        :: is_cancelled[c] /* its caller has died */
        :: else ->
            if
            :: waits[c] = 1
            :: waits[c] = 0
            fi;
            runs[c] = 1;
            run function(c)
        fi
    }
    :: atomic {
        cancel[c] && !is_dead[c] -> cancel[c] = 0;
        if
        :: is_known[c] -> cancel_scope(c)
#ifndef NO_UNKNOWN
        :: !is_known[c] -> unknown[c] = 1
#else
        :: !is_known[c]
#endif
        fi
    }
    :: atomic {
        orphan[c] && !is_dead[c] -> orphan[c] = 0;
        cancel_scope(c)
    }
    :: atomic {
        (is_known[c] && !is_dead[c] && !runs[c] && HAS_ENDED(c)) -> is_known[c] = 0;
        result[c] = 1;
        failure[c] = has_failed[c]
    }
    :: atomic { is_dead[c] -> call[c] = 0; cancel[c] = 0; is_known[c] = 0; break }
    :: atomic { is_over && !is_known[c] && !call[c] && !cancel[c] && !orphan[c] -> break }
    od
}

/* What comes at the caller of call C. */
proctype receive(byte c)
{
    do
    :: atomic {
        result[c] && is_expected[c] && !is_dead[caller[c]] -> result[c] = 0;
        forget(c);
        if
        :: failure[c] && !is_cancelled[caller[c]] ->
            has_failed[caller[c]] = 1;
            cancel_scope(caller[c])
        :: else
        fi
    }
    :: atomic {
        unknown[c] && !is_dead[caller[c]] -> unknown[c] = 0;
#ifndef NO_ASK_AGAIN
        if
        :: is_expected[c] && is_cancelled[caller[c]] -> cancel[c] = 1
        :: else
        fi
#endif
    }
    :: atomic {
        death[c] -> death[c] = 0;
        if
        :: is_expected[c] ->
            forget(c);
            if
            :: !is_cancelled[caller[c]] -> cancel_scope(caller[c])
            :: else
            fi
        :: else
        fi
    }
    :: atomic { (is_dead[caller[c]] && (result[c] || unknown[c])) -> result[c] = 0; unknown[c] = 0 }
    :: atomic {
        (is_over && (!is_expected[c] || is_dead[caller[c]]) && !death[c] && !unknown[c]) -> break
    }
    od
}

/* The locality of call DIES. Those that it has called learn of it, and its caller. */
proctype die()
{
    if
    :: atomic {
        is_known[DIES] -> is_dead[DIES] = 1;
        is_known[DIES] = 0;
#ifndef NO_DEATH
        death[DIES] = is_expected[DIES];
#endif
        i = 1;
        do
        :: i < NUM ->
            if
            :: (is_expected[i] && caller[i] == DIES) ->
#ifndef NO_ORPHANS
                orphan[i] = 1
#else
                skip
#endif
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0
    }
    :: is_over
    fi
}

/* Whether call C counts in the root's scope, by others that are not dead. */
#define NOT_LEFT(c) (!(runs[c] || is_known[c] || call[c]) || is_dead[c] || has_dead_caller(c))
#define has_dead_caller(c) \
    (is_dead[caller[c]] || (caller[c] != ROOT && is_dead[caller[caller[c]]]))

proctype await()
{
    atomic {
        !runs[ROOT] && pending[ROOT] == 0 -> is_over = 1;
        assert(next <= 1 || NOT_LEFT(1));
        assert(next <= 2 || NOT_LEFT(2))
    }
}

/* A thread that cancels the root's scope, or doesn't. A task of it that waits has to be cancelled,
 * so at the end it is. */
proctype canceller()
{
    atomic {
        if
        :: !is_cancelled[ROOT] -> cancel_scope(ROOT)
        :: is_cancelled[ROOT]
        :: is_over
        fi
    }
}

init
{
    atomic {
        runs[ROOT] = 1;
        waits[ROOT] = 0;
        run function(ROOT);
        run serve(1);
        run serve(2);
        run receive(1);
        run receive(2);
        run await();
        run canceller();
        run die()
    }
}
