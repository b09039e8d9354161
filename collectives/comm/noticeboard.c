/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/noticeboard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/fingerprint.h"
#include "collectives/comm/message.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"

/* A place of this locality's notes, as it knows it. */
struct line {
    uint64_t generation;  /* the latest that has it; 0: none */
    uint64_t done;        /* the latest whose notes have been read here, or will never be */
    uint64_t left_out;    /* the latest that was passed since a site came a window later; 0: none */
    uint32_t left_out_by; /* that site */
    uint32_t cell;
    bool has_cell;
    bool is_held;           /* some reader has perhaps not passed `generation` */
    atomic_bool is_written; /* just now, by some thread without the lock */
};

struct cohort__noticeboard {
    struct cohort__annex annex; /* first */
    struct cohort__watch watch;
    pthread_mutex_t lock;
    struct cohort__group *group;
    struct cohort__process *process;
    struct cohort__notes notes;
    uint32_t first_locality; /* of this host, by the numbers of the group's machine */
    uint32_t num_localities;
    uint32_t own;                /* of these */
    uint32_t *slots;             /* of each */
    struct cohort__list calls;   /* that have begun, by generation */
    struct cohort__list waiting; /* notices */
    _Atomic uint64_t swept;      /* up to this generation it is passed what was left out here */
    struct line lines[COHORT__NUM_NOTES];
    uint64_t *readers; /* of each line: a bit for each locality of the host */
    uint32_t num_words;
    uint64_t free_cells[COHORT__NUM_NOTES / 64];
    uint32_t held[COHORT__NUM_NOTES]; /* lines with cells, the oldest first */
    uint32_t num_held;
};

static struct cohort__notice_call *call_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__notice_call, link);
}

static uint32_t place_of(uint64_t generation, uint32_t number)
{
    return (uint32_t)(generation % COHORT__NOTES_GENERATIONS) * COHORT__NOTES_OF_CALL + number;
}

/* The number of SITE's locality among those of this host. */
static uint32_t locality_of(const struct cohort__noticeboard *board, uint32_t site)
{
    return cohort__machine_subgroup(board->group->machine, COHORT__LEVEL_LOCALITY, site) -
           board->first_locality;
}

static uint32_t own_slot(const struct cohort__noticeboard *board)
{
    return board->slots[board->own];
}

/* Passing ---------------------------------------------------------------------------------- */

static uint64_t passed_by(const struct cohort__noticeboard *board, uint32_t locality,
                          uint64_t generation, uint32_t number)
{
    return atomic_load(
        cohort__notes_passed(&board->notes, board->slots[locality], generation, number));
}

/* With the lock held: tells the others what this locality has passed at the place of GENERATION and
 * NUMBER: all that is done, below the first call that has yet to read there. One who waits for a
 * place first says so, and then looks; this does it the other way round. SOURCE is the only
 * site that may wait for GENERATION to be passed, or COHORT__NO_SITE. */
static void pass(struct cohort__noticeboard *board, uint64_t generation, uint32_t number,
                 uint32_t source)
{
    uint64_t passed = board->lines[place_of(generation, number)].done;
    for (struct cohort__list *link = board->calls.next; link != &board->calls; link = link->next) {
        const struct cohort__notice_call *call = call_of(link);
        bool is_same = (call->generation - generation) % COHORT__NOTES_GENERATIONS == 0;
        if (is_same && call->unread[number] > 0 && call->generation <= passed)
            passed = call->generation - 1;
    }
    if (passed <= passed_by(board, board->own, generation, number))
        return;
    atomic_store(cohort__notes_passed(&board->notes, own_slot(board), generation, number), passed);
    if (atomic_load(cohort__notes_num_waiting(&board->notes)) == 0)
        return;
    if (passed == generation && source != COHORT__NO_SITE)
        cohort__boards_alert(board->process, &board->slots[locality_of(board, source)], 1);
    else
        cohort__boards_alert(board->process, board->slots, board->num_localities);
}

