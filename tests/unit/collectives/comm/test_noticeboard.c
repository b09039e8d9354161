/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/message.h"
#include "collectives/comm/noticeboard.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/inbox.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "tests/support/test.h"
#include "tests/unit/collectives/comm/new_membership.h"
#include "tests/unit/runtime/proc/localities.h"

/* Localities of one host within this process, and the noticeboard of each of them. The test says
 * what each one does, and when it looks. */
enum { NUM = 4, NUM_SITES = 8, NUMBER = 3, FINGERPRINT = 5, W = COHORT__NOTES_GENERATIONS };
enum { LONG = COHORT__NOTE_INLINE + 1, LONGEST = COHORT__NOTE_BYTES };

static const uint32_t locality_of[NUM_SITES] = {0, 2, 1, 1, 0, 1, 2, 3};
static const uint32_t leaders[NUM] = {4, 3, 1, 7}; /* by locality; those that leave notes */

static struct localities localities;
static struct cohort__inbox *inboxes[NUM];
static struct cohort__group *groups[NUM];
static struct cohort__noticeboard *boards[NUM];

/* The linker redirects all calls of calloc to __wrap_calloc, and so on. */
void *__real_calloc(size_t count, size_t bytes);
cohort_status __real_cohort__boards_open_notes(struct cohort__process *process, uint32_t number,
                                               struct cohort__notes *ret_notes);

static bool keeps_going;

bool __wrap_cohort__process_keeps_going(const struct cohort__process *process)
{
    return keeps_going;
}

/* How many allocations succeed before one fails. -1: none fails. */
static long left = -1;

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

cohort_status __wrap_cohort__boards_open_notes(struct cohort__process *process, uint32_t number,
                                               struct cohort__notes *ret_notes)
{
    return fails() ? cohort_fail(COHORT_ERR_SYSTEM, "there is no room")
                   : __real_cohort__boards_open_notes(process, number, ret_notes);
}

static void group_open(uint32_t rank)
{
    struct cohort__membership *membership = new_membership(NUM_SITES, locality_of);
    membership->number = NUMBER;
    CHECK_OK(cohort__inbox_get(localities.processes[rank], &inboxes[rank]));
    CHECK_OK(cohort__inbox_group(inboxes[rank], "noted", membership, &groups[rank]));
    CHECK(groups[rank]->has_notes);
}

static void open_groups(void)
{
    localities_open_shared(&localities, NUM + 1, 1, NUM);
    for (uint32_t rank = 0; rank < NUM; rank++)
        group_open(rank);
}

static void open_all(void)
{
    open_groups();
    for (uint32_t rank = 0; rank < NUM; rank++) {
        CHECK((boards[rank] = cohort__noticeboard_get(groups[rank])));
        CHECK(cohort__noticeboard_get(groups[rank]) == boards[rank]);
    }
}

/* With the groups, and their noticeboards. */
static void close_all(void)
{
    localities_close(&localities);
}

#define TEST_OPEN(name) TEST_BETWEEN(name, open_all(), close_all())

static struct cohort__notes memory_open(void)
{
    struct cohort__notes notes;
    CHECK_OK(cohort__boards_open_notes(localities.processes[0], NUMBER, &notes));
    return notes;
}

static uint32_t num_waiting(void)
{
    struct cohort__notes notes = memory_open();
    uint32_t num = atomic_load(cohort__notes_num_waiting(&notes));
    cohort__boards_close_notes(&notes);
    return num;
}

static bool look(uint32_t rank)
{
    return cohort__watches_look(&cohort__inbox_commons(inboxes[rank])->watches);
}

/* Calls ------------------------------------------------------------------------------------ */

static const struct cohort__notice_readers for_all = {leaders, NUM, COHORT__NO_SITE};

static struct cohort__notice_readers for_one(uint32_t rank)
{
    return (struct cohort__notice_readers){leaders, NUM, leaders[rank]};
}

/* A call that leaves note 0. */
static struct cohort__notice_call poster(uint64_t generation)
{
    return (struct cohort__notice_call){
        .generation = generation, .fingerprint = FINGERPRINT, .is_unposted = {true}};
}

/* A call that reads NUM notes of number 0. */
static struct cohort__notice_call reader(uint64_t generation, uint32_t num)
{
    return (struct cohort__notice_call){
        .generation = generation, .fingerprint = FINGERPRINT, .num_reads = {num}, .unread = {num}};
}

