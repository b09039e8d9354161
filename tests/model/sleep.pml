/* SPDX-License-Identifier: Apache-2.0 */
/* How workers go to sleep and are woken: runtime/task/idle.c, with the wake-ups of queues.c and of
 * a worker that makes way (queues.c). No wake-up is lost: each work is run in the end, although all
 * workers but one may have got works that last until nothing else is left to do.
 *
 * All operations on shared words are sequentially consistent there, so each is one step here. Works
 * are pushed by a thread that is no worker, and spawned by works. One is there from the start, for
 * the first worker alone, as if it had yielded. One comes with an event, which only the worker
 * that has the token notices, in a poll or while it is parked. It pushes the work to its deque.
 *
 * With 2 workers that has 10,004,663 states, found in 12 s in 840 MB. -DWORKERS=3 -DPUSHES=0 has
 * 33,391,421, compressed in 1.5 GB, in 65 s (suite long).
 *
 * Simplifications: a deque is the number of works in it. The last look before a sleep, and the one
 * that tells whether a worker is needed, go from place to place; the others look at all places at
 * once. A search ends without work at any time. A worker that runs may poll and look for
 * injected works before each work. What is sent to a certain worker wakes this one, which is the
 * easier case, and is left out. So are the end of the scheduler, and the stacks that a sleeper
 * gives back. A parked worker whose loop has woken looks only at its state before it parks again.
 *
 * Variants that have an error, which spin must find:
 *   NO_LAST_LOOK        a worker does not look for work after it has written its sleep_state
 *   NO_LOOK_AT_TOKEN    and not whether the token is free
 *   LATE_COUNT          it counts itself in num_sleeping only after that look
 *   LATE_GIVE_UP        it leaves num_searching only after that look
 *   PARK_AGAIN          when the loop has woken it, it parks again, whatever its state
 *   NO_TAKEOVER         it does not know that whoever has woken it counts it as a searcher
 *   NO_WAKE_AT_PUSH     who pushes a work to a deque wakes nobody
 *   NO_WAKE_AT_RELEASE  who releases the token wakes nobody
 *   NO_CHAIN            a searcher that has found work wakes nobody, although there is more
 *   NO_TOKEN_NEEDED     it does so only if there is more work, and not if nobody has the token
 *   NO_SEARCH_AGAIN     a worker whose last look has found something does not count as a searcher
 *                       again, so it wakes nobody although there is more; this takes 3 workers
 *   NO_RECHECK          who was to wake a worker, and has found none that sleeps, leaves it at that
 *   NO_RECHECK_OF_SOME  the same for one that makes way
 *   SOME_UNCOUNTED      a worker that makes way does not count the searchers that it wakes
 *
 * With PROGRESS there is a progress thread (runtime/task/progress.c). It has the token from the
 * start to the end, and what it notices goes where works from outside go. Some works are chores,
 * which it may run, too, and all workers may have got works that last until nothing but chores is
 * left. It leaves chores to idle workers, looking on meanwhile. Here it then waits until they are
 * gone, or until no worker is idle: a chore that is left for ever is a deadlock. Which workers are
 * idle it sees at once. -DPROGRESS -DPUSHES=0 has 2,333,569 states, with one worker and PUSHES=1
 * 289,509. With two workers and PUSHES=1 there are too many for 4 GB. So there are four searches,
 * which together are that one: what comes from outside is a work (-DPUSH_WORKS) or a chore
 * (-DPUSH_CHORES), and so is what is spawned (-DSPAWN_WORKS, -DSPAWN_CHORES). They have 34,268,874
 * to 50,332,867 states, compressed in 2.0 to 2.6 GB, in two minutes each (suite long).
 *
 * Variants of that which have an error:
 *   CHORE_WAKES_NO_WORKER    who posts a chore wakes no worker
 *   CHORE_WAKES_NO_PROGRESS  and not the progress thread
 *   NO_LOOK_AT_CHORES        a worker does not look for chores after it has written its sleep_state
 *   NO_CHORES_NEEDED         a searcher that has found work wakes nobody for the sake of chores
 *   PARK_UNLOOKED            the progress thread does not, after it has written its state
 *   PROGRESS_PARKS_AGAIN     when the loop has woken it, it parks again, whatever its state
 *   LEAVE_ALL                it leaves chores to workers that are not idle, too */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SPAWNS
