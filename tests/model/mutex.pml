/* SPDX-License-Identifier: Apache-2.0 */
/* How a mutex is handed on (runtime/task/sync.c, wait.c). Who holds it is one word; it
 * has a mark while somebody waits, and then it changes under the lock of the list only. A wait may
 * also end since its time has passed. Whoever claims it first wakes it up; but whether it was
 * served says the list: who is not in it any more holds the mutex.
 *
 * There are several contenders, each of which locks, may give up, and unlocks, and a clock for each
 * wait that may end otherwise.
 *
 * Checked is that only one at a time is inside, that nobody waits for ever, that nobody is woken
 * twice, or when its wait is gone, and that the mutex is free at the end.
 *
 * Simplifications: memory is sequentially consistent. What happens under the lock of the list is
 * one step, but for the waking. The list has no order.
 *
 * Variants that have an error, which spin must find:
 *   NO_MARK        who comes into the list does not mark the word
 *   NO_RECHECK     nor looks whether the mutex is free meanwhile
 *   MARK_ALONE     marks it, but goes into the list in another step
 *   NO_CLAIM       who is served is woken, though its time may have passed
 *   NO_LIST_LOOK   whose time has passed does not look whether it was served
 *   FORGET_MARK    the mark is forgotten when the mutex is handed on */
#define CONTENDERS 3
#define NOBODY 0
#define MARK 8
#define ME (me + 1)

byte owner = NOBODY; /* a contender + 1, and the mark */
byte inside;
bit in_list[CONTENDERS];
bit waits[CONTENDERS];    /* the wait is there */
bit claimed[CONTENDERS];
bit woken[CONTENDERS];
byte num_waiting;

/* Serves somebody in the list. Atomic, by the caller. */
inline serve()
{
    if
    :: in_list[0] -> next = 0
    :: in_list[1] -> next = 1
    :: in_list[2] -> next = 2
    :: num_waiting == 0 -> next = CONTENDERS
    fi;
    is_to_wake = 0;
    if
    :: next == CONTENDERS -> owner = NOBODY
    :: else ->
        in_list[next] = 0;
        num_waiting--;
#ifdef FORGET_MARK
        owner = next + 1;
#else
        owner = (next + 1) | (num_waiting > 0 -> MARK : 0);
#endif
#ifdef NO_CLAIM
        is_to_wake = 1
#else
        is_to_wake = !claimed[next];
        claimed[next] = 1
#endif
    fi
}

inline wake(who)
{
    atomic {
        assert(waits[who] && !woken[who]);
        woken[who] = 1
    }
}

proctype clock(byte me)
{
    bit fires;
    if
    :: true ->
        atomic { fires = waits[me] && !claimed[me]; if :: fires -> claimed[me] = 1 :: else fi };
        if
        :: fires -> wake(me)
        :: else
        fi
    :: true /* it never does */
    fi
}

proctype contender(byte me)
{
    byte next, holder;
    bit is_to_wake, has_it, may_expire;
    if
    :: atomic { owner == NOBODY -> owner = ME }; has_it = 1
    :: atomic { owner != NOBODY -> skip };
#ifdef NO_MARK
        atomic {
            waits[me] = 1; in_list[me] = 1; num_waiting++
        }
#elif defined(NO_RECHECK)
        atomic {
            owner = owner | MARK; waits[me] = 1; in_list[me] = 1; num_waiting++
        }
#elif defined(MARK_ALONE)
        atomic {
            if
            :: owner == NOBODY -> owner = ME; has_it = 1
            :: else -> owner = owner | MARK
            fi
        };
        atomic {
            if
            :: has_it
            :: else -> waits[me] = 1; in_list[me] = 1; num_waiting++
            fi
        }
#else
        atomic {
            if
            :: owner == NOBODY -> owner = ME; has_it = 1
            :: else -> owner = owner | MARK; waits[me] = 1; in_list[me] = 1; num_waiting++
            fi
        }
#endif
        if
        :: has_it
        :: else ->
            if
            :: may_expire = 1; run clock(me)
            :: skip
            fi;
            woken[me];
#ifdef NO_LIST_LOOK
            atomic {
                has_it = !in_list[me] && !may_expire;
                if
                :: in_list[me] -> in_list[me] = 0; num_waiting--
                :: else
                fi;
                waits[me] = 0
            }
#else
            atomic {
                has_it = !in_list[me];
                if
                :: in_list[me] ->
                    in_list[me] = 0;
                    num_waiting--;
                    if
                    :: num_waiting == 0 -> owner = owner & ~MARK
                    :: else
                    fi
                :: else
                fi;
                waits[me] = 0
            }
#endif
        fi
    fi;
    if
    :: has_it ->
        inside++;
        assert(inside == 1 && (owner & ~MARK) == ME);
        inside--;
        if
        :: atomic { owner == ME -> owner = NOBODY }
        :: atomic { owner != ME -> serve() };
            if
            :: is_to_wake -> wake(next)
            :: else
            fi
        fi
    :: else
    fi
}

init
{
    byte i;
    atomic {
        for (i : 0 .. CONTENDERS - 1) {
            run contender(i)
        }
    };
    _nr_pr == 1;
    assert(owner == NOBODY && num_waiting == 0)
}