/* What another site of this locality has waited for may be there now. */
static void alert_own_if_waiting(const struct cohort__noticeboard *board)
{
    if (atomic_load(cohort__notes_num_waiting(&board->notes)) > 0)
        cohort__boards_alert(board->process, &board->slots[board->own], 1);
}

static void set_done(struct cohort__noticeboard *board, uint64_t generation, uint32_t number,
                     uint64_t done, uint32_t source)
{
    struct line *line = &board->lines[place_of(generation, number)];
    if (done > line->done)
        line->done = done;
    pass(board, generation, number, source);
}

/* With the lock held. SITE has come to GENERATION. So no site of this locality comes to a call
 * that is a window earlier any more, except those that have begun. Mostly the others know that
 * already. All places are looked at, since this locality may have no notes in the next call of a
 * place. */
static void sweep(struct cohort__noticeboard *board, uint64_t generation, uint32_t site)
{
    uint64_t swept = atomic_load(&board->swept);
    if (generation <= swept + COHORT__NOTES_GENERATIONS)
        return;
    uint64_t last = generation - COHORT__NOTES_GENERATIONS;
    uint64_t first =
        last - swept > COHORT__NOTES_GENERATIONS ? last - COHORT__NOTES_GENERATIONS : swept;
    atomic_store(&board->swept, last);
    for (uint64_t left_out = first + 1; left_out <= last; left_out++)
        for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++)
            if (passed_by(board, board->own, left_out, number) < left_out) {
                struct line *line = &board->lines[place_of(left_out, number)];
                line->left_out = left_out;
                line->left_out_by = site;
                set_done(board, left_out, number, left_out, COHORT__NO_SITE);
            }
}

void cohort__noticeboard_come(struct cohort__noticeboard *board, uint64_t generation, uint32_t site)
{
    if (generation <= atomic_load(&board->swept) + COHORT__NOTES_GENERATIONS)
        return;
    pthread_mutex_lock(&board->lock);
    sweep(board, generation, site);
    pthread_mutex_unlock(&board->lock);
}

void cohort__noticeboard_begin(struct cohort__noticeboard *board, struct cohort__notice_call *call)
{
    uint64_t generation = call->generation;
    pthread_mutex_lock(&board->lock);
    struct cohort__list *place = board->calls.prev;
    while (place != &board->calls && call_of(place)->generation > generation)
        place = place->prev;
    cohort__list_insert_after(place, &call->link);
    sweep(board, generation, call->site);
    pthread_mutex_unlock(&board->lock);
}

void cohort__noticeboard_end(struct cohort__noticeboard *board, struct cohort__notice_call *call)
{
    pthread_mutex_lock(&board->lock);
    cohort__list_remove(&call->link);
    for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++)
        if (call->unread[number] > 0)
            set_done(board, call->generation, number, call->generation, COHORT__NO_SITE);
    pthread_mutex_unlock(&board->lock);
    alert_own_if_waiting(board); /* for the place of what it has not posted */
}

/* If the call reads the notes of one site only, nobody else waits for it. */
void cohort__noticeboard_read(struct cohort__noticeboard *board, struct cohort__notice_call *call,
                              uint32_t number, uint32_t site)
{
    pthread_mutex_lock(&board->lock);
    if (--call->unread[number] == 0)
        set_done(board, call->generation, number, call->generation,
                 call->num_reads[number] == 1 ? site : COHORT__NO_SITE);
    pthread_mutex_unlock(&board->lock);
}

/* Leaving notes ---------------------------------------------------------------------------- */

static uint64_t *readers_of(const struct cohort__noticeboard *board, uint32_t place)
{
    return board->readers + (size_t)place * board->num_words;
}

/* Whether all for whom the note in the place of GENERATION and NUMBER was have passed it. While it
 * is still being written they have if their calls have failed, but the memory is in use. */
