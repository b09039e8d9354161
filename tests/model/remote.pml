/* SPDX-License-Identifier: Apache-2.0 */
/* Remote tasks between two localities, of runtime/remote: flow control, and a death.
 *
 * The program of locality A calls a function in B, CALLS times at once. It calls one in A and
 * waits for it, and that one calls and waits for one in B again, DEPTH calls below each other. So
 * what is admitted may wait for what is not.
 *
 * A call is held back at its caller while WINDOW calls of that caller are not known to be admitted
 * at the other side. It then is on its way, waits at the other side to be admitted, and runs. ROOM
 * calls may be admitted and not over; if others wait and none has ended between two ticks, ROOM
 * more are admitted. What was admitted is told with results, or alone once it is half a window.
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
 * NO_MORE          no more are admitted when none has ended: those that wait for others wait for
 *                  ever.
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
#ifndef ROOM
#define ROOM 1
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
byte extra[2];
byte num_more[2];        /* how often more were admitted */
bit has_ended[2];
bit may_die, dead, told;
byte num_over;

#define CALLER(i) ((depth[i] + 1) % 2)
#define RUNNER(i) (depth[i] % 2)
#define HAS_ROOM(l) (num_admitted[l] < ROOM || extra[l] > 0)

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

/* The call at the current depth has no result, since B is dead. What runs in A goes on. */
inline fail(i)
{
    if
    :: depth[i] == 1 -> expected[i] = 0; at[i] = LOST; part_over(i)
    :: else -> depth[i]--; at[i] = RETURNS
    fi
}

/* A function in LOCALITY is over. */
inline leave(locality)
{
    num_admitted[locality]--;
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
           !(RUNNER(i) == B && dead) -> depth[i]++; at[i] = HELD }
    :: atomic { at[i] == RUNS && depth[i] < DEPTH && RUNNER(i) == A && told -> at[i] = RETURNS }

    /* The window lets it go; then it is sent. */
    :: atomic { at[i] == HELD && !(CALLER(i) == B && dead) && !(CALLER(i) == A && told) &&
           IS_OPEN(CALLER(i)) -> unadmitted[CALLER(i)]++; at[i] = EXPECTED }
    :: atomic { at[i] == EXPECTED && !dead -> at[i] = SENT }
    :: atomic { at[i] == EXPECTED && CALLER(i) == A && dead && !told -> /* the send fails */
           if
           :: depth[i] == 1 -> sending[i] = 0; expected[i] = 0; at[i] = LOST; part_over(i);
              part_over(i)
           :: else -> depth[i]--; at[i] = RETURNS
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
#ifdef NO_ROOM
           true ->
#else
           HAS_ROOM(RUNNER(i)) ->
           if
           :: num_admitted[RUNNER(i)] >= ROOM -> extra[RUNNER(i)]--
           :: else
           fi;
#endif
           num_waiting[RUNNER(i)]--;
           num_admitted[RUNNER(i)]++;
           assert(num_admitted[RUNNER(i)] <= ROOM + ROOM * num_more[RUNNER(i)]);
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
           :: else -> depth[i]--; at[i] = RETURNS
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
              has_ended[A] = 1
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
    :: atomic { has_ended[A] && num_waiting[A] > 0 && num_admitted[A] >= ROOM -> has_ended[A] = 0 }
    :: atomic { has_ended[B] && num_waiting[B] > 0 && num_admitted[B] >= ROOM -> has_ended[B] = 0 }
#ifndef NO_MORE
    :: atomic { !has_ended[A] && num_waiting[A] > 0 && num_admitted[A] >= ROOM && extra[A] == 0 ->
           extra[A] = ROOM; num_more[A]++ }
    :: atomic { !has_ended[B] && num_waiting[B] > 0 && num_admitted[B] >= ROOM && extra[B] == 0 ->
           extra[B] = ROOM; num_more[B]++ }
#endif
    :: atomic { may_die && !dead && num_over < CALLS -> dead = 1 }
    :: atomic { dead && !told -> told = 1 }
    od
}
