/* SPDX-License-Identifier: Apache-2.0 */
/* Suspended tasks that any worker may resume. A task that suspends registers its resumption with a
 * future, and its worker then switches to another stack. Meanwhile a notifier may come, which is
 * any worker or another thread, exactly one for each suspension. The stack is in use until the
 * switch is over. So the resumption has a state:
 *
 *   who arrives on a stack   LEAVING -> LEFT, for the stack that was left. If that fails, the
 *                            resumption goes to the deque of the worker.
 *   the notifier             any -> NOTIFIED. If it was LEFT, the resumption goes to the deque of
 *                            the notifier, or to the injected works if that is no worker.
 *
 * Whoever takes a resumption out of a queue switches to its stack. Then the frame that holds it
 * ends, and its memory is used for other things. A worker that does so in its loop puts the stack
 * that it leaves, which holds only that loop, into its own pool. One that does so when its task
 * suspends leaves that task's stack. In both cases it tells the stack which worker runs it now,
 * before the switch; the frames on the stack ask for that after each switch.
 *
 * Checked is that no stack is run by two workers, that each suspension is resumed once, after its
 * stack was left, that nobody touches a resumption after its frame may have ended, that a frame
 * uses only the worker that runs it, and that all tasks end.
 *
 * There are 2 workers, a thread that is no worker, and 2 tasks that suspend twice each. That has
 * 173,316 states.
 *
 * Simplifications: a queue is a set, so any of its works may be next. A future is a bit, of which
 * somebody takes care at any time, also a task that runs. There is always memory for another stack.
 * Idle workers are awake (sleep.pml). When all tasks have ended, the workers stop where they are;
 * they don't return to their threads' own stacks.
 *
 * Variants that have an error, which spin must find:
 *   NO_HANDSHAKE       the notifier makes the resumption available, whatever its state
 *   BOTH_PUSH          it does so, too, if the stack is still being left
 *   NO_PUBLISHER_PUSH  who finds NOTIFIED does nothing
 *   PUBLISH_EARLY      LEFT is set before the switch
 *   TOUCH_AFTER        the resumption is looked at after LEFT was set, or after it was pushed
 *   ARRIVAL_FORGOTTEN  who arrives on the stack of another task does not publish what was left
 *   NEW_FORGOTTEN      the same on a new stack
 *   POOL_FORGOTTEN     the same on a stack from the pool
 *   STALE_WORKER       a task goes on with the worker that has begun it
 *   STALE_LOOP         a loop goes on with the worker that has made its stack
 *   SHARED_POOL        all workers have one pool, so a stack that is still being left is taken */
#define WORKERS 2
#define TASKS 2
#define SUSPENSIONS 2
#define STACKS (WORKERS + TASKS * SUSPENSIONS)
#define BIT(i) (1 << (i))
#ifdef SHARED_POOL
#define POOL pool[0]
#else
#define POOL pool[me]
#endif

mtype = { LEAVING, LEFT, NOTIFIED }

/* Tasks. Where there is no array, a bit says which. */
byte new = BIT(TASKS) - 1;
byte waiting; /* for a notifier */
byte num_suspensions[TASKS]; /* so far; also tells the resumptions of a task apart */
byte num_ended;

/* Resumptions: the one of each task's latest suspension. */
mtype state[TASKS] = LEAVING;
byte alive; /* not taken yet */
byte stack_of[TASKS];

/* Tasks that are new or may be resumed. */
byte deque[WORKERS];
byte injected = BIT(TASKS) - 1;

/* Stacks. The first ones are the threads' own. */
byte num_stacks = WORKERS;
byte num_running[STACKS]; /* workers that use it */
byte worker_of[STACKS];
byte top[STACKS]; /* the task on it + 1; 0: only a loop */

/* Used only by the worker itself. */
byte pool[WORKERS]; /* a bit for each stack */
byte left[WORKERS]; /* the task that has suspended + 1, until that is published */

#ifdef STALE_WORKER
byte begun_by[TASKS];
#endif
#ifdef STALE_LOOP
byte made_by[STACKS];
#endif

/* An access to a resumption that is in the frame of that suspension. */
inline touch(task, suspension)
{
    assert((alive & BIT(task)) && num_suspensions[task] == suspension)
}

inline make_available(queue, task, suspension)
{
    atomic {
        touch(task, suspension);
        assert(!((deque[0] | deque[1] | injected) & BIT(task)));
        queue = queue | BIT(task)
    }
}

/* The resumption of TASK was taken from a queue. Sets g, the stack to switch to. */
inline take(task)
{
    assert((alive & BIT(task)) && state[task] == NOTIFIED && top[stack_of[task]] == task + 1);
    alive = alive & ~BIT(task);
    g = stack_of[task]
}

/* The frames on top of the stack f: which worker they use. */
inline find_worker(w)
{
    me = worker_of[f];
#ifdef STALE_WORKER
    if
    :: top[f] > 0 -> me = begun_by[top[f] - 1]
    :: else
    fi;
#endif
#ifdef STALE_LOOP
    if
    :: top[f] == 0 -> me = made_by[f]
    :: else
    fi;
#endif
    assert(me == w)
}