static bool is_passed(struct cohort__noticeboard *board, uint64_t generation, uint32_t number)
{
    uint32_t place = place_of(generation, number);
    struct line *line = &board->lines[place];
    const uint64_t *readers = readers_of(board, place);
    if (atomic_load(&line->is_written))
        return false;
    for (uint32_t word = 0; line->is_held && word < board->num_words; word++)
        for (uint64_t left = readers[word]; left; left &= left - 1) {
            uint32_t locality = 64 * word + (uint32_t)__builtin_ctzll(left);
            if (passed_by(board, locality, generation, number) < line->generation)
                return false;
        }
    line->is_held = false;
    return true;
}

static void free_cell(struct cohort__noticeboard *board, uint32_t place)
{
    struct line *line = &board->lines[place];
    uint32_t i = 0;
    if (!line->has_cell)
        return;
    while (board->held[i] != place)
        i++;
    memmove(&board->held[i], &board->held[i + 1], (--board->num_held - i) * sizeof(board->held[0]));
    board->free_cells[line->cell / 64] |= UINT64_C(1) << line->cell % 64;
    line->has_cell = false;
}

/* The lowest free cell, so that few are in the caches. There is one, since LINE holds none. The
 * cells of the oldest notes, which are the likeliest to have been read, are looked at first. */
static void take_cell(struct cohort__noticeboard *board, uint32_t place)
{
    enum { MOST_LOOKS = 4 };
    for (int i = 0; i < MOST_LOOKS && board->num_held > 0; i++) {
        uint32_t oldest = board->held[0];
        if (!is_passed(board, board->lines[oldest].generation, oldest % COHORT__NOTES_OF_CALL))
            break;
        free_cell(board, oldest);
    }
    uint32_t word = 0;
    while (!board->free_cells[word])
        word++;
    struct line *line = &board->lines[place];
    line->cell = 64 * word + (uint32_t)__builtin_ctzll(board->free_cells[word]);
    line->has_cell = true;
    board->free_cells[word] &= board->free_cells[word] - 1;
    board->held[board->num_held++] = place;
}

/* Whether an earlier call, of another site of this locality, has yet to use the place. */
static bool is_wanted_before(const struct cohort__noticeboard *board,
                             const struct cohort__notice_call *call, uint32_t number)
{
    for (struct cohort__list *link = board->calls.next; link != &call->link; link = link->next) {
        const struct cohort__notice_call *earlier = call_of(link);
        if (earlier->is_unposted[number] &&
            (call->generation - earlier->generation) % COHORT__NOTES_GENERATIONS == 0)
            return true;
    }
    return false;
}

/* With the lock held. A call that comes too late never finds a place: its site is about to be told
 * that the others have left it out. */
static bool has_place(struct cohort__noticeboard *board, const struct cohort__notice_call *call,
                      uint32_t number)
{
    return board->lines[place_of(call->generation, number)].generation < call->generation &&
           !is_wanted_before(board, call, number) && is_passed(board, call->generation, number);
}

static void set_readers(struct cohort__noticeboard *board, uint32_t place,
                        const struct cohort__notice_readers *readers)
{
    uint64_t *bits = readers_of(board, place);
    memset(bits, 0, board->num_words * sizeof(*bits));
    for (uint32_t i = 0; i < readers->num; i++) {
        uint32_t locality = locality_of(board, readers->sites[i]);
        bool reads = readers->reader == COHORT__NO_SITE || readers->sites[i] == readers->reader;
        if (reads && locality != board->own)
            bits[locality / 64] |= UINT64_C(1) << locality % 64;
    }
}

unsigned char *cohort__noticeboard_place(struct cohort__noticeboard *board,
                                         struct cohort__notice_call *call, uint32_t number,
                                         size_t bytes, const struct cohort__notice_readers *readers)
{
    uint32_t place = place_of(call->generation, number);
    struct line *line = &board->lines[place];
    struct cohort__note *note =
        cohort__notes_at(&board->notes, own_slot(board), call->generation, number);
    unsigned char *to = NULL;
    pthread_mutex_lock(&board->lock);
    if (has_place(board, call, number)) {
        free_cell(board, place);
        if (bytes > COHORT__NOTE_INLINE)
            take_cell(board, place);
        set_readers(board, place, readers);
        line->generation = call->generation;
        line->is_held = true;
        atomic_store(&line->is_written, true);
        call->is_unposted[number] = false;
        atomic_store(&note->generation, 0); /* see is_of */
        atomic_store_explicit(&note->bytes, (uint32_t)bytes, memory_order_relaxed);
        atomic_store_explicit(&note->cell, line->cell, memory_order_relaxed);
        to = line->has_cell ? cohort__notes_cell(&board->notes, own_slot(board), line->cell)
                            : note->data;
    }
    pthread_mutex_unlock(&board->lock);
    return to;
}

