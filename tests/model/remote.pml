/* SPDX-License-Identifier: Apache-2.0 */
/* Remote tasks between two localities, of runtime/remote: flow control, and a death.
 *
 * The program of locality A calls a function in B, CALLS times at once. It calls one in A and
 * waits for it, and that one calls and waits for one in B again, DEPTH calls below each other. So
 * what is admitted may wait for what is not.
 *
 * A call is held back at its caller while WINDOW calls of that caller are not known to be admitted
 * at the other side. It then is on its way, waits at the other side to be admitted, and runs. BUSY
 * calls may be admitted and not over while one of these could go on, else ROOM of them. If others
 * wait for room and none has ended between two ticks, the room is doubled, until so much is not
 * needed any more. What was admitted is told with results, or alone once it is half a window.
 * Messages overtake each other. A call of the program ends when its result is there and its send is
 * over: until then the transport reads IN.
 *
 * B may die at any time. Then its messages are lost; A's transport refuses more of them (dead),
 * ends its sends, and then ends the calls that have no result (told). What is sent in between
 * fails, too.
 *
 * Simplifications: there is no time; a tick comes only where it has an effect. Only the send of the
 * program's calls is a part of its own.
 *
 * Built with one of these, the model has an error, and spin must find it:
 * NO_WINDOW        a caller sends all its calls at once: the other side keeps more than a window.
 * NO_ROOM          all calls are admitted: as many functions run, each with its stack.
 * NO_BUSY          a busy locality admits as many as an idle one.
 * NO_IDLE          an idle locality admits as few as a busy one: those that wait for others wait
 *                  for ever.
 * NO_MORE          the room is not doubled when none has ended: the same.
 * TELL_AT_END      calls count for the window until they are over: the same.
 * NO_TELL          what was admitted is told with results only: the same.
 * NO_END_HELD      a death does not end calls that are held back.
 * NO_END_SENT      a death does not end calls that were sent.
 * NO_OVER          calls begin after the death, and nobody ends them.
 * END_EARLY        a call ends with its result, and the transport still reads IN.
 * BOTH_END         a send that fails ends its call's result, which the death has ended already. */
#ifndef CALLS
#define CALLS 2
#endif
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef BUSY
#define BUSY 1
#endif
#ifndef ROOM
#define ROOM 2
#endif
#ifndef DEPTH
#define DEPTH 3
#endif

#define A 0
#define B 1

/* Each of the program's calls has calls below it, of which the deepest is at one of these: */
mtype = { NONE, HELD, EXPECTED, SENT, WAITS, RUNS, RETURNS, RESULT, LOST, OVER };
mtype at[CALLS] = NONE;
byte depth[CALLS];       /* from 1; odd ones are A's calls in B, even ones B's in A */
byte parts[CALLS];       /* of the program's call that are not over */
bit expected[CALLS];     /* the program's call waits for its result */
bit sending[CALLS];      /* its send is not over */
bit late[CALLS];         /* it has begun when the death had ended all others */

byte unadmitted[2];      /* by caller */
byte untold[2];          /* admitted calls of that caller that it was not told of */
byte telling[2];         /* the same, on the way to it */
byte num_waiting[2];     /* by the locality that is to run them */
byte num_admitted[2];
byte num_running[2];     /* of these, that could go on */
byte room[2] = ROOM;
bit has_ended[2];
bit may_die, dead, told;
byte num_over;

#define CALLER(i) ((depth[i] + 1) % 2)
#define RUNNER(i) (depth[i] % 2)
#define IS_IDLE(l) (num_running[l] == 0)

#ifdef NO_ROOM
#define HAS_ROOM(l) true
#else
#define HAS_ROOM(l) (num_admitted[l] < room[l])
#endif

#ifdef NO_BUSY
#define IS_ADMITTED(l) HAS_ROOM(l)
#else
#ifdef NO_IDLE
#define IS_ADMITTED(l) (HAS_ROOM(l) && num_admitted[l] < BUSY)
#else
#define IS_ADMITTED(l) (HAS_ROOM(l) && (num_admitted[l] < BUSY || IS_IDLE(l)))
#endif
#endif

