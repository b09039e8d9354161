/* SPDX-License-Identifier: Apache-2.0 */
/* The doorbell of runtime/net/shm_progress.c. Two peers put records into the rings of a process
 * that may go to sleep (cohort__shm_ring_bell, _arm, _disarm). It never sleeps while there is a
 * record in a ring.
 *
 * Memory: each process has a buffer for one store, as with TSO. A plain store waits in the buffer
 * and may reach memory any time later. The process itself sees it at once. A fence or an atomic
 * exchange waits until the buffer is empty. The store of the sleeping process also goes through a
 * buffer.
 *
 * Simplifications: a ring is the number of records that were put into it and not taken yet. The
 * eventfd is a bit, since it only matters whether it can be read. A process is never killed between
 * its exchange and its write to the doorbell. (A death is reported in another way, which wakes the
 * sleeper.) Whatever arm checks besides the rings (errands, peers that begin a ring) is put there
 * and checked in the same way.
 *
 * Built with -DNO_BELL_FENCE or -DNO_ARM_FENCE the model has an error, and spin must find it. */
#define PUTTERS 2
#define PUTS 2

byte ring[PUTTERS]; /* in memory: put, ever */
byte taken[PUTTERS];
bit sleeping;       /* in memory */
bit bell;

/* Store buffers: those of the putters for their rings, and that of the sleeper for `sleeping`. */
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

/* The store in a buffer reaches memory at some time. */
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
        /* publish: a plain store, with whatever a release means on this machine */
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

/* The sleeper reads memory directly, since it puts nothing into the rings itself. */
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
        /* disarm, or arm has refused: awake */
        atomic { flush_sleeping(); sleeping_value = 0; sleeping_buffered = 1 };
        bell = 0 /* read(eventfd) */
    od
}

init
{
    atomic { run putter(0); run putter(1); run sleeper() }
}