/* Whether all others who leave the same note for the same site have done so. */
static bool is_last(const struct cohort__noticeboard *board, const struct cohort__notice_call *call,
                    uint32_t number, const struct cohort__notice_readers *readers)
{
    for (uint32_t i = 0; i < readers->num; i++) {
        uint32_t slot = board->slots[locality_of(board, readers->sites[i])];
        if (readers->sites[i] != readers->reader && slot != own_slot(board) &&
            atomic_load(
                &cohort__notes_at(&board->notes, slot, call->generation, number)->generation) !=
                call->generation)
            return false;
    }
    return true;
}

/* A site that reads the notes of several is woken by the last of them: because of the fence, at
 * least one finds those of all. */
void cohort__noticeboard_publish(struct cohort__noticeboard *board,
                                 const struct cohort__notice_call *call, uint32_t number,
                                 const struct cohort__notice_readers *readers)
{
    struct cohort__note *note =
        cohort__notes_at(&board->notes, own_slot(board), call->generation, number);
    atomic_store_explicit(&note->fingerprint, call->fingerprint, memory_order_release);
    atomic_store_explicit(&note->generation, call->generation, memory_order_release);
    atomic_store(&board->lines[place_of(call->generation, number)].is_written, false);
    atomic_thread_fence(memory_order_seq_cst);
    alert_own_if_waiting(board);
    if (readers->reader != COHORT__NO_SITE) {
        if (is_last(board, call, number, readers))
            cohort__boards_alert(board->process, &board->slots[locality_of(board, readers->reader)],
                                 1);
        return;
    }
    for (uint32_t i = 0; i < readers->num; i++) {
        uint32_t locality = locality_of(board, readers->sites[i]);
        if (locality != board->own)
            cohort__boards_alert(board->process, &board->slots[locality], 1);
    }
}

uint32_t cohort__noticeboard_late(struct cohort__noticeboard *board,
                                  const struct cohort__notice_call *call, uint32_t number,
                                  uint32_t *locality)
{
    uint32_t place = place_of(call->generation, number), late = COHORT__NO_SITE;
    pthread_mutex_lock(&board->lock);
    const struct line *line = &board->lines[place];
    const uint64_t *readers = readers_of(board, place);
    while (line->is_held && *locality < board->num_localities && late == COHORT__NO_SITE) {
        uint32_t i = (*locality)++;
        bool is_reader = readers[i / 64] >> i % 64 & 1;
        if (is_reader && passed_by(board, i, call->generation, number) < line->generation)
            late = cohort__group_first_site(board->group, board->first_locality + i);
    }
    pthread_mutex_unlock(&board->lock);
    return late;
}

/* Reading them ----------------------------------------------------------------------------- */

static bool is_too_late(const struct cohort__noticeboard *board,
                        const struct cohort__notice_call *call, uint32_t number)
{
    return passed_by(board, board->own, call->generation, number) >= call->generation;
}

uint32_t cohort__noticeboard_left_out_by(struct cohort__noticeboard *board,
                                         const struct cohort__notice_call *call, uint32_t number)
{
    if (!is_too_late(board, call, number))
        return COHORT__NO_SITE;
    pthread_mutex_lock(&board->lock);
    const struct line *line = &board->lines[place_of(call->generation, number)];
    /* Else another site's call of this generation has ended before. */
    uint32_t site = line->left_out >= call->generation ? line->left_out_by : COHORT__NO_SITE;
    pthread_mutex_unlock(&board->lock);
    return site;
}

