/* SPDX-License-Identifier: Apache-2.0 */
/* A race of futures, of which the first WANTED that complete win (runtime/task/race.c).
 *
 * There are N + 1 processes:
 *   the registrar   puts a waiter into each future, until the race is decided
 *   completer i     completes future i, and notifies the waiter if it is in there. Only the first
 *                   WANTED futures are sure to complete
 *
 * A future that completes draws a place, writes its index there, and the last one to write decides
 * the race. When that is done and the registrar is through, the other waiters are forgotten. A
 * forgotten waiter is notified at once, if it is swept out, or when its future completes.
 *
 * Checked is that the result completes once, when all indices are written; that nobody touches the
 * race after it is freed, nor a future after its reference is given back; that no waiter is left in
 * a future without being forgotten; and that the race is freed once no waiter is left.
 *
 * Simplifications: memory is sequentially consistent. Each future has its own completer.
 *
 * Variants that have an error, which spin must find:
 *   NO_WRITTEN      whoever draws the last place decides the race, without looking who has written
 *   NO_REF          a waiter holds no reference to the race
 *   NO_START_REF    nobody holds one while waiters are registered
 *   FORGET_AT_ONCE  whoever decides the race does not wait for the registrar
 *   FORGET_BOTH     nor does the registrar look whether the other one was first */
#define N 3
#define WANTED 2
#define REGISTERED 1
#define DECIDED 2

bit exists = 1;
bit is_complete[N];
bit is_in[N]; /* the waiter is in the future's list */
bit is_forgotten[N];
bit is_given_back[N];
bit is_written[WANTED];
bit is_decided;
byte num_places;
byte num_written;
byte progress;
byte num_registered;
#ifdef NO_START_REF
byte refs = 0;
#else
byte refs = 1;
#endif

inline touch()
{
    assert(exists)
}

inline unref()
{
    atomic {
        touch();
        assert(refs > 0);
        refs--;
        if
        :: refs == 0 -> exists = 0
        :: else
        fi
    }
}

inline waiter_unref()
{
#ifndef NO_REF
    unref()
#else
    skip
#endif
}

/* A waiter that is swept out is notified, and finds all places taken. */
inline forget_all()
{
    touch();
    k = 0;
    do
    :: k == N -> break
    :: k < N ->
        touch();
        if
        :: k < num_registered && !is_complete[k] ->
            is_forgotten[k] = 1;
            if
            :: atomic { is_in[k] -> is_in[k] = 0 };
                touch();
                num_places++;
                assert(num_places > WANTED);
                waiter_unref()
            :: skip
            fi
        :: else
        fi;
        atomic { assert(!is_given_back[k]); is_given_back[k] = 1 };
        k++
    od
}

inline advance(step)
{
    atomic { touch(); seen = progress; progress = progress | step };
#if defined(FORGET_AT_ONCE)
    if
    :: step == DECIDED -> forget_all()
    :: else
    fi
#elif defined(FORGET_BOTH)
    forget_all()
#else
    if
    :: seen != 0 -> forget_all()
    :: else
    fi
#endif
}

inline finish(i)
{
    atomic { touch(); place = num_places; num_places++ };
    if
    :: place < WANTED ->
        touch();
        is_written[place] = 1;
#ifdef NO_WRITTEN
        seen = place + 1;
#else
        atomic { touch(); num_written++; seen = num_written };
#endif
        if
        :: seen == WANTED ->
            atomic {
                assert(!is_decided && is_written[0] && is_written[1] && !is_given_back[i]);
                is_decided = 1
            };
            advance(DECIDED)
        :: else
        fi
    :: else
    fi
}

inline notify(i)
{
    finish(i);
    waiter_unref()
}

proctype completer(byte me)
{
    byte seen, place, k;
    bit was_in;
    if
    :: skip
    :: me >= WANTED -> goto end
    fi;
    atomic { is_complete[me] = 1; was_in = is_in[me]; is_in[me] = 0 };
    if
    :: was_in -> notify(me)
    :: else
    fi;
end:
    skip
}

proctype registrar()
{
    byte seen, place, k, i;
    bit is_late;
    do
    :: i < N ->
        touch();
        if
        :: num_places >= WANTED -> break
        :: else
        fi;
        num_registered = i + 1;
        assert(!is_given_back[i]);
#ifndef NO_REF
        atomic { touch(); refs++ };
#endif
        atomic {
            assert(!is_given_back[i]);
            is_late = is_complete[i];
            is_in[i] = !is_late
        };
        if
        :: is_late -> notify(i)
        :: else
        fi;
        i++
    :: i == N -> break
    od;
    advance(REGISTERED);
#ifndef NO_START_REF
    unref()
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
    assert(is_decided && is_given_back[0] && is_given_back[1] && is_given_back[2]);
    assert(!is_in[0] && !is_in[1] && (!is_in[2] || is_forgotten[2]));
    assert(refs == is_in[2] && exists == is_in[2])
}
