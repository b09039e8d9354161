/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/names/requests.h"
#include "runtime/proc/registry.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"
#include "tests/unit/runtime/proc/guest.h"

/* Locality 0 of a job that goes on without the dead. The home of names is with the test, in the
 * place of cohortrun. It takes the letters when the test says so. */
enum { MOST_LETTERS = 8, MOST_SITES = 4 };

static struct fake_net fake;
static struct cohort__registry_home home;
static struct letter {
    size_t bytes;
    unsigned char data[600];
} letters[MOST_LETTERS];
static uint32_t num_letters;
static bool is_accused; /* locality 0, by itself */

static void on_letter(void *context, const void *data, size_t bytes)
{
    CHECK(num_letters < MOST_LETTERS && bytes <= sizeof(letters[0].data));
    letters[num_letters].bytes = bytes;
    memcpy(letters[num_letters++].data, data, bytes);
}

static void on_accused(void *context, uint32_t rank, bool at_fault, const char *why)
{
    CHECK(at_fault);
    CHECK_INT(rank, 0);
    CHECK_CONTAINS(why, "can't go on");
    is_accused = true;
}

static struct cohort__registry *registry(void)
{
    return cohort__process_registry(fake.process);
}

static void open_job(void)
{
    num_letters = 0;
    is_accused = false;
    fake_net_open_launched(&fake, on_accused, on_letter, NULL);
    cohort__registry_home_init(&home, COHORT__HOME_LAUNCHER, FAKE_SIZE);
}

static void close_job(void)
{
    CHECK(!is_accused);
    fake_net_close(&fake);
    cohort__registry_home_fini(&home);
}

/* The home takes all letters, and its answers to this locality come. */
static void exchange(void)
{
    struct cohort__list outbox, *link;
    cohort__list_init(&outbox);
    for (uint32_t i = 0; i < num_letters; i++)
        CHECK_OK(
            cohort__home_take_letter(&home, 0, letters[i].data, letters[i].bytes, "", &outbox));
    num_letters = 0;
    while ((link = cohort__list_pop_front(&outbox))) {
        struct cohort__registry_letter *letter =
            COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link);
        for (uint32_t i = 0; i < letter->num_ranks; i++)
            if (letter->ranks[i] == 0)
                cohort__registry_message(registry(), COHORT__HOME_LAUNCHER, letter->packer.data,
                                         letter->packer.bytes);
        cohort__registry_letter_destroy(letter);
    }
}

static void home_hears(uint32_t rank)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    CHECK_OK(cohort__registry_home_died(&home, rank, &outbox));
    CHECK(cohort__list_is_empty(&outbox));
}

static void tell(uint32_t rank, uint32_t order)
{
    struct cohort__death death = {.rank = rank, .order = order, .why = "was killed"};
    cohort__process_death_told(fake.process, &death);
}

static void enter(struct guest *guest, struct cohort__join join)
{
    join.terms = "terms";
    if (join.num_sites == 0)
        join.num_sites = 1;
    guest_enter(guest, fake.process, join);
}

static void check_died(const struct guest *guest)
{
    guest_check(guest, COHORT_ERR_PEER_DIED, "");
    CHECK_TEXT(guest->text, "locality 2 was killed");
}

static void check_made(struct guest *guest)
{
    guest_check(guest, COHORT_OK, "");
    CHECK_INT(guest->membership->home, COHORT__HOME_LAUNCHER);
    CHECK(guest->membership->instance >> 32 == COHORT__HOME_LAUNCHER + 1);
    cohort__membership_unref(guest->membership);
}

#define TEST_JOB(name) TEST_BETWEEN(name, open_job(), close_job())

/* Any death ends it, since nobody knows who is to join. It joins again in the next view. */
TEST_JOB(named)
{
    struct guest guest;
    enter(&guest, (struct cohort__join){.name = "a"});
    home_hears(2);
    exchange(); /* the home drops it */
    CHECK_INT(guest.num_done, 0);
    tell(2, 1);
    check_died(&guest);
    enter(&guest, (struct cohort__join){.name = "a"});
    exchange();
    check_made(&guest);
}

/* Sites 0, 1, ... in these localities. Valid until the next call, so only one join has one. */
static struct cohort__membership *parent_of(uint32_t num, const uint32_t *ranks)
{
    static struct cohort__membership *parent;
    struct cohort__membership *next = calloc(1, sizeof(*next) + MOST_SITES * sizeof(*ranks));
    CHECK(next && num <= MOST_SITES);
    free(parent); /* of the call before */
    parent = next;
    parent->num_sites = num;
    memcpy(parent->locality_of, ranks, num * sizeof(*ranks));
    return parent;
}

static const struct cohort__join child = {.name = "a\0b", .name_bytes = 3, .home = 1};

static struct cohort__join child_of(uint32_t num, const uint32_t *ranks)
{
    struct cohort__join join = child;
    join.parent = parent_of(num, ranks);
    return join;
}

/* A healthy communicator is divided while another locality dies. */
TEST_JOB(child_of_others)
{
    struct guest guest;
    enter(&guest, child_of(2, (uint32_t[]){0, 1}));
    home_hears(2);
    tell(2, 1);
    CHECK_INT(guest.num_done, 0);
    exchange();
    check_made(&guest);
    enter(&guest, child_of(2, (uint32_t[]){0, 1}));
    exchange();
    CHECK_INT(guest.num_done, 1);
    cohort__membership_unref(guest.membership);
}

