/* SPDX-License-Identifier: Apache-2.0 */
/* How a future is completed without atomic changes (finish_for_owner in runtime/task/future.c),
 * and how it is found that two owners wait with one reference (cohort__future_wait_as_owner).
 * Its state is one word: the list of its waiters, or DONE, and a mark if the only waiter is a
 * owner: one that has a reference, and does nothing with it until it is notified. All others may
 * forget their waiters at any time, which are then taken out and gone.
 *
 * There are three processes:
 *   the completer   looks at the state, at the references, and at the state again
 *   the owner       waits; before that it may give another reference away
 *   the other       gets that, waits, forgets its waiter, perhaps takes it out, and gives the
 *                   reference back; or it waits as an owner does, too
 *
 * Checked is that the completer only looks at a waiter that exists, that each waiter that was in
 * the list is notified once, that the references end at 0, by whoever has the last one, and that a
 * owner which finds the mark of another one in the list counts at least three references: theirs,
 * and the completer's.
 *
 * Simplifications: memory is sequentially consistent. In the code, giving a reference back
 * releases, and the second look acquires. A list is a set.
 *
 * Variants that have an error, which spin must find:
 *   NO_MARK         the completer looks into the waiter for whether it is an owner
 *   NO_REFS         it does not look at the references
 *   NO_THIRD_LOOK   it does not look at the state again
 *   REFS_FIRST      the same, and it looks at the references first
 *   MARK_ALWAYS     an owner marks the state, too, if there are others in the list
 *   COUNT_LAST      an owner counts the references when it is in the list */
#define OWNER 1
#define OTHER 2
#define MARK 4
#define DONE 8
#define LIST(state) ((state) & (OWNER | OTHER))

byte state;
byte refs = 2;
bit is_given; /* the other has a reference */
bit is_kept;  /* it gets none */
byte exists; /* waiters, until they are notified */
byte was_in; /* the list, ever */
byte notified;

inline notify(waiters)
{
    atomic {
        assert((notified & (waiters)) == 0 && ((waiters) & ~exists) == 0);
        notified = notified | (waiters);
        exists = exists & ~(waiters)
    }
}

inline unref()
{
    atomic { assert(refs > 0); refs-- }
}

/* Adds WAITER to the list, if it is not too late. */
inline wait_with(waiter, mark)
{
    atomic {
        if
        :: state == DONE
        :: else ->
            exists = exists | waiter;
            was_in = was_in | waiter;
#ifdef MARK_ALWAYS
            state = LIST(state) | waiter | mark
#else
            state = LIST(state) | waiter | (state == 0 -> mark : 0)
#endif
        fi
    }
}

/* The same for an owner. */
inline wait_as_owner(waiter)
{
    count = refs;
    atomic { before = state; wait_with(waiter, MARK) };
#ifdef COUNT_LAST
    count = refs;
#endif
    assert(before == DONE || !(before & MARK) || count >= 3)
}

/* Whether the only waiter is an owner. */
inline look()
{
    seen = state;
#ifdef NO_MARK
    if
    :: LIST(seen) != 0 ->
        assert((exists & LIST(seen)) == LIST(seen));
        is_marked = LIST(seen) == OWNER
    :: else
    fi
#else
    is_marked = (seen & MARK) != 0
#endif
}

proctype completer()
{
    byte seen, num = 2;
    bit is_marked;
#ifdef REFS_FIRST
    num = refs;
    look();
#else
    look();
#ifndef NO_REFS
    num = refs;
#endif
#endif
    if
    :: is_marked && num == 2 -> skip
    :: else -> goto for_all
    fi;
#if !defined(NO_THIRD_LOOK) && !defined(REFS_FIRST)
    if
    :: state == seen -> skip
    :: else -> goto for_all
    fi;
#endif
    state = DONE;
    refs = 1; /* the owner can't have given it back yet */
    seen = (seen & OWNER -> OWNER : OTHER); /* the only one */
    notify(seen);
    goto end;
for_all:
    atomic { seen = LIST(state); state = DONE };
    notify(seen);
    unref();
end:
    skip
}

proctype owner()
{
    byte before, count;
    if
    :: atomic { refs++; is_given = 1 }
    :: is_kept = 1
    fi;
    wait_as_owner(OWNER);
    (state == DONE && !(was_in & OWNER)) || (notified & OWNER);
    assert(state == DONE);
    unref()
}

/* Takes the list out, and puts back what is not forgotten. */
inline take_out()
{
    atomic {
        if
        :: state != DONE -> taken = LIST(state); state = 0
        :: else
        fi
    };
    if
    :: taken & OTHER -> notify(OTHER); taken = taken & ~OTHER
    :: else
    fi;
    if
    :: taken ->
        atomic {
            if
            :: state != DONE -> state = LIST(state) | taken; taken = 0
            :: else
            fi
        };
        notify(taken)
    :: else
    fi
}

proctype other()
{
    byte taken, before, count;
    if
    :: is_kept
    :: is_given ->
        wait_with(OTHER, 0);
        if
        :: take_out()
        :: skip /* only some forgets do so */
        fi;
        unref()
    :: is_given ->
        wait_as_owner(OTHER);
        (state == DONE && !(was_in & OTHER)) || (notified & OTHER);
        unref()
    fi
}

init
{
    atomic {
        run completer();
        run owner();
        run other()
    };
    _nr_pr == 1;
    assert(exists == 0 && notified == was_in && refs == 0)
}