#ifdef NO_WINDOW
#define IS_OPEN(l) true
#else
#define IS_OPEN(l) (unadmitted[l] < WINDOW)
#endif

inline part_over(i)
{
    assert(parts[i] > 0);
    parts[i]--;
#ifdef END_EARLY
    if
    :: !expected[i] && num_over < CALLS && at[i] != OVER -> assert(!sending[i]); at[i] = OVER;
       num_over++
    :: else
    fi
#else
    if
    :: parts[i] == 0 -> assert(!sending[i] && !expected[i]); at[i] = OVER; num_over++
    :: else
    fi
#endif
}

/* The function that has called the one at the current depth goes on. */
inline go_on(i)
{
    depth[i]--;
    num_running[RUNNER(i)]++;
    at[i] = RETURNS
}

/* The call at the current depth has no result, since B is dead. What runs in A goes on. */
inline fail(i)
{
    if
    :: depth[i] == 1 -> expected[i] = 0; at[i] = LOST; part_over(i)
    :: else -> go_on(i)
    fi
}

/* A function in LOCALITY is over. */
inline leave(locality)
{
    num_admitted[locality]--;
    num_running[locality]--;
    has_ended[locality] = 1;
#ifdef TELL_AT_END
    untold[1 - locality]++;
#endif
}

inline act(i)
{
    if
    /* A call begins. */
    :: atomic { at[i] == NONE && !told ->
           depth[i] = 1; parts[i] = 2; expected[i] = 1; sending[i] = 1; at[i] = HELD }
#ifdef NO_OVER
    :: atomic { at[i] == NONE && told ->
           depth[i] = 1; parts[i] = 2; expected[i] = 1; sending[i] = 1; at[i] = HELD;
           late[i] = 1 }
#else
    :: atomic { at[i] == NONE && told -> depth[i] = 1; at[i] = OVER; num_over++ }
#endif
    :: atomic { at[i] == RUNS && depth[i] < DEPTH && !(RUNNER(i) == A && told) &&
           !(RUNNER(i) == B && dead) -> num_running[RUNNER(i)]--; depth[i]++; at[i] = HELD }
    :: atomic { at[i] == RUNS && depth[i] < DEPTH && RUNNER(i) == A && told -> at[i] = RETURNS }

    /* The window lets it go; then it is sent. */
    :: atomic { at[i] == HELD && !(CALLER(i) == B && dead) && !(CALLER(i) == A && told) &&
           IS_OPEN(CALLER(i)) -> unadmitted[CALLER(i)]++; at[i] = EXPECTED }
    :: atomic { at[i] == EXPECTED && !dead -> at[i] = SENT }
    :: atomic { at[i] == EXPECTED && CALLER(i) == A && dead && !told -> /* the send fails */
           if
           :: depth[i] == 1 -> sending[i] = 0; expected[i] = 0; at[i] = LOST; part_over(i);
              part_over(i)
           :: else -> go_on(i)
           fi }
#ifdef BOTH_END
    :: atomic { at[i] == LOST && sending[i] && told && depth[i] == 1 -> sending[i] = 0;
           part_over(i); part_over(i) }
#endif
    :: atomic { sending[i] && depth[i] >= 1 && (dead || depth[i] > 1 ||
           (at[i] != NONE && at[i] != HELD && at[i] != EXPECTED && at[i] != SENT)) &&
           (at[i] != HELD || depth[i] > 1) && (at[i] != EXPECTED || depth[i] > 1) ->
           sending[i] = 0; part_over(i) }

    /* It arrives, and is admitted. */
    :: atomic { at[i] == SENT && !dead ->
           num_waiting[RUNNER(i)]++; at[i] = WAITS; assert(num_waiting[RUNNER(i)] <= WINDOW) }
    :: atomic { at[i] == WAITS && !(RUNNER(i) == B && dead) &&
           IS_ADMITTED(RUNNER(i)) ->
           assert(num_admitted[RUNNER(i)] < BUSY || IS_IDLE(RUNNER(i)));
           num_waiting[RUNNER(i)]--;
           num_admitted[RUNNER(i)]++;
           num_running[RUNNER(i)]++;
           assert(num_admitted[RUNNER(i)] <= room[RUNNER(i)]);
#ifndef TELL_AT_END
           untold[CALLER(i)]++;
#endif
           at[i] = RUNS }

    /* It returns, and the result goes back. */
    :: atomic { (at[i] == RETURNS || (at[i] == RUNS && depth[i] == DEPTH)) &&
           !(RUNNER(i) == B && dead) ->
           leave(RUNNER(i));
           telling[CALLER(i)] = telling[CALLER(i)] + untold[CALLER(i)];
           untold[CALLER(i)] = 0;
           at[i] = RESULT }
    :: atomic { at[i] == RESULT && !dead ->
           if
           :: depth[i] == 1 -> expected[i] = 0; at[i] = LOST; part_over(i)
           :: else -> go_on(i)
           fi }

    /* A is told of the death: its calls without a result end. */
    :: atomic { told && !late[i] && CALLER(i) == A && depth[i] >= 1 && at[i] != OVER &&
           at[i] != LOST && at[i] != NONE &&
#ifdef NO_END_HELD
           at[i] != HELD &&
#endif
#ifdef NO_END_SENT
           at[i] != SENT && at[i] != WAITS && at[i] != RUNS && at[i] != RETURNS &&
           at[i] != RESULT &&
#endif
           (depth[i] > 1 || expected[i]) ->
           if
           :: at[i] == HELD && depth[i] == 1 -> sending[i] = 0; part_over(i)
           :: else
           fi;
           fail(i) }
    /* The program's call ends while the one below it is in A, or lost: that one goes on alone. */
    :: atomic { told && depth[i] > 1 && expected[i] && (CALLER(i) == B || at[i] == RETURNS) &&
           at[i] != OVER ->
           if /* what is left in A of it */
           :: at[i] == WAITS -> num_waiting[A]--
           :: (at[i] == RUNS || at[i] == RETURNS) && RUNNER(i) == A -> num_admitted[A]--;
              num_running[A]--; has_ended[A] = 1
           :: else
           fi;
           expected[i] = 0; depth[i] = 1; at[i] = LOST; part_over(i) }
    fi
}