static void begin(uint32_t rank, struct cohort__notice_call *call)
{
    cohort__noticeboard_begin(boards[rank], call);
}

static void end(uint32_t rank, struct cohort__notice_call *call)
{
    cohort__noticeboard_end(boards[rank], call);
}

static unsigned char content(uint64_t generation, uint32_t rank, uint32_t number, size_t at)
{
    return (unsigned char)(generation * 31 + rank * 7 + number * 3 + at + 1);
}

/* False: there is no place. */
static bool post(uint32_t rank, struct cohort__notice_call *call, uint32_t number, size_t bytes,
                 const struct cohort__notice_readers *readers)
{
    unsigned char *to = cohort__noticeboard_place(boards[rank], call, number, bytes, readers);
    if (!to)
        return false;
    for (size_t at = 0; at < bytes; at++)
        to[at] = content(call->generation, rank, number, at);
    cohort__noticeboard_publish(boards[rank], call, number, readers);
    return true;
}

/* Whether the note that SOURCE's leader has left is there for a call of RANK. */
static const struct cohort__note *find(uint32_t rank, const struct cohort__notice_call *call,
                                       uint32_t number, uint32_t source)
{
    return cohort__noticeboard_look(boards[rank], call, number, leaders[source]);
}

static void take(uint32_t rank, struct cohort__notice_call *call, uint32_t number, uint32_t source,
                 size_t bytes)
{
    const struct cohort__note *note = find(rank, call, number, source);
    CHECK(note && cohort__noticeboard_is_of(call, note, 1));
    uint32_t num_bytes;
    const unsigned char *data =
        cohort__noticeboard_data(boards[rank], leaders[source], note, &num_bytes);
    CHECK(data);
    CHECK_INT(num_bytes, (long long)bytes);
    CHECK((data == note->data) == (bytes <= COHORT__NOTE_INLINE));
    for (size_t at = 0; at < bytes; at++)
        CHECK_INT(data[at], content(call->generation, source, number, at));
    cohort__noticeboard_read(boards[rank], call, number, leaders[source]);
}

/* Whole calls, with one note. RANK leaves it. False: there is no place for it. */
static bool call_post(uint32_t rank, uint64_t generation, size_t bytes,
                      const struct cohort__notice_readers *readers)
{
    struct cohort__notice_call call = poster(generation);
    begin(rank, &call);
    bool has_posted = post(rank, &call, 0, bytes, readers);
    end(rank, &call);
    return has_posted;
}

static void call_read(uint32_t rank, uint64_t generation, uint32_t source, size_t bytes)
{
    struct cohort__notice_call call = reader(generation, 1);
    begin(rank, &call);
    take(rank, &call, 0, source, bytes);
    end(rank, &call);
}

/* Leaving and reading ---------------------------------------------------------------------- */

/* From nothing to the most that there may be, in the note and in a cell. Places are used again. */
TEST_OPEN(sizes)
{
    static const size_t sizes[] = {
        0, 1, COHORT__NOTE_INLINE - 1, COHORT__NOTE_INLINE, LONG, LONGEST - 1, LONGEST};
    uint64_t generation = 1;
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < NUM_OF(sizes); i++, generation++)
            for (uint32_t k = 0, rank = generation % NUM; k < NUM; k++)
                if (k == 0)
                    CHECK(call_post(rank, generation, sizes[i], &for_all));
                else
                    call_read((rank + k) % NUM, generation, rank, sizes[i]);
    CHECK(generation > 2 * W);
}

/* Each of the notes of a call has its own place, and notes are left and read in any order. */
TEST_OPEN(any_order)
{
    static const uint64_t generations[] = {7, 5, 6};
    struct cohort__notice_call posters[3], readers[3];
    for (uint32_t i = 0; i < 3; i++) {
        posters[i] = poster(generations[i]);
        readers[i] = reader(generations[i], 1);
        for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++) {
            posters[i].is_unposted[number] = true;
            readers[i].num_reads[number] = readers[i].unread[number] = 1;
        }
        begin(0, &posters[i]);
        begin(1, &readers[i]);
    }
    struct cohort__notice_readers readers_of = for_one(1);
    for (uint32_t number = COHORT__NOTES_OF_CALL; number-- > 0;)
        for (uint32_t i = 0; i < 3; i++) {
            CHECK(!find(1, &readers[i], number, 0));
            CHECK(post(0, &posters[i], number, 10 * number, &readers_of));
            CHECK(find(1, &readers[i], number, 0));
            CHECK(!find(1, &readers[i], number, 2));
        }
    for (uint32_t i = 3; i-- > 0;)
        for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++)
            take(1, &readers[i], number, 0, 10 * number);
    for (uint32_t i = 0; i < 3; i++) {
        end(0, &posters[i]);
        end(1, &readers[i]);
    }
}