/* Tells the notifier that the stack was left on which a task has suspended. */
inline publish()
{
    atomic {
        if
        :: left[me] > 0 ->
#ifndef NO_HANDSHAKE
            t = left[me] - 1;
            s = num_suspensions[t];
            is_leaving = 1;
#endif
            left[me] = 0
        :: else
        fi
    };
    if
    :: is_leaving ->
        atomic {
            touch(t, s);
            if
            :: state[t] == LEAVING -> state[t] = LEFT; is_leaving = 0
            :: else
            fi
        };
#ifndef NO_PUBLISHER_PUSH
        if
        :: is_leaving -> make_available(deque[me], t, s)
        :: else
        fi;
#endif
#ifdef TOUCH_AFTER
        atomic { touch(t, s) };
#endif
        atomic { is_leaving = 0; t = 0; s = 0 }
    :: else
    fi
}

/* From f to g. */
inline switch_to(w, publishes)
{
#ifdef PUBLISH_EARLY
    publish();
#endif
    worker_of[g] = me;
    atomic { /* until here, the stack f is in use */
        num_running[f]--;
        assert(num_running[g] == 0);
        num_running[g]++;
        f = g;
        g = 0;
        find_worker(w)
    };
    if
    :: publishes -> publish()
    :: else
    fi
}

/* Somebody completes the future for which the task t waits, for its s-th time. */
inline notify(queue)
{
    atomic {
        touch(t, s);
        was_left = state[t] == LEFT;
        state[t] = NOTIFIED
    };
#if defined(NO_HANDSHAKE) || defined(BOTH_PUSH)
    was_left = 1;
#endif
    if
    :: was_left -> make_available(queue, t, s)
    :: else
    fi;
    atomic { was_left = 0; t = 0; s = 0 }
}

/* A loop takes TASK from any queue. */
inline run_task(w, task)
{
    atomic {
        top[f] == 0 && ((deque[0] | deque[1] | injected) & BIT(task)) ->
        deque[0] = deque[0] & ~BIT(task);
        deque[1] = deque[1] & ~BIT(task);
        injected = injected & ~BIT(task);
        if
        :: new & BIT(task) ->
            new = new & ~BIT(task);
            top[f] = task + 1;
#ifdef STALE_WORKER
            begun_by[task] = w;
#endif
            goto again
        :: else ->
            take(task);
            POOL = POOL | BIT(f)
        fi
    };
    switch_to(w, true)
}

#ifdef ARRIVAL_FORGOTTEN
#define DIRECT_PUBLISHES false
#else
#define DIRECT_PUBLISHES true
#endif
#ifdef POOL_FORGOTTEN
#define POOL_PUBLISHES false
#else
#define POOL_PUBLISHES true
#endif
#ifdef NEW_FORGOTTEN
#define NEW_PUBLISHES false
#else
#define NEW_PUBLISHES true
#endif

/* Where a task that suspends goes from here: to that of another task, without a loop in between, to
 * one of the pool, or to a new one. */
inline leave(w)
{
    if
    :: atomic {
           deque[me] & ~new & 1 ->
           deque[me] = deque[me] & ~1;
           take(0)
       };
       switch_to(w, DIRECT_PUBLISHES)
    :: atomic {
           deque[me] & ~new & 2 ->
           deque[me] = deque[me] & ~2;
           take(1)
       };
       switch_to(w, DIRECT_PUBLISHES)
    :: atomic {
           POOL != 0 ->
           do
           :: POOL & BIT(g) -> break
           :: else -> g++
           od;
           POOL = POOL & ~BIT(g)
       };
       switch_to(w, POOL_PUBLISHES)
    :: atomic {
           POOL == 0 ->
           g = num_stacks;
           num_stacks++;
           worker_of[g] = me;
#ifdef STALE_LOOP
           made_by[g] = me
#endif
       };
       switch_to(w, NEW_PUBLISHES)
    fi
}

proctype worker(byte w)
{
    byte f = w, g, me = w; /* the stack that it runs on; what the frames there use as theirs */
    byte t, s;
    bit is_leaving, was_left;
again:
    do
    :: num_ended == TASKS -> break
    :: run_task(w, 0)
    :: run_task(w, 1)
    :: atomic {
           waiting != 0 ->
           if
           :: waiting & 1 -> t = 0
           :: waiting & 2 -> t = 1
           fi;
           waiting = waiting & ~BIT(t);
           s = num_suspensions[t]
       };
       notify(deque[me])
    :: atomic {
           top[f] > 0 && num_suspensions[top[f] - 1] < SUSPENSIONS ->
           t = top[f] - 1;
           num_suspensions[t]++;
           state[t] = LEAVING;
           alive = alive | BIT(t);
           stack_of[t] = f;
           left[me] = t + 1;
           waiting = waiting | BIT(t);
           t = 0
       };
       leave(w)
    :: atomic {
           top[f] > 0 && num_suspensions[top[f] - 1] == SUSPENSIONS ->
           top[f] = 0;
           num_ended++;
           find_worker(w)
       }
    od
}

proctype foreign()
{
    byte t, s;
    bit was_left;
    do
    :: num_ended == TASKS -> break
    :: atomic {
           waiting != 0 ->
           if
           :: waiting & 1 -> t = 0
           :: waiting & 2 -> t = 1
           fi;
           waiting = waiting & ~BIT(t);
           s = num_suspensions[t]
       };
       notify(injected)
    od
}

init
{
    byte i;
    atomic {
        for (i : 0 .. WORKERS - 1) {
            worker_of[i] = i;
            num_running[i] = 1;
#ifdef STALE_LOOP
            made_by[i] = i;
#endif
        }
        i = 0;
        run foreign();
        run worker(0);
        run worker(1)
    }
}
