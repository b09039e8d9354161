/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses which board.
 *
 * A board has one word, its *holder*: 0, it is free; or the ticket of those that it was taken for,
 * and how many they are: 0 as long as none of them has begun to use it. A ticket has the slot that
 * has taken the board, and a number that is never used again. So whoever is late, by however much,
 * sees that the board is another's by now.
 *
 * And it has a *seat* for each slot, with a ticket and whether the slot is IN or OUT. Who begins
 * marks the seats of all as IN, since one of them may die before it begins. Who ends marks its own
 * as OUT. After a death every locality marks the seats of the dead one. Whoever finds all of them
 * OUT takes the board for itself, gives its memory back, and then the board. Whoever sees a death
 * looks at all of this again, so it does no harm if one dies between any two of these steps.
 *
 * tests/model/seats.pml is a model of this. */
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/net/shm_end.h"

enum { NUM_BITS = 13, NUM_MASK = (1 << NUM_BITS) - 1, IN = 1, OUT = 2 };

_Static_assert(COHORT__SHM_MAX_SLOTS < 1 << NUM_BITS, "a slot + 1, and a number of slots");

static struct cohort__shm *shm_of(struct cohort__net *net)
{
    return (struct cohort__shm *)net;
}

static _Atomic uint64_t *holder_of(const struct cohort__shm *shm, uint32_t number)
{
    return (_Atomic uint64_t *)(void *)(shm->common + cohort__shm_holder_offset(number));
}

static _Atomic uint64_t *seat_of(const struct cohort__shm *shm, uint32_t number, uint32_t slot)
{
    size_t offset = cohort__shm_seat_offset(shm->hub->size, number, slot);
    return (_Atomic uint64_t *)(void *)(shm->common + offset);
}

static uint64_t ticket_of(uint64_t word)
{
    return word & ~(uint64_t)NUM_MASK;
}

static uint32_t taker_of(uint64_t word)
{
    return (uint32_t)(word >> NUM_BITS & NUM_MASK) - 1;
}

static uint64_t new_ticket(const struct cohort__shm *shm)
{
    uint64_t count = atomic_fetch_add(&shm->own->num_tickets, 1) + 1;
    return (count << NUM_BITS | (shm->slot + 1)) << NUM_BITS;
}