/* What this locality has passed, it does not read: it asks who has left it out. */
const struct cohort__note *cohort__noticeboard_look(struct cohort__noticeboard *board,
                                                    const struct cohort__notice_call *call,
                                                    uint32_t number, uint32_t site)
{
    uint32_t slot = board->slots[locality_of(board, site)];
    const struct cohort__note *note =
        cohort__notes_at(&board->notes, slot, call->generation, number);
    bool is_there =
        atomic_load(&note->generation) == call->generation && !is_too_late(board, call, number);
    return is_there ? note : NULL;
}

/* The note of another call is perhaps not for this locality. Then its place may be used again at
 * any time, and is of no generation before it is written. */
bool cohort__noticeboard_is_of(const struct cohort__notice_call *call,
                               const struct cohort__note *note, unsigned phase)
{
    uint64_t fingerprint = atomic_load_explicit(&note->fingerprint, memory_order_acquire);
    return cohort__fingerprint_fits(call->fingerprint, fingerprint, phase) &&
           atomic_load(&note->generation) == call->generation;
}

const unsigned char *cohort__noticeboard_data(const struct cohort__noticeboard *board,
                                              uint32_t site, const struct cohort__note *note,
                                              uint32_t *ret_bytes)
{
    return cohort__notes_data(&board->notes, board->slots[locality_of(board, site)], note,
                              ret_bytes);
}

/* Waiting ---------------------------------------------------------------------------------- */

static bool is_ready(struct cohort__noticeboard *board, const struct cohort__notice *notice)
{
    if (notice->source == COHORT__NO_SITE)
        return has_place(board, notice->call, notice->number);
    return cohort__noticeboard_look(board, notice->call, notice->number, notice->source) != NULL;
}

static void stop_waiting(struct cohort__noticeboard *board, struct cohort__notice *notice)
{
    cohort__list_remove(&notice->link);
    notice->is_waiting = false;
    cohort__watch_end(&board->watch);
    if (notice->source == COHORT__NO_SITE)
        atomic_fetch_sub(cohort__notes_num_waiting(&board->notes), 1);
}

static bool look(struct cohort__watch *watch)
{
    struct cohort__noticeboard *board =
        COHORT_CONTAINER_OF(watch, struct cohort__noticeboard, watch);
    struct cohort__list ready, *next, *link;
    cohort__list_init(&ready);
    pthread_mutex_lock(&board->lock);
    for (link = board->waiting.next; link != &board->waiting; link = next) {
        struct cohort__notice *notice = COHORT_CONTAINER_OF(link, struct cohort__notice, link);
        next = link->next;
        if (!is_ready(board, notice))
            continue;
        stop_waiting(board, notice);
        cohort__list_push_back(&ready, &notice->link);
    }
    pthread_mutex_unlock(&board->lock);
    bool any = !cohort__list_is_empty(&ready);
    while ((link = cohort__list_pop_front(&ready))) {
        struct cohort__notice *notice = COHORT_CONTAINER_OF(link, struct cohort__notice, link);
        notice->ready(notice);
    }
    return any;
}

/* First says that it waits, and then looks for what has come meanwhile: the thread that looks at
 * notes may have done so, and sleep again. */
void cohort__noticeboard_wait(struct cohort__noticeboard *board, struct cohort__notice *notice)
{
    pthread_mutex_lock(&board->lock);
    cohort__list_push_back(&board->waiting, &notice->link);
    notice->is_waiting = true;
    if (notice->source == COHORT__NO_SITE)
        atomic_fetch_add(cohort__notes_num_waiting(&board->notes), 1);
    cohort__watch_begin(&board->group->commons->watches, &board->watch);
    if (is_ready(board, notice))
        cohort__boards_alert(board->process, &board->slots[board->own], 1);
    pthread_mutex_unlock(&board->lock);
}