#define SPAWNS 1
#endif
#ifndef PUSHES
#define PUSHES 1
#endif

#ifdef PROGRESS
#define FIRST_HOLDER 255
#define MOST_LONG WORKERS
#define HAS_CHORE (num_chores > 0)
#else
#define FIRST_HOLDER 0
#define MOST_LONG (WORKERS - 1)
#define HAS_CHORE false
#endif

mtype = { AWAKE, AWAKE_TO_SEARCH, SLEEPING, PARKED }

byte deque[WORKERS];
byte injected;
bit own[WORKERS]; /* work for this worker alone */
byte token = FIRST_HOLDER; /* the holder + 1; 0: free */
mtype sleep_state[WORKERS] = AWAKE;
short num_searching;
short num_sleeping; /* may be -1 for a moment */
bit is_searching[WORKERS];
bit loop_woken;                 /* ends a park */
bit event;                      /* has come, and was not noticed */
byte num_spawns = SPAWNS;       /* still to come */
byte num_unended = 2 + PUSHES;  /* works, including those that are pushed and the event's */
byte num_long;                  /* works that last until nothing else is unended */
byte num_chores;                /* that nobody runs */
byte num_unended_chores;        /* among num_unended */
mtype progress_state = AWAKE;

#if WORKERS == 1
#define HAS_DEQUE (deque[0] > 0)
#define HAS_IDLE IS_IDLE(0)
#elif WORKERS == 3
#define HAS_DEQUE (deque[0] > 0 || deque[1] > 0 || deque[2] > 0)
#else
#define HAS_DEQUE (deque[0] > 0 || deque[1] > 0)
#endif
#if WORKERS == 2
#define HAS_IDLE (IS_IDLE(0) || IS_IDLE(1))
#endif
#define HAS_WORK (injected > 0 || HAS_DEQUE || HAS_CHORE)
#define IS_IDLE(w) (is_searching[w] || sleep_state[w] != AWAKE)
#define IS_ASLEEP(w) (sleep_state[w] == SLEEPING || sleep_state[w] == PARKED)

/* wake(): the state, then the count, then the loop or the futex. The futex is no step, since a
 * sleeper waits for another state. Sets any_woken. */
inline wake_any()
{
    do /* each look is a step */
    :: atomic {
           if
           :: sleep_state[at] == SLEEPING -> sleep_state[at] = AWAKE_TO_SEARCH; any_woken = 1
           :: sleep_state[at] == PARKED -> at++; parked = at
           :: else -> at++
           fi;
           if
           :: any_woken -> at = 0; parked = 0; break
           :: !any_woken && at == WORKERS -> at = 0; break
           :: else
           fi
       }
    od;
    if
    :: any_woken -> num_sleeping--
    :: !any_woken && parked == 0
    :: parked > 0 ->
        atomic {
            if
            :: IS_ASLEEP(parked - 1) -> sleep_state[parked - 1] = AWAKE_TO_SEARCH; any_woken = 1
            :: else
            fi;
            parked = 0
        };
        if
        :: any_woken -> num_sleeping--; loop_woken = 1
        :: else
        fi
    fi
}

/* Leaves the loop around it if no worker is needed. */
inline break_unless_needed()
{
    if
#ifndef NO_TOKEN_NEEDED
    :: token == 0
#endif
    :: else ->
        if
        :: injected > 0
        :: else ->
            if
            :: HAS_DEQUE
#ifndef NO_CHORES_NEEDED
            :: HAS_CHORE
#endif
            :: else -> break
            fi
        fi
    fi
}

#if WORKERS == 1
inline wake_one()
{
    atomic {
        if
        :: sleep_state[0] == SLEEPING -> sleep_state[0] = AWAKE; any_woken = 1
        :: else
        fi
    };
    if
    :: any_woken -> any_woken = 0; num_sleeping--
    :: else
    fi
}
#else
inline wake_one()
{
    do
    :: num_sleeping <= 0 -> break
    :: else ->
        atomic {
            if
            :: num_searching == 0 -> num_searching = 1
            :: else -> break
            fi
        };
        wake_any();
        atomic {
            if
            :: any_woken -> any_woken = 0; break
            :: else -> num_searching--
            fi
        };
#ifdef NO_RECHECK
        break
#else
        break_unless_needed()
#endif
    od
}
#endif

inline wake_if_needed()
{
    do
    :: break_unless_needed();
       wake_one();
       break
    od
}

