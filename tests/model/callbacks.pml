/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks in a loop of somebody else's (runtime/task/callbacks.c).
 *
 * There are N + 2 processes, and one that watches:
 *   the adder       adds N callbacks, each for a future, as long as the runtime is up
 *   completer i     completes future i, at any time, for each future but the last, which nobody
 *                   completes; it notifies the waiter if it is in there
 *   the ender       ends the runtime when nobody holds it, and cancels what is pending
 *   the loop        waits for the descriptor, by its edges, and runs one callback at a time
 *
 * A callback has two references: the list's, and the waiter's.
 *
 * Checked is that each callback that was added is called once; that the descriptor is readable as
 * long as one is ready, and not when none is; that the loop is woken for each; and that nobody
 * touches a callback that was freed.
 *
 * Simplifications: what is done under the lock is one step. The order is left out.
 *
 * Variants that have an error, which spin must find:
 *   WRITE_LATE      the descriptor is written after the lock was given back
 *   READ_LATE       it is read after that
 *   NO_AGAIN        a run that leaves something ready does not write it again
 *   NO_CLAIM        who is notified does not look whether the callback was cancelled meanwhile
 *   NO_HOLD         the adder does not hold the runtime
 *   NO_REF          the waiter has no reference
 *   CANCEL_FIRST    the ender cancels before the runtime takes no more callbacks */
#define N 3

bit is_up = 1;
byte num_holders;
bit is_added[N];
bit is_pending[N];
bit is_ready[N];
bit is_complete[N];
bit is_in[N]; /* the waiter is in the future's list */
bit exists[N];
byte refs[N];
byte num_calls[N];
byte num_ready;
byte counter; /* of the descriptor; 1 stands for more, too */
bit is_edge;  /* it was written since the loop has looked */

inline touch(i)
{
    assert(exists[i])
}

inline unref(i)
{
    atomic {
        touch(i);
        refs[i]--;
        if
        :: refs[i] == 0 -> exists[i] = 0
        :: else
        fi
    }
}

inline write_fd()
{
    atomic { counter = 1; is_edge = 1 }
}

/* Under the lock. */
inline make_ready(i)
{
    is_pending[i] = 0;
    is_ready[i] = 1;
    num_ready++;
    is_first = num_ready == 1;
#ifndef WRITE_LATE
    if
    :: is_first -> write_fd()
    :: else
    fi
#endif
}

inline unlock_ready()
{
#ifdef WRITE_LATE
    if
    :: is_first -> write_fd()
    :: else
    fi
#endif
    is_first = 0
}

inline notify(i)
{
    atomic {
        touch(i);
        if
#ifdef NO_CLAIM
        :: true -> make_ready(i)
#else
        :: is_pending[i] -> make_ready(i)
        :: else
#endif
        fi
    };
    unlock_ready();
#ifndef NO_REF
    unref(i)
#endif
}

proctype completer(byte me)
{
    bit was_in, is_first;
    atomic { is_complete[me] = 1; was_in = is_in[me]; is_in[me] = 0 };
    if
    :: was_in -> notify(me)
    :: else
    fi
}

proctype adder()
{
    byte i;
    bit may, is_late, is_first;
    do
    :: i < N ->
        atomic {
            may = is_up;
#ifndef NO_HOLD
            num_holders = num_holders + may
#endif
        };
        if
        :: may ->
            atomic {
                is_added[i] = 1;
                exists[i] = 1;
#ifdef NO_REF
                refs[i] = 1;
#else
                refs[i] = 2;
#endif
                is_pending[i] = 1
            };
            atomic { is_late = is_complete[i]; is_in[i] = !is_late };
            if
            :: is_late -> notify(i)
            :: else
            fi;
#ifndef NO_HOLD
            num_holders--
#endif
        :: else
        fi;
        i++
    :: i == N -> break
    od
}

inline cancel_all()
{
    atomic {
        i = 0;
        do
        :: i < N ->
            if
            :: is_pending[i] -> make_ready(i)
            :: else
            fi;
            i++
        :: i == N -> break
        od
    };
    unlock_ready()
}

proctype ender()
{
    byte i;
    bit is_first;
#ifdef CANCEL_FIRST
    cancel_all();
#endif
    is_up = 0;
    num_holders == 0;
#ifndef CANCEL_FIRST
    cancel_all()
#endif
}

proctype loop()
{
    byte i;
    bit is_last;
end:
    do
    :: atomic { is_edge -> is_edge = 0; i = N };
        atomic {
            if
            :: counter > 0 && num_ready > 0 ->
                if
                :: is_ready[0] -> i = 0
                :: is_ready[1] -> i = 1
                :: is_ready[2] -> i = 2
                fi;
                is_ready[i] = 0;
                num_ready--;
                is_last = num_ready == 0;
#ifndef READ_LATE
                if
                :: is_last -> counter = 0
                :: else
                fi
#endif
            :: else
            fi
        };
        if
        :: i < N ->
#ifdef READ_LATE
            if
            :: is_last -> counter = 0
            :: else
            fi;
#endif
            atomic { touch(i); num_calls[i]++; assert(num_calls[i] == 1) };
            unref(i);
#ifndef NO_AGAIN
            atomic {
                if
                :: num_ready > 0 -> write_fd()
                :: else
                fi
            }
#endif
        :: else
        fi
    od
}

/* Looks at any time, and last of all. */
proctype watcher()
{
    byte i;
end:
    do
    :: atomic { (counter > 0) != (num_ready > 0) -> assert(false) }
    :: atomic {
        timeout ->
        do
        :: i < N -> assert(num_calls[i] == is_added[i]); i++
        :: i == N -> break
        od
    };
        break
    od
}

init
{
    atomic {
        run adder();
        run completer(0);
        run completer(1);
        run ender();
        run loop();
        run watcher()
    }
}