/* All places are taken, by the longest notes. Each has a cell of its own. */
TEST_OPEN(full)
{
    struct cohort__notice_readers readers_of = for_one(1);
    struct cohort__notice_call posters[W + 1], readers[W];
    for (uint64_t i = 0; i <= W; i++) {
        posters[i] = poster(i + 1);
        begin(0, &posters[i]);
        for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++)
            CHECK_INT(post(0, &posters[i], number, LONGEST, &readers_of), i < W);
    }
    for (uint64_t i = 0; i < W; i++) {
        readers[i] = reader(i + 1, 1);
        for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++)
            readers[i].num_reads[number] = readers[i].unread[number] = 1;
        begin(1, &readers[i]);
    }
    for (uint64_t i = W; i-- > 0;)
        for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++)
            take(1, &readers[i], number, 0, LONGEST);
    for (uint32_t number = 0; number < COHORT__NOTES_OF_CALL; number++)
        CHECK(post(0, &posters[W], number, LONGEST, &readers_of));
}

/* Notes that are read soon use few cells. */
TEST_OPEN(few_cells)
{
    struct cohort__notice_readers readers_of = for_one(1);
    for (uint64_t generation = 1; generation < 3 * W; generation++) {
        struct cohort__notice_call call = reader(generation, 1);
        CHECK(call_post(0, generation, LONG, &readers_of));
        begin(1, &call);
        CHECK(find(1, &call, 0, 0)->cell < 2);
        end(1, &call);
    }
}

/* Places ----------------------------------------------------------------------------------- */

/* A place is used again when all readers have read, however large the numbers are. */
static void check_reuse(uint64_t first)
{
    open_all();
    struct cohort__notice_call next = poster(first + W), calls[NUM];
    CHECK(call_post(0, first, LONG, &for_all));
    begin(0, &next);
    for (uint32_t rank = 1; rank < NUM; rank++) {
        calls[rank] = reader(first, 1);
        begin(rank, &calls[rank]);
        CHECK(!post(0, &next, 0, LONG, &for_all));
        take(rank, &calls[rank], 0, 0, LONG);
        end(rank, &calls[rank]);
    }
    CHECK(post(0, &next, 0, LONG, &for_all));
    for (uint32_t rank = 1; rank < NUM; rank++)
        call_read(rank, first + W, 0, LONG);
    end(0, &next);
    close_all();
}

TEST(reuse)
{
    check_reuse(1);
    check_reuse(UINT64_C(1) << 32);
    check_reuse((UINT64_C(1) << 63) - W);
    check_reuse(UINT64_MAX - W);
}

/* The leader of several notes has passed when it has read the last one. */
TEST_OPEN(many_reads)
{
    struct cohort__notice_readers readers_of = for_one(0);
    struct cohort__notice_call call = reader(1, NUM - 1), next = poster(1 + W);
    for (uint32_t rank = 1; rank < NUM; rank++)
        CHECK(call_post(rank, 1, 8, &readers_of));
    begin(0, &call);
    begin(1, &next);
    for (uint32_t rank = 1; rank < NUM; rank++) {
        CHECK(!post(1, &next, 0, 8, &readers_of));
        take(0, &call, 0, rank, 8);
    }
    CHECK(post(1, &next, 0, 8, &readers_of)); /* before the call ends */
}

/* Only the reader counts. */
TEST_OPEN(other_readers)
{
    struct cohort__notice_readers readers_of = for_one(2);
    CHECK(call_post(0, 1, 8, &readers_of));
    call_read(2, 1, 0, 8);
    CHECK(call_post(0, 1 + W, 8, &for_all));
    CHECK(!call_post(0, 1 + 2 * W, 8, &readers_of));
}

