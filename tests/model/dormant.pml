/* SPDX-License-Identifier: Apache-2.0 */
/* A task in a scope that waits for an input (runtime/task/dataflow.c). It is queued when the
 * input is complete, or when the scope is cancelled; but not before who makes it is through with
 * that. The worker that takes it runs it, or gives it up if the scope is cancelled, and forgets the
 * waiter then, which the input may notify at once or when it is complete. The scope's watch is
 * forgotten likewise.
 *
 * There are who makes the task, the input, a thread that cancels the scope, and a worker.
 *
 * Checked is that the task is queued once if the input is complete or the scope is cancelled, that
 * its function runs only with a complete input, that the task is not used when it is freed, that it
 * is freed, that only what the input knows is forgotten, and that it is not noted any more as one
 * that waits when the worker has it.
 *
 * Simplifications: memory is sequentially consistent.
 *
 * Variants that have an error, which spin must find:
 *   NO_SLEEP       it is queued as soon as it is woken
 *   NO_CLAIM       each who finds it asleep and woken queues it
 *   NO_WAKER_REF   who wakes it has no reference
 *   NO_WATCH_REF   the watch has none
 *   WATCH_FIRST    the scope may wake it, and it sleeps, before the input knows of it
 *   QUEUE_FIRST    it is queued while it is noted as one that waits */
#define ASLEEP 1
#define WOKEN 2

byte progress, refs, users;
bit is_freed, is_queued, was_queued, is_noted;
bit is_complete, is_cancelled; /* the input, the scope */
bit waits, watches;            /* in the list of the input, of the scope */
bit may_cancel, was_over;

inline use()
{
    assert(!is_freed)
}

inline unref()
{
    atomic {
        use();
        refs--;
        if
        :: refs == 0 -> is_freed = 1
        :: else
        fi
    }
}

inline put()
{
    atomic {
        use();
        users--;
        is_last = users == 0
    };
    if
    :: is_last ->
#ifndef NO_WATCH_REF
        unref()
#endif
    :: else
    fi
}

/* The scope tells a watch that it forgets at once, or when it is cancelled or ends. */
inline unwatch()
{
    atomic {
        use();
        was_there = watches && !is_cancelled;
        if
        :: was_there -> watches = 0
        :: else
        fi
    };
    if
    :: was_there -> put()
    :: else
    fi;
    put()
}

inline queue()
{
    atomic { use(); assert(!was_queued); was_queued = 1; is_queued = 1 }
}

inline step(bits)
{
    atomic {
        use();
#ifdef NO_CLAIM
        progress = progress | bits;
        is_due = progress == (ASLEEP | WOKEN);
#else
        is_due = progress == (ASLEEP | WOKEN) - bits;
        progress = progress | bits;
#endif
#ifdef NO_SLEEP
        is_due = bits == WOKEN && !was_queued;
#endif
    };
    if
    :: is_due ->
#ifdef QUEUE_FIRST
        queue();
        is_noted = 0;
        unwatch()
#else
        is_noted = 0;
        unwatch();
        queue()
#endif
    :: else
    fi
}

inline wake()
{
    step(WOKEN);
#ifndef NO_WAKER_REF
    unref()
#endif
}

inline watch()
{
    atomic {
        use();
        is_late = is_cancelled;
        watches = !is_cancelled
    };
    if
    :: is_late -> step(WOKEN); put()
    :: else
    fi
}

proctype input()
{
    bit is_due, is_last, was_there, is_mine;
    atomic { is_complete = 1; is_mine = waits; waits = 0 };
    if
    :: is_mine -> wake()
    :: else
    fi
}

proctype scope()
{
    bit is_due, is_last, was_there, is_mine;
    may_cancel;
    atomic { is_cancelled = 1; is_mine = watches; watches = 0 };
    if
    :: is_mine -> step(WOKEN); put()
    :: else
    fi
}

proctype worker()
{
    bit is_due, is_last, was_there, is_mine, gives_up;
    is_queued;
    atomic { use(); assert(!is_noted); gives_up = is_cancelled };
    if
    :: gives_up ->
        atomic { is_mine = !is_complete; assert(!is_mine || waits) };
        if
        :: is_mine ->
            /* It is notified now, unless the input is faster, or later. */
            if
            :: atomic { is_mine = waits; waits = 0 };
                if
                :: is_mine -> wake()
                :: else
                fi
            :: skip
            fi
        :: else
        fi
    :: else -> assert(is_complete)
    fi;
    unref();
    was_over = 1
}

init
{
    bit is_due, is_last, was_there, is_late;
    users = 2;
    is_noted = 1;
    refs = 2; /* of the caller, and of the queue */
#ifndef NO_WAKER_REF
    refs++;
#endif
#ifndef NO_WATCH_REF
    refs++;
#endif
    if
    :: run input()
    :: skip -> may_cancel = 1
    :: run input(); may_cancel = 1
    fi;
    run scope();
    run worker();
#ifdef WATCH_FIRST
    step(ASLEEP);
    watch();
#endif
    atomic { is_late = is_complete; waits = !is_complete };
    if
    :: is_late -> wake()
    :: else
    fi;
#ifndef WATCH_FIRST
    watch();
    step(ASLEEP);
#endif
    unref();
    was_over;
    /* An input that nobody has completed so far is complete in the end. */
    atomic { is_complete = 1; is_late = waits; waits = 0 };
    if
    :: is_late -> wake()
    :: else
    fi;
    may_cancel = 1;
    _nr_pr == 1;
    assert(is_freed)
}