active [CALLS] proctype call()
{
    do
    :: act(_pid)
    :: atomic { at[_pid] == OVER -> break }
    od
}

/* Calls wait for room in LOCALITY. */
#define IS_FULL(locality) (num_waiting[locality] > 0 && num_admitted[locality] >= room[locality])

/* What comes back to a caller, ticks, and the death. */
active proctype rest()
{
    if
    :: may_die = 1
    :: skip
    fi;
end:
    do
    :: atomic { telling[A] > 0 && !dead -> unadmitted[A] = unadmitted[A] - telling[A];
           telling[A] = 0 }
    :: atomic { telling[B] > 0 && !dead -> unadmitted[B] = unadmitted[B] - telling[B];
           telling[B] = 0 }
#ifndef NO_TELL
    :: atomic { untold[A] >= (WINDOW + 1) / 2 -> telling[A] = telling[A] + untold[A];
           untold[A] = 0 }
    :: atomic { untold[B] >= (WINDOW + 1) / 2 -> telling[B] = telling[B] + untold[B];
           untold[B] = 0 }
#endif
    :: atomic { has_ended[A] && IS_FULL(A) -> has_ended[A] = 0 }
    :: atomic { has_ended[B] && IS_FULL(B) -> has_ended[B] = 0 }
#ifndef NO_MORE
    :: atomic { !has_ended[A] && IS_FULL(A) -> room[A] = 2 * room[A] }
    :: atomic { !has_ended[B] && IS_FULL(B) -> room[B] = 2 * room[B] }
#endif
    :: atomic { room[A] > ROOM && num_admitted[A] < ROOM -> room[A] = ROOM }
    :: atomic { room[B] > ROOM && num_admitted[B] < ROOM -> room[B] = ROOM }
    :: atomic { may_die && !dead && num_over < CALLS -> dead = 1 }
    :: atomic { dead && !told -> told = 1 }
    od
}