/* Readers that fail, or leave the call out, pass it all the same. */
TEST(left_out)
{
    for (int how = 0; how < 3; how++) {
        open_all();
        struct cohort__notice_readers readers_of = for_one(1);
        struct cohort__notice_call next = poster(10 + W), call = reader(10 + (how == 0 ? 0 : W), 1);
        CHECK(call_post(0, 10, 8, &readers_of));
        begin(0, &next);
        CHECK(!post(0, &next, 0, 8, &readers_of));
        if (how == 0) { /* the call fails */
            begin(1, &call);
            CHECK(!post(0, &next, 0, 8, &readers_of));
            end(1, &call);
        } else if (how == 1) { /* it begins the next one of the place */
            begin(1, &call);
        } else { /* and that one has no notes there */
            cohort__noticeboard_come(boards[1], 9 + W, 0);
            CHECK(!post(0, &next, 0, 8, &readers_of));
            cohort__noticeboard_come(boards[1], 10 + W, 0);
        }
        CHECK(post(0, &next, 0, 8, &readers_of));
        CHECK(how != 1 || find(1, &call, 0, 0));
        close_all();
    }
}

/* Many windows are left out in one go. */
TEST_OPEN(long_way)
{
    struct cohort__notice_call calls[W];
    for (uint64_t i = 0; i < W; i++)
        CHECK(call_post(0, 1 + i, 8, &for_all));
    for (uint64_t i = 0; i < W; i++)
        calls[i] = poster(100 * W + i);
    for (uint32_t rank = 1; rank < NUM; rank++)
        cohort__noticeboard_come(boards[rank], 100 * W, 0);
    for (uint64_t i = 0; i < W; i++) {
        begin(0, &calls[i]);
        CHECK(post(0, &calls[i], 0, 8, &for_all));
    }
}

/* Two sites of a locality. The later one reads first. Its place is not passed before the earlier
 * one has read what is there, whoever has left that. */
TEST_OPEN(earlier_reader)
{
    struct cohort__notice_readers readers_of = for_one(1);
    struct cohort__notice_call early = reader(1, 1), late = reader(1 + W, 1);
    struct cohort__notice_call next = poster(1 + W), third = poster(1 + 2 * W);
    CHECK(call_post(0, 1, LONG, &readers_of));
    CHECK(call_post(2, 1 + W, 8, &readers_of));
    begin(1, &early);
    begin(1, &late);
    take(1, &late, 0, 2, 8);
    end(1, &late);
    begin(0, &next);
    begin(2, &third);
    CHECK(!post(0, &next, 0, LONG, &readers_of));
    CHECK(!post(2, &third, 0, 8, &readers_of));
    take(1, &early, 0, 0, LONG);
    CHECK(post(0, &next, 0, LONG, &readers_of));
    CHECK(post(2, &third, 0, 8, &readers_of));
}

/* What this locality has passed, a late site neither finds nor leaves. It learns who has left it
 * out. */
TEST_OPEN(late)
{
    struct cohort__notice_call late = reader(1, 1), post_late = poster(1), in_time = reader(2, 1);
    struct cohort__notice_call wrong = reader(3, 1), after_wrong = reader(3, 1);
    CHECK(call_post(0, 1, 8, &for_all));
    begin(1, &in_time);
    cohort__noticeboard_come(boards[1], 1 + W, 5);
    begin(1, &late);
    CHECK(!find(1, &late, 0, 0));
    CHECK_INT(cohort__noticeboard_left_out_by(boards[1], &late, 0), 5);
    cohort__noticeboard_come(boards[1], 2 + W, 5);
    CHECK_INT(cohort__noticeboard_left_out_by(boards[1], &in_time, 0), COHORT__NO_SITE);
    end(1, &in_time);
    end(1, &late);
    begin(1, &wrong);
    end(1, &wrong);
    begin(1, &after_wrong); /* nobody has left it out */
    CHECK(!find(1, &after_wrong, 0, 0));
    CHECK_INT(cohort__noticeboard_left_out_by(boards[1], &after_wrong, 0), COHORT__NO_SITE);
    end(1, &after_wrong);
    struct cohort__notice_readers readers_of = for_one(1);
    CHECK(call_post(2, 1 + W, 8, &readers_of));
    call_read(1, 1 + W, 2, 8);
    begin(2, &post_late);
    CHECK(!post(2, &post_late, 0, 8, &for_all));
    end(2, &post_late);
}

/* Two sites of a locality want to leave a note in the same place. The earlier one is first, if it
 * ever leaves one. */