/* One that had a site there ends, whether it waits or begins. A map that comes behind the death is
 * for nobody, so the site here leaves at once. */
TEST_JOB(child_of_dead)
{
    struct guest guest, late;
    enter(&guest, child_of(2, (uint32_t[]){0, 2}));
    tell(2, 1);
    check_died(&guest);
    exchange();
    CHECK_INT(guest.num_done, 1);
    CHECK_INT(num_letters, 1);
    enter(&late, child_of(2, (uint32_t[]){0, 2}));
    check_died(&late);
    CHECK_INT(num_letters, 1);
}

static struct cohort__join of_living(uint32_t num_dead, uint64_t value)
{
    struct cohort__join join = child_of(3, (uint32_t[]){0, 2, 1});
    join.home = COHORT__HOME_LAUNCHER;
    join.is_of_living = true;
    join.num_dead = num_dead;
    join.agrees = true;
    join.value = value;
    return join;
}

/* It has to know the number of the dead, and ends when that changes. */
TEST_JOB(of_living)
{
    struct guest guest;
    bool is_dead[3];
    CHECK_INT(cohort__registry_count_dead(registry(), of_living(0, 0).parent, is_dead), 0);
    enter(&guest, of_living(0, 6));
    exchange();
    CHECK_OK(guest.status);
    CHECK_INT((long long)guest.membership->value, 6);
    cohort__membership_unref(guest.membership);
    enter(&guest, of_living(0, 6));
    tell(2, 1);
    check_died(&guest);
    CHECK_INT(cohort__registry_count_dead(registry(), of_living(0, 0).parent, is_dead), 1);
    CHECK(!is_dead[0] && is_dead[1] && !is_dead[2]);
    enter(&guest, of_living(0, 6));
    CHECK_INT(guest.status, COHORT_ERR_PEER_DIED);
    num_letters = 0;
    enter(&guest, of_living(1, 5));
    exchange();
    CHECK_OK(guest.status);
    CHECK_INT((long long)guest.membership->value, 5);
    cohort__membership_unref(guest.membership);
}

/* The home of their parent knows who has left it, also where all that live are in this locality. */
TEST(of_living_here)
{
    struct guest guest;
    struct cohort__join join = of_living(2, 6);
    open_job();
    join.is_whole = true;
    tell(2, 1);
    tell(1, 2);
    enter(&guest, join);
    CHECK_INT(num_letters, 1);
    exchange();
    CHECK_OK(guest.status);
    cohort__membership_unref(guest.membership);
    close_job();
}

/* What is within this locality stays here. */
TEST(whole)
{
    struct guest guest;
    struct cohort__join join = child_of(1, (uint32_t[]){0});
    open_job();
    join.is_whole = true;
    join.home = 0;
    enter(&guest, join);
    CHECK_INT(num_letters, 0);
    CHECK_OK(guest.status);
    CHECK_INT(guest.membership->home, 0);
    cohort__registry_leave(registry(), guest.membership, 0);
    cohort__membership_unref(guest.membership);
    close_job();
}

/* What can't be read may be what the others have agreed on. So there is no agreement here any more,
 * not even if all of these die before this locality is ended. */
TEST_JOB(lost_agreement)
{
    struct guest guest, later;
    enter(&guest, of_living(0, 6));
    cohort__registry_message(registry(), COHORT__HOME_LAUNCHER, "\x81", 1);
    CHECK(is_accused);
    CHECK_INT(guest.num_done, 1);
    CHECK_INT(guest.status, COHORT_ERR_PROTOCOL);
    tell(2, 1);
    tell(1, 2);
    num_letters = 0;
    enter(&later, of_living(2, 6));
    CHECK_INT(later.num_done, 1);
    CHECK_INT(later.status, COHORT_ERR_PROTOCOL);
    CHECK_INT(num_letters, 0);
    is_accused = false;
}

/* Called instead of the real function (--wrap). */
struct cohort__peer *__real_cohort__peer_make(struct cohort__process *process, uint32_t rank);
static bool has_no_memory;

struct cohort__peer *__wrap_cohort__peer_make(struct cohort__process *process, uint32_t rank)
{
    return has_no_memory ? NULL : __real_cohort__peer_make(process, rank);
}

/* Without memory to note a death this locality counts the dead otherwise than all others, and there
 * is no agreement here any more, either. */
TEST_JOB(death_not_noted)
{
    struct guest guest, later;
    enter(&guest, of_living(0, 6));
    has_no_memory = true;
    tell(2, 1);
    has_no_memory = false;
    CHECK(is_accused);
    CHECK_INT(guest.num_done, 1);
    CHECK_INT(guest.status, COHORT_ERR_NO_MEMORY);
    tell(1, 2);
    num_letters = 0;
    enter(&later, of_living(0, 6)); /* as many as are counted here */
    CHECK_INT(later.num_done, 1);
    CHECK_INT(later.status, COHORT_ERR_NO_MEMORY);
    CHECK_INT(num_letters, 0);
    is_accused = false;
}
