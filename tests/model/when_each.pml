/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of futures in the order of completion (runtime/task/when_each.c).
 *
 * There are N + 1 processes:
 *   the registrar   puts a waiter into each future; of one that is complete it does what the
 *                   notification does
 *   completer i     completes future i, and notifies the waiter if it is in there
 *
 * Who is notified pushes its member into a queue. The one that finds the queue idle is its runner:
 * it takes batches out, and completes the next result for each member of them, until the queue is
 * empty, which releases it. The runner that has passed on the last result frees everything.
 *
 * Checked is that the results complete in their order, and with the futures in the order in which
 * they were pushed; that only one process at a time counts them; and that nobody touches what was
 * freed.
 *
 * Simplifications: memory is sequentially consistent.
 *
 * Variants that have an error, which spin must find:
 *   NO_RUNNER       each process draws a place and completes the result itself
 *   RELEASE_FIRST   the runner releases the queue before it passes its batch on
 *   FREE_LAST       it looks whether that was the last one after it has released the queue
 *   LOOK_AGAIN      the registrar looks into the memory after it has registered the last waiter */
#define N 3

bit exists = 1;
bit is_complete[N];
bit is_in[N];    /* the waiter is in the future's list */
byte queue[N];   /* in the order of the pushes, from 0 */
byte num_pushed; /* ever */
byte num_taken;  /* ever */
bit has_runner;
byte num_passed; /* a plain field */
byte num_results; /* that are complete */

inline touch()
{
    assert(exists)
}

inline pass(member)
{
    touch();
    place = num_passed;
    num_passed = place + 1;
    atomic {
        assert(place == num_results && queue[place] == member);
        num_results++
    }
}

inline free()
{
    atomic { touch(); exists = 0 }
}

inline arrive(member)
{
#ifdef NO_RUNNER
    atomic { touch(); place = num_passed; num_passed++; queue[place] = member };
    atomic { touch(); assert(place == num_results); num_results++ };
    if
    :: place == N - 1 -> free()
    :: else
    fi
#else
    atomic {
        touch();
        queue[num_pushed] = member;
        num_pushed++;
        is_runner = !has_runner;
        has_runner = 1
    };
    do
    :: !is_runner -> break
    :: is_runner ->
        atomic {
            touch();
            first = num_taken;
            num_taken = num_pushed;
            last = num_taken;
            if
            :: first == last -> has_runner = 0; is_runner = 0
            :: else
#ifdef RELEASE_FIRST
                has_runner = 0;
                is_runner = 0
#endif
            fi
        };
#ifdef FREE_LAST
        if
        :: first == last ->
            touch();
            if
            :: num_passed == N -> free()
            :: else
            fi
        :: else
        fi;
#endif
        do
        :: first < last -> pass(queue[first]); first++
        :: first == last -> break
        od;
#ifndef FREE_LAST
        if
        :: is_runner ->
            touch();
            if
            :: num_passed == N -> free(); is_runner = 0
            :: else
            fi
        :: else
        fi
#endif
    od
#endif
}

proctype completer(byte me)
{
    byte place, first, last;
    bit is_runner, was_in;
    atomic { is_complete[me] = 1; was_in = is_in[me]; is_in[me] = 0 };
    if
    :: was_in -> arrive(me)
    :: else
    fi
}

proctype registrar()
{
    byte place, first, last, i;
    bit is_runner, is_late;
    do
    :: i < N ->
        touch();
        atomic { is_late = is_complete[i]; is_in[i] = !is_late };
        if
        :: is_late -> arrive(i)
        :: else
        fi;
        i++
    :: i == N -> break
    od;
#ifdef LOOK_AGAIN
    touch()
#endif
}

init
{
    byte i;
    atomic {
        run registrar();
        do
        :: i < N -> run completer(i); i++
        :: i == N -> break
        od
    };
    _nr_pr == 1;
    assert(!exists && num_results == N)
}