TEST(turns)
{
    for (int fails_first = 0; fails_first < 2; fails_first++) {
        open_all();
        struct cohort__notice_readers readers_of = for_one(1);
        struct cohort__notice_call early = poster(1), late = poster(1 + W);
        struct cohort__notice_call call = reader(1, 1);
        begin(0, &late);
        begin(0, &early);
        CHECK(!post(0, &late, 0, 8, &readers_of));
        if (fails_first) {
            end(0, &early);
            CHECK(post(0, &late, 0, 8, &readers_of));
        } else {
            unsigned char *to = cohort__noticeboard_place(boards[0], &early, 0, 8, &readers_of);
            CHECK(to && !post(0, &late, 0, 8, &readers_of));
            begin(1, &call);
            end(1, &call); /* the reader has failed, but the note is still being written */
            CHECK(!post(0, &late, 0, 8, &readers_of));
            cohort__noticeboard_publish(boards[0], &early, 0, &readers_of);
            CHECK(post(0, &late, 0, 8, &readers_of));
        }
        close_all();
    }
}

/* Who has not passed is named by its first site. Nobody is asked in vain. */
TEST_OPEN(late_readers)
{
    struct cohort__notice_readers readers_of = for_one(1);
    struct cohort__notice_call next = poster(1 + W);
    uint32_t locality = 0;
    begin(0, &next);
    CHECK(cohort__noticeboard_late(boards[0], &next, 0, &locality) == COHORT__NO_SITE);
    CHECK(call_post(0, 1, 8, &for_all));
    call_read(2, 1, 0, 8);
    CHECK(!post(0, &next, 0, 8, &readers_of));
    locality = 0;
    bool is_late[NUM_SITES] = {false};
    for (uint32_t site;
         (site = cohort__noticeboard_late(boards[0], &next, 0, &locality)) != COHORT__NO_SITE;)
        is_late[site] = true;
    for (uint32_t site = 0; site < NUM_SITES; site++)
        CHECK_INT(is_late[site], site == 2 || site == 7);
    call_read(1, 1, 0, 8);
    call_read(3, 1, 0, 8);
    locality = 0;
    CHECK(cohort__noticeboard_late(boards[0], &next, 0, &locality) == COHORT__NO_SITE);
}

/* Other calls, and nonsense ---------------------------------------------------------------- */

TEST_OPEN(other_call)
{
    struct cohort__notice_call call = reader(1, 1), other = poster(1);
    other.fingerprint = FINGERPRINT + 1;
    begin(0, &other);
    begin(1, &call);
    CHECK(post(0, &other, 0, 8, &for_all));
    const struct cohort__note *note = find(1, &call, 0, 0);
    CHECK(note && !cohort__noticeboard_is_of(&call, note, 1));
    CHECK(!cohort__noticeboard_is_of(&call, note, 0));
    /* Before the sites agree, the low bits of the words count. */
    call.fingerprint = other.fingerprint ^ UINT64_C(1) << 63;
    CHECK(!cohort__noticeboard_is_of(&call, note, 1));
    CHECK(cohort__noticeboard_is_of(&call, note, 0));
    /* It was for nobody here, and its place is used again, for a call with the same words. */
    struct cohort__notice_readers readers_of = for_one(2);
    struct cohort__notice_call foreign = poster(2), next = poster(2 + W), two = reader(2, 1);
    begin(0, &foreign);
    CHECK(post(0, &foreign, 0, 8, &readers_of));
    begin(1, &two);
    note = find(1, &two, 0, 0);
    CHECK(note && cohort__noticeboard_is_of(&two, note, 1));
    call_read(2, 2, 0, 8);
    begin(0, &next);
    unsigned char *to = cohort__noticeboard_place(boards[0], &next, 0, 8, &readers_of);
    CHECK(to && !cohort__noticeboard_is_of(&two, note, 1) && !find(1, &two, 0, 0));
    cohort__noticeboard_publish(boards[0], &next, 0, &readers_of);
    CHECK(!cohort__noticeboard_is_of(&two, note, 1) && !find(1, &two, 0, 0));
}

/* Another process may write anything. */
TEST_OPEN(nonsense)
{
    static const uint32_t wrong[][2] = {
        {LONG, COHORT__NUM_NOTES}, {LONG, UINT32_MAX}, {LONGEST + 1, 0}, {UINT32_MAX, 0}};
    struct cohort__notice_call call = reader(1, 1);
    CHECK(call_post(0, 1, LONG, &for_all));
    begin(1, &call);
    const struct cohort__note *note = find(1, &call, 0, 0);
    uint32_t bytes;
    struct cohort__note *writable = (struct cohort__note *)note;
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        writable->bytes = wrong[i][0];
        writable->cell = wrong[i][1];
        CHECK(!cohort__noticeboard_data(boards[1], leaders[0], note, &bytes));
        CHECK_INT(bytes, wrong[i][0]);
    }
    writable->bytes = LONGEST;
    writable->cell = COHORT__NUM_NOTES - 1;
    CHECK(cohort__noticeboard_data(boards[1], leaders[0], note, &bytes)[LONGEST - 1] == 0);
}