/* The lowest boards first, since those that were used before have memory for posts already. */
static bool take_lowest(const struct cohort__shm *shm, uint64_t ticket, uint32_t *ret_number)
{
    for (uint32_t number = 0; number < COHORT__SHM_NUM_BOARDS; number++) {
        uint64_t none = 0;
        if (atomic_load_explicit(holder_of(shm, number), memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(holder_of(shm, number), &none, ticket)) {
            *ret_number = number;
            return true;
        }
    }
    return false;
}

/* TICKET's board, which nobody has begun to use, is free. False: it is not TICKET's, or in use. */
static bool release(const struct cohort__shm *shm, uint32_t number, uint64_t ticket)
{
    return atomic_compare_exchange_strong(holder_of(shm, number), &ticket, 0);
}

bool cohort__shm_board_take(struct cohort__net *net, uint32_t *ret_number, uint64_t *ret_ticket)
{
    const struct cohort__shm *shm = shm_of(net);
    struct cohort__board board = {0};
    uint64_t ticket = new_ticket(shm);
    uint32_t number;
    if (!take_lowest(shm, ticket, &number))
        return false;
    if (cohort__shm_board_open(net, number, &board)) {
        (void)release(shm, number, ticket);
        return false;
    }
    memset(board.memory, 0, cohort__board_clear_bytes(board.size));
    cohort__shm_board_close(&board);
    *ret_number = number;
    *ret_ticket = ticket;
    return true;
}

bool cohort__shm_board_begin(struct cohort__net *net, uint32_t number, uint64_t ticket,
                             const uint32_t *slots, uint32_t num)
{
    const struct cohort__shm *shm = shm_of(net);
    uint64_t holder = ticket;
    if (!atomic_compare_exchange_strong(holder_of(shm, number), &holder, ticket | num) &&
        holder != (ticket | num))
        return false;
    /* From now on it is TICKET's until this slot is OUT. */
    for (uint32_t i = 0; i < num; i++) {
        _Atomic uint64_t *seat = seat_of(shm, number, slots[i]);
        uint64_t mark = atomic_load(seat);
        while (ticket_of(mark) != ticket && !atomic_compare_exchange_weak(seat, &mark, ticket | IN))
            ;
    }
    return true;
}

/* Whether all who use the board of HOLDER have ended. */
static bool are_all_out(const struct cohort__shm *shm, uint32_t number, uint64_t holder)
{
    const uint64_t out = ticket_of(holder) | OUT;
    uint32_t num = 0;
    for (uint32_t slot = 0; slot < shm->hub->size; slot++)
        num += atomic_load(seat_of(shm, number, slot)) == out;
    return num == (holder & NUM_MASK);
}

/* If it is free now, gives it back. */
static void look(struct cohort__net *net, uint32_t number, uint64_t holder)
{
    const struct cohort__shm *shm = shm_of(net);
    struct cohort__board board = {0};
    if ((holder & NUM_MASK) == 0 || !are_all_out(shm, number, holder))
        return;
    uint64_t ticket = new_ticket(shm);
    if (!atomic_compare_exchange_strong(holder_of(shm, number), &holder, ticket))
        return; /* another one does it */
    if (!cohort__shm_board_open(net, number, &board))
        (void)cohort__shm_board_free_all(&board);
    cohort__shm_board_close(&board);
    (void)release(shm, number, ticket);
}

void cohort__shm_board_end(struct cohort__net *net, uint32_t number, uint64_t ticket, uint32_t slot)
{
    const struct cohort__shm *shm = shm_of(net);
    if (release(shm, number, ticket))
        return;
    /* It stays TICKET's until this slot is OUT, so a seat that was read before the holder has no
     * later ticket. Who has begun may not have marked it yet; or another site here has ended, too,
     * the board is another's by now, and its begin has marked the seat. */
    _Atomic uint64_t *seat = seat_of(shm, number, slot);
    uint64_t mark = atomic_load(seat);
    uint64_t holder;
    do {
        holder = atomic_load(holder_of(shm, number));
        if (ticket_of(holder) != ticket)
            return;
    } while (!atomic_compare_exchange_weak(seat, &mark, ticket | OUT));
    look(net, number, holder);
}

/* SLOT has died, which is OUT then if it is IN. */
static void end_dead(struct cohort__net *net, uint32_t number, uint64_t holder, uint32_t slot)
{
    const struct cohort__shm *shm = shm_of(net);
    const uint64_t ticket = ticket_of(holder);
    uint64_t mark = atomic_load(seat_of(shm, number, slot));
    if (ticket_of(mark) != ticket)
        return;
    if (mark == (ticket | IN))
        (void)atomic_compare_exchange_strong(seat_of(shm, number, slot), &mark, ticket | OUT);
    look(net, number, holder); /* also if it has died between the two */
}

/* Also for those that died before: one that has just died may have begun, and marked them. */
static void end_all_dead(struct cohort__net *net, uint32_t number, uint64_t holder)
{
    const struct cohort__shm *shm = shm_of(net);
    for (uint32_t slot = 0; slot < shm->hub->size; slot++)
        if (atomic_load(&shm->has_died[slot]))
            end_dead(net, number, holder, slot);
}

void cohort__shm_died(struct cohort__net *net, uint32_t slot)
{
    struct cohort__shm *shm = shm_of(net);
    atomic_store(&shm->has_died[slot], true);
    for (uint32_t number = 0; number < COHORT__SHM_NUM_BOARDS; number++) {
        uint64_t holder = atomic_load(holder_of(shm, number));
        if ((holder & NUM_MASK) != 0)
            end_all_dead(net, number, holder);
        else if (holder != 0 && atomic_load(&shm->has_died[taker_of(holder)]))
            (void)release(shm, number, holder);
    }
}
