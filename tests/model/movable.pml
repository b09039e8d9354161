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
 * If there is no memory for another stack, the task that suspends stays on its own one, and its
 * worker goes on there: it resumes another task, starts one on top of those that wait, or polls. It
 * may leave later. Then it comes back for any of the tasks that wait there, and each one looks
 * whether it is meant. No other worker may take such a stack, nor a thread's own one. So there is a
 * state more, PINNED, for which the notifier sends the resumption to the worker that has suspended
 * it:
 *
 *   who suspends             begins with PINNED instead of LEAVING on a thread's own stack, and on
 *                            top of a task that stays. Nobody publishes that such a stack was left.
 *   who stays                LEAVING -> PINNED. If that fails, what the task waits for has come.
 *   the notifier             PINNED stays so.
 *
 * A loop on a thread's own stack goes to another one before it starts a task, if it finds one.
 *
 * Checked is that no stack is run by two workers, that a thread's own one is run by that thread
 * alone, that each suspension is resumed once, after its stack was left, that nobody touches a
 * resumption after its frame may have ended, that a frame uses only the worker that runs it, and
 * that all tasks end.
 *
 * There are 2 workers, a thread that is no worker, memory for 3 stacks besides the threads' own
 * ones, and 2 tasks that suspend twice each. That has 3,875,860 states, found in 3 s in 540 MB.
 * -DSTACKS=6 has 7,647,114, -DSUSPENSIONS=3 has 10,551,386, and -DTASKS=3 -DSUSPENSIONS=1 has
 * 49,826,394, compressed in 3 GB, in 80 s (suite long).
 *
 * Simplifications: a queue is a set, so any of its works may be next. A future is a bit, of which
 * somebody takes care at any time, also a task that runs. All tasks may move. A worker takes a
 * stack of its pool, makes one, or finds none, whatever there is. One that stays polls there, not
 * on the stack of the loop. No stack is given to another worker's pool, or back to the system. Idle
 * workers are awake (sleep.pml). When all tasks have ended, the workers stop where they are; they
 * don't return to their threads' own stacks.
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
 *   SHARED_POOL        all workers have one pool, so a stack that is still being left is taken
 *   EXCHANGE           the notifier makes NOTIFIED of PINNED, too
 *   CHECK_FIRST        it does so if it becomes PINNED after the notifier has looked
 *   PINNED_TO_ANY      it makes a PINNED resumption available to all workers
 *   NO_PIN             who stays leaves it LEAVING
 *   PIN_ALWAYS         who stays makes PINNED of NOTIFIED, too
 *   WAIT_ALWAYS        who stays waits although what the task waits for has come
 *   PINNED_LEFT        who arrives publishes a PINNED resumption
 *   IN_PLACE_MOVES     a stack moves although a task stays there below the one that suspends
 *   OWN_MOVES          a thread's own stack moves
 *   NO_LOOK_WHO        a task on whose stack its worker goes on takes that for its own turn
 *   POOL_IN_PLACE      a worker that stays puts the stack into its pool when it leaves it */
#define WORKERS 2
#ifndef TASKS
#define TASKS 2
#endif
#ifndef SUSPENSIONS
#define SUSPENSIONS 2
#endif
#ifndef STACKS
#define STACKS 5
#endif
#define BIT(i) (1 << (i))
#ifdef SHARED_POOL
#define POOL pool[0]
#else
#define POOL pool[me]
#endif

#ifdef OWN_MOVES
#define IS_OWN false
#else
#define IS_OWN (f < WORKERS)
#endif
#ifdef IN_PLACE_MOVES
#define IS_IN_PLACE false
#else
#define IS_IN_PLACE (under[top[f] - 1] > 0)
#endif
/* What suspends on the stack f is pinned. */
#define IS_PINNED_HERE (IS_OWN || IS_IN_PLACE)
/* The task on top of the stack f. */
#define WAITS (top[f] > 0 && (alive & BIT(top[f] - 1)))
#define RUNS (top[f] > 0 && !(alive & BIT(top[f] - 1)))
/* A loop on a thread's own stack sees a task that has not started. */
#define LEAVES_OWN (top[f] == 0 && f < WORKERS && ((deque[0] | deque[1] | injected) & new))