/* Sleeping and waking ------------------------------------------------------------------------ */

static void all_sleep(void)
{
    for (uint32_t rank = 0; rank < NUM; rank++)
        localities_sleep(&localities, rank);
}

/* Exactly those whose bits are in EXPECTED have been woken. */
static void check_woken(unsigned expected)
{
    unsigned woken = 0;
    for (uint32_t rank = 0; rank < NUM; rank++)
        woken |= localities_was_woken(&localities, rank) ? 1u << rank : 0;
    CHECK_INT(woken, expected);
}

/* A note for all wakes its readers; of several for one reader the last one wakes it. */
TEST(wake_readers)
{
    static const uint32_t some[] = {1, 4, 7}; /* the leaders of localities 2, 0 and 3 */
    static const struct cohort__notice_readers for_some = {some, 3, COHORT__NO_SITE};
    struct cohort__notice_readers readers_of = for_one(1);
    open_all();
    all_sleep();
    CHECK(call_post(0, 1, 8, &for_all));
    check_woken(14);
    all_sleep();
    CHECK(call_post(0, 2, 8, &for_some));
    check_woken(12);
    static const unsigned expected[NUM] = {0, 0, 0, 2};
    for (uint32_t rank = 0; rank < NUM; rank++) {
        if (rank == 1)
            continue;
        all_sleep();
        CHECK(call_post(rank, 3, 8, &readers_of));
        check_woken(expected[rank]);
    }
    close_all();
}

struct waiter {
    struct cohort__notice notice;
    uint32_t num_ready;
};

static void on_ready(struct cohort__notice *notice)
{
    COHORT_CONTAINER_OF(notice, struct waiter, notice)->num_ready++;
}

/* SOURCE: a rank; NUM: waits for a place. */
static struct waiter waiter(struct cohort__notice_call *call, uint32_t source)
{
    return (struct waiter){.notice = {.call = call,
                                      .ready = on_ready,
                                      .source = source < NUM ? leaders[source] : COHORT__NO_SITE}};
}

/* Who waits for a place is woken by each that passes it; and if nobody waits, nobody is. */
TEST_OPEN(wake_for_place)
{
    struct cohort__notice_call next = poster(1 + W), call = reader(1, 1), other = reader(2, 1);
    struct waiter waiting = waiter(&next, NUM);
    CHECK(call_post(0, 1, 8, &for_all));
    CHECK(call_post(0, 2, 8, &for_all));
    begin(0, &next);
    cohort__noticeboard_wait(boards[0], &waiting.notice);
    CHECK_INT(num_waiting(), 1);
    for (uint32_t rank = 1; rank < NUM; rank++) {
        struct cohort__notice_call mine = call;
        CHECK(!look(0));
        begin(rank, &mine);
        all_sleep();
        take(rank, &mine, 0, 0, 8);
        check_woken(1);
        end(rank, &mine);
    }
    CHECK_INT(waiting.num_ready, 1); /* localities_was_woken has turned it */
    CHECK_INT(num_waiting(), 0);
    begin(1, &other);
    all_sleep();
    take(1, &other, 0, 0, 8);
    check_woken(0);
    CHECK_INT(waiting.num_ready, 1);
    CHECK(!cohort__noticeboard_give_up(boards[0], &waiting.notice));
    CHECK_INT(num_waiting(), 0);
}

/* What a call passes that it has not read wakes those who wait, too: it may be of anybody. */
TEST(wake_by_passing)
{
    for (int how = 0; how < 3; how++) {
        open_all();
        struct cohort__notice_readers readers_of = for_one(1);
        struct cohort__notice_call next = poster(1 + W);
        struct cohort__notice_call call = reader(how == 0 ? 1 : 1 + W, 1);
        struct waiter waiting = waiter(&next, NUM);
        CHECK(call_post(0, 1, 8, &readers_of));
        begin(0, &next);
        cohort__noticeboard_wait(boards[0], &waiting.notice);
        if (how == 0)
            begin(1, &call);
        localities_sleep(&localities, 0);
        if (how == 0)
            end(1, &call);
        else if (how == 1)
            begin(1, &call);
        else
            cohort__noticeboard_come(boards[1], 1 + W, 0);
        CHECK(localities_was_woken(&localities, 0));
        CHECK_INT(waiting.num_ready, 1);
        close_all();
    }
}

