/* SPDX-License-Identifier: Apache-2.0 */
/* How a scope ends, and how it is cancelled (runtime/task/scope.c). It counts its tasks, and one
 * more until it is awaited. Whoever claims it first, a task that fails, its limit, a thread outside
 * or its own end, completes what those wait for who are to end early. It is freed with its last
 * reference.
 *
 * There are a scope with a task that awaits it; in it a task that may fail, one that waits until it
 * is cancelled or what it waits for has come, and one that the first one starts; its limit; a
 * thread that cancels it; and a scope that the first task creates in it, with a task that waits.
 *
 * Checked is that the await returns when all tasks have ended, that nobody uses a scope that is
 * freed, that it is cancelled at most once, that the error of the first is known when the await
 * returns, that a scope is not cancelled before the one around it is, and that nobody waits for
 * ever.
 *
 * Simplifications: memory is sequentially consistent.
 *
 * Variants that have an error, which spin must find:
 *   NO_HANDLE      the scope does not count itself until it is awaited
 *   LEAVE_FIRST    a task leaves before it tells of its error
 *   NO_CLAIM       who cancels does not claim
 *   NO_LAST_WAIT   the await does not wait for who has claimed
 *   NO_REF         a thread that cancels has no reference
 *   NO_REF_LIMIT   the limit has none
 *   NO_LATE_LOOK   a scope that comes into a cancelled one is not cancelled
 *   LOOK_FIRST     it looks whether that is so before it comes into the list
 *   LOOK_AT_CLAIM  it looks whether somebody has claimed that one, and may not have cancelled it */
#define OUTER 0
#define INNER 1

byte pending[2];
bit ended[2];
bit is_claimed[2];
byte cancelled[2]; /* 0: pending, 1: with an error, 2: the scope has ended */
byte refs[2];
bit is_freed[2];
bit in_list; /* the inner scope, in the outer one's */
byte num_running; /* tasks */
bit is_over;      /* the await of the outer one has returned */
bit may_create;

inline use(s)
{
    assert(!is_freed[s])
}

inline unref(s)
{
    atomic {
        use(s);
        refs[s]--;
        if
        :: refs[s] == 0 -> is_freed[s] = 1
        :: else
        fi
    }
}

inline enter(s)
{
    atomic { use(s); assert(!ended[s]); pending[s]++ }
}

inline leave(s)
{
    atomic {
        use(s);
        pending[s]--;
        is_last = pending[s] == 0
    };
    if
    :: is_last -> atomic { use(s); assert(!ended[s]); ended[s] = 1 }
    :: else
    fi
}

inline claim(s)
{
    atomic { use(s); has_claimed = !is_claimed[s]; is_claimed[s] = 1 }
}

inline complete(s, how)
{
    atomic {
        use(s);
        assert(cancelled[s] == 0);
        assert(s == OUTER || how == 2 || cancelled[OUTER] == 1);
        cancelled[s] = how
    }
}

/* A scope inside that is in the list is cancelled, too; it is kept by a reference meanwhile. */
inline cancel_outer()
{
    claim(OUTER);
#ifdef NO_CLAIM
    has_claimed = 1;
#endif
    if
    :: has_claimed ->
        complete(OUTER, 1);
        atomic {
            use(OUTER);
            has_inner = in_list;
            if
            :: in_list -> refs[INNER]++
            :: else
            fi
        };
        if
        :: has_inner ->
            claim(INNER);
            if
            :: has_claimed -> complete(INNER, 1)
            :: else
            fi;
            unref(INNER)
        :: else
        fi
    :: else
    fi
}

/* Waits until it is cancelled, in the outer scope perhaps for something that comes. */
proctype waiter(byte s)
{
    bit is_last;
    if
    :: cancelled[s] != 0
    :: s == OUTER
    fi;
    use(s);
    num_running--;
    leave(s)
}

proctype quick()
{
    bit is_last;
    num_running--;
    leave(OUTER)
}

/* Creates a scope in the outer one, and awaits it. */
inline use_inner()
{
    refs[INNER] = 1;
    pending[INNER] = 1;
#ifdef LOOK_FIRST
    is_late = cancelled[OUTER] != 0;
    in_list = 1;
#else
    in_list = 1;
    is_late = cancelled[OUTER] != 0;
#endif
#ifdef LOOK_AT_CLAIM
    is_late = is_claimed[OUTER];
#endif
#ifdef NO_LATE_LOOK
    is_late = 0;
#endif
    if
    :: is_late ->
        claim(INNER);
        if
        :: has_claimed -> complete(INNER, 1)
        :: else
        fi
    :: else
    fi;
    enter(INNER);
    num_running++;
    run waiter(INNER);
    leave(INNER);
    ended[INNER];
    claim(INNER);
    if
    :: has_claimed -> complete(INNER, 2)
    :: else
    fi;
    atomic { use(OUTER); in_list = 0 };
    cancelled[INNER] != 0;
    unref(INNER)
}

proctype first()
{
    bit is_last, has_claimed, has_inner, is_late, fails;
    if
    :: enter(OUTER); num_running++; run quick()
    :: use_inner()
    :: skip
    fi;
    num_running--;
#ifdef LEAVE_FIRST
    leave(OUTER);
    cancel_outer()
#else
    if
    :: cancel_outer()
    :: skip
    fi;
    leave(OUTER)
#endif
}

proctype limit()
{
    bit has_claimed, has_inner, is_last;
    cancel_outer();
#ifndef NO_REF_LIMIT
    unref(OUTER)
#endif
}

/* Called before the await returns. */
proctype outside()
{
    bit has_claimed, has_inner, is_last;
    cancel_outer();
#ifndef NO_REF
    unref(OUTER)
#endif
}

init
{
    bit is_last, has_claimed;
    atomic {
        refs[OUTER] = 1;
#ifndef NO_HANDLE
        pending[OUTER] = 1;
#endif
#ifndef NO_REF_LIMIT
        refs[OUTER]++;
#endif
        run limit()
    };
    enter(OUTER);
    num_running++;
    run first();
    if
    :: atomic {
#ifndef NO_REF
        refs[OUTER]++;
#endif
        run outside()
        }
    :: skip
    fi;
    enter(OUTER);
    num_running++;
    run waiter(OUTER);
#ifndef NO_HANDLE
    leave(OUTER);
#endif
    ended[OUTER];
    assert(num_running == 0 && !in_list);
    claim(OUTER);
    if
    :: has_claimed -> complete(OUTER, 2)
    :: else
    fi;
#ifndef NO_LAST_WAIT
    cancelled[OUTER] != 0;
#endif
    assert(cancelled[OUTER] != 0);
    unref(OUTER);
    is_over = 1;
    _nr_pr == 1;
    assert(is_freed[OUTER])
}
