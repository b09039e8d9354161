/* SPDX-License-Identifier: Apache-2.0 */
/* The doorbell of runtime/net/shm_progress.c: two peers put things into the rings of one that may
 * fall asleep (cohort__shm_ring_bell, _arm, _disarm), and it never sleeps while something is there.
 *
 * Memory: each process has a buffer of one store, as with TSO: a plain store waits there, may reach
 * memory any time later, and is seen by its own process at once; a fence or an atomic exchange
 * waits until the buffer is empty. A store of the sleeping one's goes through a buffer as well.
 *
 * Abstracted: a ring is a count of what was put into it and not yet taken; the eventfd is a bit,
 * since only whether it can be read matters; who rings is never killed between the exchange and the
 * write (death is told by another way, which wakes the sleeper). Whatever arm looks at besides the
 * rings (errands, those who begin a ring) is put there and looked at in the same way.
 *
 * Built with -DNO_BELL_FENCE or -DNO_ARM_FENCE the model has the error, and spin must find it. */
#define PUTTERS 2
#define PUTS 2

byte ring[PUTTERS]; /* in memory: put, ever */
byte taken[PUTTERS];
bit sleeping;       /* in memory */
bit bell;

/* Store buffers: the putter's of its ring; the sleeper's of `sleeping`. */
bit ring_buffered[PUTTERS];
byte ring_value[PUTTERS];
bit sleeping_buffered;
bit sleeping_value;

inline flush_ring(i)
{
    if
    :: ring_buffered[i] -> ring[i] = ring_value[i]; ring_buffered[i] = 0
    :: else
    fi
}

inline flush_sleeping()
{
    if
    :: sleeping_buffered -> sleeping = sleeping_value; sleeping_buffered = 0
    :: else
    fi
}

/* What is in a buffer reaches memory some time. */
active proctype memory()
{
end:
    do
    :: atomic { ring_buffered[0] -> ring[0] = ring_value[0]; ring_buffered[0] = 0 }
    :: atomic { ring_buffered[1] -> ring[1] = ring_value[1]; ring_buffered[1] = 0 }
    :: atomic { sleeping_buffered -> sleeping = sleeping_value; sleeping_buffered = 0 }
    od
}

proctype putter(byte i)
{
    byte n = 0;
    bit is_asleep;
    do
    :: n < PUTS ->
        n++;
        /* publish: a plain store, with whatever release means on this machine */
        atomic { flush_ring(i); ring_value[i] = n; ring_buffered[i] = 1 };
#ifndef NO_BELL_FENCE
        atomic { flush_ring(i) };
#endif
        is_asleep = sleeping;
        if
        :: is_asleep ->
            atomic { flush_ring(i); is_asleep = sleeping; sleeping = 0 }; /* the exchange */
            if
            :: is_asleep -> bell = 1; is_asleep = 0
            :: else
            fi
        :: else
        fi
    :: else -> break
    od;
    atomic { flush_ring(i) }
}

inline take_all()
{
    atomic { taken[0] = ring[0] };
    atomic { taken[1] = ring[1] }
}

/* The sleeper looks into memory: it has put nothing into the rings itself. */
proctype sleeper()
{
    bit any;
    do
    :: taken[0] == PUTS && taken[1] == PUTS -> break
    :: else ->
        take_all(); /* progress */
        /* arm */
        atomic { flush_sleeping(); sleeping_value = 1; sleeping_buffered = 1 };
#ifndef NO_ARM_FENCE
        atomic { flush_sleeping() };
#endif
        any = ring[0] != taken[0];
        any = any || ring[1] != taken[1];
        if
        :: any -> skip
        :: !any && taken[0] == PUTS && taken[1] == PUTS -> skip /* it would sleep for good */
        :: else -> bell == 1 /* poll(): a lost wake-up is a deadlock here */
        fi;
        /* disarm, or arm's own answer: awake */
        atomic { flush_sleeping(); sleeping_value = 0; sleeping_buffered = 1 };
        bell = 0 /* read(eventfd) */
    od
}

init
{
    atomic { run putter(0); run putter(1); run sleeper() }
}