/* Passing more than the generation of the call that reads wakes all, not only whose note it was. */
TEST_OPEN(wake_others)
{
    struct cohort__notice_readers readers_of = for_one(1);
    struct cohort__notice_call early = reader(1, 1), late = reader(1 + W, 1);
    struct cohort__notice_call third = poster(1 + 2 * W);
    struct waiter waiting = waiter(&third, NUM);
    CHECK(call_post(0, 1, 8, &readers_of));
    CHECK(call_post(2, 1 + W, 8, &readers_of));
    begin(1, &early);
    begin(1, &late);
    take(1, &late, 0, 2, 8);
    begin(2, &third);
    cohort__noticeboard_wait(boards[2], &waiting.notice);
    localities_sleep(&localities, 2);
    take(1, &early, 0, 0, 8);
    CHECK(localities_was_woken(&localities, 2));
    CHECK_INT(waiting.num_ready, 1);
}

/* What another site of the same locality waits for. */
TEST(wake_own)
{
    for (int fails_first = 0; fails_first < 2; fails_first++) {
        open_all();
        struct cohort__notice_readers readers_of = for_one(1);
        struct cohort__notice_call early = poster(1), late = poster(1 + W), call = reader(1, 1);
        struct waiter waiting = waiter(&late, NUM);
        begin(0, &early);
        begin(0, &late);
        if (!fails_first) {
            CHECK(cohort__noticeboard_place(boards[0], &early, 0, 8, &readers_of));
            begin(1, &call);
            end(1, &call);
        }
        cohort__noticeboard_wait(boards[0], &waiting.notice);
        CHECK(!look(0));
        localities_sleep(&localities, 0);
        if (fails_first)
            end(0, &early);
        else
            cohort__noticeboard_publish(boards[0], &early, 0, &readers_of);
        CHECK(localities_was_woken(&localities, 0));
        CHECK_INT(waiting.num_ready, 1);
        close_all();
    }
}

/* It is told once that the note is there; if that was so before it waits, its own locality is woken
 * to look. Who gives up in time is not told. */
TEST_OPEN(wait_for_note)
{
    struct cohort__notice_call call = reader(1, 3);
    struct waiter early = waiter(&call, 0), late = waiter(&call, 0), none = waiter(&call, 2);
    begin(1, &call);
    cohort__noticeboard_wait(boards[1], &early.notice);
    cohort__noticeboard_wait(boards[1], &none.notice);
    CHECK(!look(1));
    CHECK_INT(num_waiting(), 0); /* none for a place */
    CHECK(call_post(0, 1, 8, &for_all));
    CHECK(cohort__noticeboard_give_up(boards[1], &none.notice));
    CHECK(!cohort__noticeboard_give_up(boards[1], &none.notice));
    CHECK(look(1));
    CHECK_INT(early.num_ready, 1);
    CHECK(!cohort__noticeboard_give_up(boards[1], &early.notice));
    localities_sleep(&localities, 1);
    cohort__noticeboard_wait(boards[1], &late.notice);
    CHECK(localities_was_woken(&localities, 1));
    CHECK_INT(late.num_ready, 1);
    CHECK_INT(none.num_ready, 0);
    CHECK(!look(1));
}

/* Life --------------------------------------------------------------------------------------- */

/* The number is lent again when all have cleared what they wrote. Nobody looks there any more. */
TEST_OPEN(destroy)
{
    struct cohort__notes notes = memory_open();
    struct cohort__notice_call call = poster(1 + W), read = reader(2, 1);
    struct waiter for_place = waiter(&call, NUM), for_note = waiter(&read, 2);
    CHECK(call_post(0, 1, LONGEST, &for_all));
    CHECK(call_post(1, 1, 8, &for_all));
    for (uint32_t rank = 1; rank < NUM - 1; rank++)
        call_read(rank, 1, 0, LONGEST);
    begin(0, &call);
    begin(0, &read);
    cohort__noticeboard_wait(boards[0], &for_place.notice);
    cohort__noticeboard_wait(boards[0], &for_note.notice);
    CHECK(!look(0));
    CHECK(cohort__noticeboard_give_up(boards[0], &for_place.notice));
    CHECK(cohort__noticeboard_give_up(boards[0], &for_note.notice));
    end(0, &read);
    end(0, &call);
    for (uint32_t rank = 0; rank < NUM; rank++) {
        cohort__noticeboard_destroy(boards[rank]);
        atomic_store(&groups[rank]->noticeboard, NULL);
        CHECK(!look(rank));
        uint32_t slot;
        CHECK(cohort__boards_slot_of(localities.processes[rank], rank, &slot));
        const unsigned char *own = cohort__notes_slot(&notes, slot);
        for (size_t i = 0; i < cohort__notes_clear_bytes(); i++)
            CHECK_INT(own[i], 0);
    }
    CHECK_INT(atomic_load(cohort__notes_num_waiting(&notes)), 0);
    cohort__noticeboard_destroy(NULL);
    cohort__boards_close_notes(&notes);
}