mtype = { PINNED, LEAVING, LEFT, NOTIFIED }

/* Tasks. Where there is no array, a bit says which. */
byte new = BIT(TASKS) - 1;
byte waiting; /* for a notifier */
byte num_suspensions[TASKS]; /* so far; also tells the resumptions of a task apart */
byte num_ended;
byte under[TASKS]; /* the task that stays below it + 1; 0: only a loop */

/* Resumptions: the one of each task's latest suspension. */
mtype state[TASKS] = LEAVING;
byte alive; /* has not run yet */
byte stack_of[TASKS];
byte home[TASKS]; /* the worker that has suspended */

/* Tasks that are new or may be resumed. */
byte deque[WORKERS];
byte injected = BIT(TASKS) - 1;
byte inbox[WORKERS]; /* for this worker alone */

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
        assert(!((deque[0] | deque[1] | injected | inbox[0] | inbox[1]) & BIT(task)));
        queue = queue | BIT(task)
    }
}

/* The resumption of TASK was taken from a queue. Sets g, the stack to go on with, which may be f.
 * If TASK has stayed, others may wait on top of it there. */
inline take(task)
{
    assert(alive & BIT(task));
    g = stack_of[task];
    assert(state[task] == PINNED || (state[task] == NOTIFIED && top[g] == task + 1));
#ifdef NO_LOOK_WHO
    alive = alive & ~BIT(top[g] - 1);
#endif
    alive = alive & ~BIT(task)
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
        assert(g >= WORKERS || g == w); /* that of a thread is its own */
        f = g;
        g = 0;
        find_worker(w)
    };
    if
    :: publishes -> publish()
    :: else
    fi
}

/* A future that is to be completed: sets t and s. */
inline choose_waiting()
{
    if
    :: waiting & 1 -> t = 0
    :: waiting & 2 -> t = 1
#if TASKS == 3
    :: waiting & 4 -> t = 2
#endif
    fi;
    waiting = waiting & ~BIT(t);
    s = num_suspensions[t]
}

/* Somebody completes the future for which the task t waits, for its s-th time. */
inline notify(queue)
{
#ifdef CHECK_FIRST
    atomic { touch(t, s); was = state[t] };
#endif
    atomic {
        touch(t, s);
#ifdef CHECK_FIRST
        if
        :: was != PINNED -> was = state[t]; state[t] = NOTIFIED
        :: else
        fi
#else
        was = state[t];
        if
#ifndef EXCHANGE
        :: was == PINNED
#endif
        :: else -> state[t] = NOTIFIED
        fi
#endif
    };
#if defined(NO_HANDSHAKE) || defined(BOTH_PUSH)
    if
    :: was == LEAVING -> was = LEFT
    :: else
    fi;
#endif
    if
    :: was == LEFT -> make_available(queue, t, s)
#ifdef PINNED_TO_ANY
    :: was == PINNED -> make_available(queue, t, s)
#else
    :: was == PINNED -> make_available(inbox[home[t]], t, s)
#endif
    :: else
    fi;
    atomic { was = 0; t = 0; s = 0 }
}