inline push(i)
{
    deque[i]++;
#if !defined(NO_WAKE_AT_PUSH) && WORKERS > 1
    wake_one()
#endif
}

/* Of a worker that makes way: whether or not somebody searches. */
inline wake_some()
{
    if
    :: num_sleeping <= 0
    :: else ->
#ifndef SOME_UNCOUNTED
        num_searching++;
#endif
        wake_any();
        if
        :: any_woken -> any_woken = 0
        :: else ->
#ifndef SOME_UNCOUNTED
            num_searching--;
#endif
#ifndef NO_RECHECK_OF_SOME
            wake_if_needed()
#endif
        fi
    fi
}

inline search_end(i)
{
    if
    :: is_searching[i] ->
        atomic { is_searching[i] = 0; num_searching-- };
#if !defined(NO_CHAIN) && WORKERS > 1
        wake_if_needed()
#endif
    :: else
    fi
}

inline post_chore()
{
    num_chores++;
#ifndef CHORE_WAKES_NO_WORKER
    wake_one();
#endif
#ifndef CHORE_WAKES_NO_PROGRESS
    atomic {
        if
        :: progress_state == PARKED -> progress_state = AWAKE; any_woken = 1
        :: else
        fi
    };
    if
    :: any_woken -> any_woken = 0; loop_woken = 1
    :: else
    fi
#endif
}

inline run_chore()
{
    atomic { num_unended_chores--; num_unended-- }
}

inline run_work(i)
{
    do
#ifndef SPAWN_CHORES
    :: atomic { num_spawns > 0 -> num_spawns--; num_unended++ };
       push(i);
       if
       :: wake_some()
       :: skip
       fi
#endif
#if defined(PROGRESS) && !defined(SPAWN_WORKS)
    :: atomic { num_spawns > 0 -> num_spawns--; num_unended++; num_unended_chores++ };
       post_chore()
#endif
    :: atomic { num_unended--; break }
    od;
    if
    :: atomic { num_long < MOST_LONG -> num_long++ };
       atomic { /* until there is work that no other worker can run */
           own[i] || (num_long == WORKERS && num_unended > num_unended_chores) -> num_long--
       }
    :: skip
    fi
}

#ifdef LATE_COUNT
#define COUNT_EARLY skip
#define COUNT_LATE num_sleeping++
#else
#define COUNT_EARLY num_sleeping++
#define COUNT_LATE skip
#endif

/* Until somebody changes the state, or the loop brings work. */
inline wait(i)
{
    do
    :: !is_holder -> sleep_state[i] != SLEEPING; break /* a lost wake-up is a deadlock here */
    :: atomic {
           is_holder && loop_woken ->
           loop_woken = 0;
#ifndef PARK_AGAIN
           if
           :: sleep_state[i] != PARKED -> break
           :: else
           fi
#endif
       }
    :: atomic { is_holder && event -> event = 0 };
       push(i);
       break
    od
}

inline sleep(i)
{
    sleep_state[i] = (is_holder -> PARKED : SLEEPING);
    COUNT_EARLY;
    if
#ifndef NO_LAST_LOOK
    :: own[i] || injected > 0 -> COUNT_LATE; has_found = 1
#endif
    :: else ->
        if
#ifndef NO_LAST_LOOK
        :: HAS_DEQUE -> COUNT_LATE; has_found = 1
#endif
#ifndef NO_LOOK_AT_CHORES
        :: HAS_CHORE -> COUNT_LATE; has_found = 1
#endif
        :: else ->
            if
#ifndef NO_LOOK_AT_TOKEN
            :: !is_holder && token == 0 -> COUNT_LATE; has_found = 1
#endif
            :: else ->
                COUNT_LATE;
#ifdef LATE_GIVE_UP
                atomic { is_searching[i] = 0; num_searching-- };
#endif
                wait(i)
            fi
        fi
    fi;
    atomic {
#ifdef LATE_GIVE_UP
        if
        :: is_searching[i] -> num_searching--
        :: else
        fi;
#endif
#ifdef NO_TAKEOVER
        is_searching[i] = 0;
#else
        is_searching[i] = sleep_state[i] == AWAKE_TO_SEARCH;
#endif
        was_asleep = IS_ASLEEP(i);
        sleep_state[i] = AWAKE
    };
    atomic { num_sleeping = num_sleeping - was_asleep; was_asleep = 0 };
    atomic {
        if /* what it has found was left to it, and may not be all */
#ifndef NO_SEARCH_AGAIN
        :: has_found && !is_searching[i] -> is_searching[i] = 1; num_searching++
#endif
        :: else
        fi;
        has_found = 0
    }
}