static bool is_clear(const struct cohort__notes *notes, uint32_t rank)
{
    uint32_t slot;
    bool is_clear = true;
    CHECK(cohort__boards_slot_of(localities.processes[rank], rank, &slot));
    const unsigned char *own = cohort__notes_slot(notes, slot);
    for (size_t i = 0; i < cohort__notes_clear_bytes(); i++)
        is_clear &= own[i] == 0;
    return is_clear;
}

/* What a locality has left and waited for when it died is cleared by the others, if they go on. */
static void destroy_without_dead(void)
{
    enum { LIVING = 1, DEAD = 3 };
    open_all();
    struct cohort__notes notes = memory_open();
    struct cohort__notice_call next = poster(1 + W);
    struct waiter waiting = waiter(&next, NUM);
    CHECK(call_post(LIVING, 1, 8, &for_all));
    CHECK(call_post(DEAD, 1, LONGEST, &for_all));
    begin(DEAD, &next);
    cohort__noticeboard_wait(boards[DEAD], &waiting.notice);
    CHECK_INT(atomic_load(cohort__notes_num_waiting(&notes)), 1);
    for (uint32_t rank = 0; rank < DEAD; rank++) {
        CHECK(!is_clear(&notes, DEAD));
        cohort__process_peer_lost(localities.processes[rank], DEAD, "was killed");
        cohort__noticeboard_destroy(boards[rank]);
        atomic_store(&groups[rank]->noticeboard, NULL);
        if (keeps_going) /* one is enough */
            break;
    }
    CHECK_INT(is_clear(&notes, DEAD), keeps_going);
    CHECK_INT(is_clear(&notes, LIVING), !keeps_going); /* else by itself */
    CHECK_INT(atomic_load(cohort__notes_num_waiting(&notes)), keeps_going ? 0 : 1);
    atomic_store(cohort__notes_num_waiting(&notes), 1);
    CHECK(cohort__noticeboard_give_up(boards[DEAD], &waiting.notice));
    end(DEAD, &next);
    cohort__boards_close_notes(&notes);
    close_all();
}

TEST(destroy_dead)
{
    destroy_without_dead();
    keeps_going = true;
    destroy_without_dead();
    keeps_going = false;
}

static bool look_never(struct cohort__watch *watch)
{
    return false;
}

/* Each allocation fails in turn. Then there is an error, and the next call tries again. It may be
 * on any thread, so nothing is done that only the thread may do that turns the event loop. */
TEST(no_memory)
{
    open_groups();
    struct cohort__watches *watches = &cohort__inbox_commons(inboxes[0])->watches;
    struct cohort__watch added = {.look = look_never};
    cohort__watch_begin(watches, &added);
    for (int num = 0; num < 4; num++) {
        left = num;
        CHECK(!cohort__noticeboard_get(groups[0]));
        CHECK_INT(left, -1);
        CHECK_INT(cohort__error_slot()->status, num < 3 ? COHORT_ERR_NO_MEMORY : COHORT_ERR_SYSTEM);
        CHECK(cohort__list_is_empty(&watches->list));
    }
    left = 4;
    CHECK(cohort__noticeboard_get(groups[0]));
    CHECK_INT(left, 0);
    left = -1;
    look(0);
    CHECK(!cohort__list_is_empty(&watches->list));
    cohort__watch_end(&added);
    cohort__watches_remove(watches, &added);
    close_all();
}

/* A locality has died before the first note. */
TEST(dead)
{
    open_groups();
    cohort__net_remove_peer(localities.nets[0], 2);
    CHECK(!cohort__noticeboard_get(groups[0]));
    CHECK_INT(cohort__error_slot()->status, COHORT_ERR_PEER_DIED);
    CHECK_CONTAINS(cohort_error_message(), "communicator \"noted\": locality 2 is gone");
    close_all();
}