/* A loop takes TASK from any queue, or a worker that stays does. */
inline run_task(w, task)
{
    atomic {
        (top[f] == 0 || stays) && ((deque[0] | deque[1] | injected | inbox[me]) & BIT(task)) ->
        deque[0] = deque[0] & ~BIT(task);
        deque[1] = deque[1] & ~BIT(task);
        injected = injected & ~BIT(task);
        inbox[me] = inbox[me] & ~BIT(task);
        stays = 0;
        if
        :: new & BIT(task) ->
            new = new & ~BIT(task);
            under[task] = top[f];
            top[f] = task + 1;
#ifdef STALE_WORKER
            begun_by[task] = w;
#endif
            goto again
        :: else -> take(task)
        fi;
        if
        :: g == f -> g = 0; goto again
        :: else
        fi;
#ifndef POOL_IN_PLACE
        if
        :: top[f] == 0 -> POOL = POOL | BIT(f)
        :: else
        fi
#else
        POOL = POOL | BIT(f)
#endif
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

/* Sets g. The thread's own stack is taken last. */
inline take_pooled()
{
    g = STACKS - 1;
    do
    :: POOL & BIT(g) -> break
    :: else -> g--
    od;
    POOL = POOL & ~BIT(g)
}

inline make_stack()
{
    g = num_stacks;
    num_stacks++;
    worker_of[g] = me;
#ifdef STALE_LOOP
    made_by[g] = me
#endif
}

/* The task on top of f waits, and is about to leave it. */
inline set_left()
{
    if
#ifndef PINNED_LEFT
    :: IS_PINNED_HERE || state[top[f] - 1] == PINNED
#endif
    :: else -> left[me] = top[f]
    fi
}

/* To the stack of another task, without a loop in between. */
inline go_to(w, task)
{
    atomic {
        WAITS && !stays && ((deque[me] | inbox[me]) & ~new & BIT(task)) ->
        deque[me] = deque[me] & ~BIT(task);
        inbox[me] = inbox[me] & ~BIT(task);
        take(task);
        if
        :: g == f -> g = 0; goto again
        :: else -> set_left()
        fi
    };
    switch_to(w, DIRECT_PUBLISHES)
}

/* There is no memory for another stack. */
inline stay()
{
    t = top[f] - 1;
    if
#ifdef NO_PIN
    :: true -> stays = 1
#else
    :: state[t] == PINNED -> stays = 1
#ifdef PIN_ALWAYS
    :: else -> state[t] = PINNED; stays = 1
#else
    :: state[t] == LEAVING -> state[t] = PINNED; stays = 1
    :: else ->
        assert(state[t] == NOTIFIED);
#ifdef WAIT_ALWAYS
        stays = 1
#else
        alive = alive & ~BIT(t)
#endif
#endif
#endif
    fi;
    t = 0
}

proctype worker(byte w)
{
    byte f = w, g, me = w; /* the stack that it runs on; what the frames there use as theirs */
    byte t, s;
    mtype was;
    bit is_leaving;
    bit stays; /* the task on top waits, and its worker has found no stack */
again:
    do
    :: num_ended == TASKS -> break
    :: run_task(w, 0)
    :: run_task(w, 1)
#if TASKS == 3
    :: run_task(w, 2)
#endif
    :: atomic { LEAVES_OWN && POOL != 0 -> take_pooled(); POOL = POOL | BIT(f) };
       switch_to(w, true)
    :: atomic { LEAVES_OWN && num_stacks < STACKS -> make_stack(); POOL = POOL | BIT(f) };
       switch_to(w, true)
    :: atomic {
           waiting != 0 && (!WAITS || stays) ->
           stays = 0;
           choose_waiting()
       };
       notify(deque[me])
    :: atomic {
           RUNS && num_suspensions[top[f] - 1] < SUSPENSIONS ->
           t = top[f] - 1;
           num_suspensions[t]++;
           if
           :: IS_PINNED_HERE -> state[t] = PINNED
           :: else -> state[t] = LEAVING
           fi;
           alive = alive | BIT(t);
           stack_of[t] = f;
           home[t] = me;
           waiting = waiting | BIT(t);
           t = 0
       }
    :: go_to(w, 0)
    :: go_to(w, 1)
#if TASKS == 3
    :: go_to(w, 2)
#endif
    :: atomic { WAITS && !stays && POOL != 0 -> set_left(); take_pooled() };
       switch_to(w, POOL_PUBLISHES)
    :: atomic { WAITS && !stays && num_stacks < STACKS -> set_left(); make_stack() };
       switch_to(w, NEW_PUBLISHES)
    :: atomic { WAITS && !stays -> stay() }
    :: atomic {
           RUNS && num_suspensions[top[f] - 1] == SUSPENSIONS ->
           t = top[f] - 1;
           top[f] = under[t];
           under[t] = 0;
           t = 0;
           num_ended++;
           find_worker(w)
       }
    od
}

proctype foreign()
{
    byte t, s;
    mtype was;
    do
    :: num_ended == TASKS -> break
    :: atomic { waiting != 0 -> choose_waiting() };
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
