/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of runtime/net/ring.c, and how its writer waits for room. Each record is read once, in
 * order and completely. Neither end waits for the other for ever. A writer that is killed between
 * any two of its steps leaves either a complete record or none.
 *
 * Memory: a release orders the earlier stores of its process, so the writer's stores are seen in
 * their order. A load may overtake an own store. This matters where each end checks whether the
 * other one waits. So the reader's store of `read` goes through a buffer, which may reach memory
 * any time later. Only a fence or an atomic exchange empties it. There the writer's own accesses
 * are sequentially consistent.
 *
 * Simplifications: a line is its first word and one word of content. Records have 1 or MAX lines.
 * Instead of its doorbell, the reader can always see whether there is a record (see doorbell.pml).
 * The writer's doorbell is a bit that stays set. The reader checks whether the writer waits: after
 * each record without a fence, and before it sleeps with a fence, as cohort__shm_arm does.
 *
 * Variants that have an error, which spin must find: -DEARLY (publishes before the record is
 * written), -DNO_ZERO (the successor's head is not cleared), -DNO_SPARE (no line is kept free for
 * that), -DASK_ONCE (the reader does not check again before it sleeps), -DFORGET (it checks again,
 * but does not ring). */
#define LINES 5
#define MAX 2 /* (LINES - 1) / 2, see cohort__ring_max_data */
#define RECORDS 5
#define SKIP 100
#define DIRT 77

byte size[LINES];    /* heads */
byte content[LINES]; /* the record that the line belongs to; SKIP in a head: none */
byte read;           /* in memory */
bit writer_waits;
bit told; /* the writer's doorbell */
bit is_over, is_killed;

bit read_buffered;
byte read_value;

byte published, received;

inline flush()
{
    if
    :: read_buffered -> read = read_value; read_buffered = 0
    :: else
    fi
}

proctype memory()
{
end:
    do
    :: atomic { read_buffered -> read = read_value; read_buffered = 0 }
    od
}

proctype killer()
{
    if
    :: is_killed = 1
    :: skip
    fi
}

#ifdef NO_SPARE
#define IS_FREE(lines) (LINES - (used - seen) >= (lines))
#else
#define IS_FREE(lines) (LINES - (used - seen) > (lines))
#endif

inline publish(from, lines, is_record)
{
    d_step { next = (from + lines) % LINES; used = used + lines };
#ifndef NO_ZERO
    size[next] = 0;
#endif
#ifndef EARLY
    atomic { size[from] = lines; published = published + is_record };
#endif
    at = next
}

proctype writer()
{
    byte used, seen, at, lines, needed, next, i, n, from;
    {
        do
        :: n == RECORDS -> break
        :: n < RECORDS ->
            n++;
            if
            :: lines = 1
            :: lines = MAX
            fi;
            needed = (lines <= LINES - at -> lines : LINES - at + lines);
            do
            :: IS_FREE(needed) -> break
            :: else ->
                seen = read; /* reserve reads it again */
                if
                :: IS_FREE(needed) -> break
                :: else
                fi;
                writer_waits = 1; /* await_room */
                seen = read;
                if
                :: IS_FREE(needed) -> writer_waits = 0; break
                :: else
                fi;
                told == 1; /* poll(): a lost wake-up is a deadlock here */
                told = 0
            od;
            if
            :: lines > LINES - at ->
                content[at] = SKIP;
#ifdef EARLY
                size[at] = LINES - at;
#endif
                publish(at, LINES - at, 0)
            :: else
            fi;
            from = at;
#ifdef EARLY
            atomic { size[from] = lines; published++ };
#endif
            i = 0;
            do
            :: i < lines -> content[from + i] = n; i++
            :: else -> break
            od;
            publish(from, lines, 1)
        od;
        is_over = 1
    } unless { is_killed }
}

/* exchange(writer_waits, 0), then the bell. */
inline ask_and_tell(tells)
{
    if
    :: writer_waits ->
        atomic { flush(); asked = writer_waits; writer_waits = 0 };
        if
        :: asked && tells -> told = 1
        :: else
        fi
    :: else
    fi
}

proctype reader()
{
    byte at, used, lines, i;
    bit asked;
    do
    :: lines = size[at];
        if
        :: lines > 0 ->
            assert(lines <= LINES - at);
            if
            :: content[at] == SKIP ->
                d_step { used = used + lines; at = (at + lines) % LINES }
            :: else ->
                d_step {
                    received++;
                    i = 0;
                    do
                    :: i < lines -> assert(content[at + i] == received); i++
                    :: else -> break
                    od;
                    i = 0;
                    used = used + lines;
                    at = (at + lines) % LINES
                };
                atomic { flush(); read_value = used; read_buffered = 1 };
                ask_and_tell(1)
            fi
        :: else ->
#ifdef FORGET
            ask_and_tell(0);
#endif
#ifndef ASK_ONCE
            atomic { flush() }; /* arm's fence */
            ask_and_tell(1);
#endif
            if
            :: size[at] != 0 /* poll() */
            :: (is_over || is_killed) && size[at] == 0 -> break
            fi
        fi
    od;
    assert(received <= published && (is_killed || received == RECORDS))
}

init
{
    byte i;
    /* Dirty memory, except what cohort__ring_writer_init sets. */
    d_step {
        for (i : 1 .. LINES - 1) {
            size[i] = DIRT
        }
        i = 0
    }
    atomic { run memory(); run killer(); run writer(); run reader() }
}