/* A poll that finds an event ends the search; it is at the end of the loop in worker(). */
inline idle(i)
{
    atomic {
        if
        :: token == 0 -> token = i + 1; is_holder = 1
        :: else
        fi
    };
    atomic {
        if
        :: is_searching[i]
        :: else -> is_searching[i] = 1; num_searching++
        fi
    };
    do
    :: atomic { !is_holder && token == 0 -> token = i + 1; is_holder = 1 }
    :: HAS_WORK || own[i] || (is_holder && event) -> break
    ::
#ifndef LATE_GIVE_UP
       atomic { is_searching[i] = 0; num_searching-- };
#endif
       sleep(i);
       break
    od
}

proctype worker(byte i)
{
    bit is_holder, any_woken, was_asleep, has_found, is_chore;
    byte at, parked, n;
    {
        do
        :: if
           :: atomic { deque[0] > 0 -> deque[0]-- }
#if WORKERS > 1
           :: atomic { deque[1] > 0 -> deque[1]-- }
#endif
#if WORKERS == 3
           :: atomic { deque[2] > 0 -> deque[2]-- }
#endif
           :: atomic { own[i] -> own[i] = 0 }
#ifdef PROGRESS
           :: atomic { num_chores > 0 -> num_chores--; is_chore = 1 }
#endif
           fi;
           search_end(i);
#ifdef PROGRESS
           if
           :: is_chore -> is_chore = 0; run_chore()
           :: else -> run_work(i)
           fi
#else
           run_work(i)
#endif
        :: atomic { injected > 0 -> n = injected; injected = 0 };
           do
           :: n > 0 -> n--; push(i)
           :: else -> break
           od
        :: if
           :: atomic { token == 0 -> token = i + 1; is_holder = 1 }
           :: !HAS_WORK && !own[i] -> idle(i)
           fi;
           if /* poll */
           :: atomic { is_holder && event -> event = 0 };
              push(i)
           :: skip
           fi;
           if
           :: is_holder ->
               atomic { token = 0; is_holder = 0 };
#ifndef NO_WAKE_AT_RELEASE
               wake_one()
#endif
           :: else
           fi
        od
    } unless { num_unended == 0 }
}

proctype outside()
{
    bit any_woken;
    byte at, parked, n = PUSHES;
    {
        do
#ifndef PUSH_CHORES
        :: n > 0 -> atomic { n--; injected++ }; wake_one()
#endif
#if defined(PROGRESS) && !defined(PUSH_WORKS)
        :: n > 0 -> atomic { n--; num_unended_chores++ }; post_chore()
#endif
        :: else -> break
        od
    } unless { num_unended == 0 }
}

#ifdef PROGRESS
/* Until somebody changes the state, or the loop brings work. */
inline park()
{
    progress_state = PARKED;
    do
#ifndef PARK_UNLOOKED
    :: HAS_CHORE -> break
    :: !HAS_CHORE ->
#else
    ::
#endif
       do
       :: atomic {
              loop_woken ->
              loop_woken = 0;
#ifndef PROGRESS_PARKS_AGAIN
              if
              :: progress_state != PARKED -> break
              :: else
              fi
#endif
          }
       :: atomic { event -> event = 0 };
          injected++;
          wake_one();
          break
       od;
       break
    od;
    progress_state = AWAKE
}

proctype progress()
{
    bit any_woken;
    byte at, parked;
    {
        do
        :: atomic { event -> event = 0 }; /* poll */
           injected++;
           wake_one()
#ifndef LEAVE_ALL
        :: atomic { HAS_CHORE && !HAS_IDLE -> num_chores-- };
           run_chore()
#endif
        :: !HAS_CHORE -> park()
        od
    } unless { num_unended == 0 }
}
#endif

init
{
    atomic {
        own[0] = 1;
        run outside();
        run worker(0)
#if WORKERS > 1
        ; run worker(1)
#endif
#if WORKERS == 3
        ; run worker(2)
#endif
#ifdef PROGRESS
        ; run progress()
#endif
    }
    event = 1
}