bool cohort__noticeboard_give_up(struct cohort__noticeboard *board, struct cohort__notice *notice)
{
    pthread_mutex_lock(&board->lock);
    bool was_waiting = notice->is_waiting;
    if (was_waiting)
        stop_waiting(board, notice);
    pthread_mutex_unlock(&board->lock);
    return was_waiting;
}

/* Life ------------------------------------------------------------------------------------- */

/* Finds the localities of this host and their slots. */
static cohort_status find_slots(struct cohort__noticeboard *board)
{
    const struct cohort__group *group = board->group;
    struct cohort__children here = cohort__group_host_localities(group);
    board->first_locality = here.first;
    board->num_localities = here.num;
    board->num_words = (here.num + 63) / 64;
    board->slots = calloc(here.num, sizeof(*board->slots));
    board->readers = calloc((size_t)COHORT__NUM_NOTES * board->num_words, sizeof(*board->readers));
    if (!board->slots || !board->readers)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%.60s\": no memory for notes",
                           group->name);
    for (uint32_t i = 0; i < here.num; i++) {
        uint32_t rank =
            group->membership->locality_of[cohort__group_first_site(group, here.first + i)];
        if (rank == group->rank)
            board->own = i;
        if (!cohort__boards_slot_of(board->process, rank, &board->slots[i]))
            return cohort_fail(COHORT_ERR_PEER_DIED, "communicator \"%.60s\": locality %u is gone",
                               group->name, rank);
    }
    return COHORT_OK;
}

static void release(struct cohort__noticeboard *board)
{
    cohort__boards_close_notes(&board->notes);
    pthread_mutex_destroy(&board->lock);
    free(board->slots);
    free(board->readers);
    free(board);
}

/* Does for those that have died what they would have done. All sites have left, so nobody waits. */
static void clear_dead(const struct cohort__noticeboard *board)
{
    const struct cohort__group *group = board->group;
    for (uint32_t i = 0; i < board->num_localities; i++) {
        uint32_t site = cohort__group_first_site(group, board->first_locality + i);
        if (!cohort__boards_is_dead(board->process, group->membership->locality_of[site]))
            continue;
        cohort__boards_clear_notes(&board->notes, board->slots[i]);
        atomic_store(cohort__notes_num_waiting(&board->notes), 0);
    }
}

void cohort__noticeboard_destroy(struct cohort__noticeboard *board)
{
    if (!board)
        return;
    cohort__watches_remove(&board->group->commons->watches, &board->watch);
    cohort__boards_clear_notes(&board->notes, own_slot(board));
    clear_dead(board);
    release(board);
}

static void destroy(struct cohort__annex *annex)
{
    cohort__noticeboard_destroy((struct cohort__noticeboard *)annex);
}

/* By any thread. So it must not touch the watches, even if it fails. */
static struct cohort__noticeboard *create(struct cohort__group *group)
{
    struct cohort__noticeboard *board = calloc(1, sizeof(*board));
    if (!board) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%.60s\": no memory for notes",
                    group->name);
        return NULL;
    }
    board->annex.destroy = destroy;
    board->watch.look = look;
    board->group = group;
    board->process = group->commons->process;
    pthread_mutex_init(&board->lock, NULL);
    cohort__list_init(&board->calls);
    cohort__list_init(&board->waiting);
    memset(board->free_cells, 0xff, sizeof(board->free_cells));
    if (find_slots(board) ||
        cohort__boards_open_notes(board->process, group->membership->number, &board->notes)) {
        release(board);
        return NULL;
    }
    return board;
}

struct cohort__noticeboard *cohort__noticeboard_get(struct cohort__group *group)
{
    struct cohort__noticeboard *board = (struct cohort__noticeboard *)atomic_load_explicit(
        &group->noticeboard, memory_order_acquire);
    if (board)
        return board;
    pthread_mutex_lock(&group->lock);
    board = (struct cohort__noticeboard *)atomic_load(&group->noticeboard);
    if (!board) {
        board = create(group);
        atomic_store(&group->noticeboard, board ? &board->annex : NULL);
    }
    pthread_mutex_unlock(&group->lock);
    return board;
}
