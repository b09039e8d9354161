/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/names/home.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/guest.h"
#include "tests/unit/runtime/proc/localities.h"

enum { NUM_LOCALITIES = 4, MAX_SITES = 1001 };

/* Sites with an even number have these settings. The others have different ones. */
static const char settings[] = "0123456789abc";

static struct localities job;
static struct guest guests[MAX_SITES];
static unsigned num_ended[NUM_LOCALITIES];
static uint64_t last_ended;

static void on_ended(void *context, uint64_t instance)
{
    ++*(unsigned *)context;
    last_ended = instance;
}

static void open_job(uint64_t seed, uint32_t num)
{
    localities_open(&job, seed, num, 0);
    memset(num_ended, 0, sizeof(num_ended));
    for (uint32_t rank = 0; rank < num; rank++)
        cohort__registry_set_ended(cohort__process_registry(job.processes[rank]), on_ended,
                                   &num_ended[rank]);
}

static void enter(struct guest *guest, uint32_t rank, const char *name, uint32_t site,
                  uint32_t num_sites, const char *terms, uint64_t left)
{
    guest_enter(guest, job.processes[rank],
                (struct cohort__join){.name = name,
                                      .site = site,
                                      .num_sites = num_sites,
                                      .terms = terms,
                                      .settings = settings + site % 2,
                                      .settings_bytes = 10 + site % 2,
                                      .left_instance = left});
}

static void check_settings(const struct cohort__membership *membership)
{
    CHECK_INT(membership->settings_bytes, 10);
    CHECK(memcmp(membership->settings, settings, 10) == 0);
}

/* Site i is in locality (i / RUN) % num. */
static void enter_all(const char *name, uint32_t num_sites, uint32_t run, uint64_t left)
{
    for (uint32_t site = 0; site < num_sites; site++)
        enter(&guests[site], site / run % job.num, name, site, num_sites, "terms", left);
}

static uint64_t check_all(uint32_t num_sites, uint32_t run)
{
    for (uint32_t site = 0; site < num_sites; site++) {
        guest_check(&guests[site], COHORT_OK, "");
        const struct cohort__membership *membership = guests[site].membership;
        CHECK_INT(membership->num_sites, num_sites);
        check_settings(membership);
        CHECK(membership->instance == guests[0].membership->instance);
        for (uint32_t i = 0; i < num_sites; i++)
            CHECK_INT(membership->locality_of[i], i / run % job.num);
    }
    return guests[0].membership->instance;
}

static void check_ended(unsigned times)
{
    for (uint32_t rank = 0; rank < job.num; rank++)
        CHECK_INT(num_ended[rank], times);
}

static void close_job(void)
{
    localities_settle(&job);
    localities_check_quiet(&job);
    localities_close(&job);
}

/* Names whose homes are spread over the localities. */
static const char *const names[] = {"a", "transpose", "a rather long name", "d", "e"};
enum { NUM_NAMES = NUM_OF(names) };

TEST(join_leave_reuse)
{
    for (uint64_t seed = 0; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        const char *name = names[seed % NUM_NAMES];
        uint32_t run = 1 + seed % 3;
        open_job(seed, NUM_LOCALITIES);
        enter_all(name, 13, run, 0);
        localities_settle(&job);
        uint64_t first = check_all(13, run);
        for (uint32_t site = 0; site < 12; site++)
            guest_leave(&guests[site]);
        localities_settle(&job);
        check_ended(0);
        guest_leave(&guests[12]);
        localities_settle(&job);
        check_ended(1);
        CHECK(last_ended == first);
        enter_all(name, 12, run, 0);
        localities_settle(&job);
        uint64_t second = check_all(12, run);
        CHECK(second != first);
        /* At once again, so that leaves and joins overtake each other. */
        for (uint32_t site = 0; site < 12; site++) {
            guest_leave(&guests[site]);
            enter(&guests[site], guests[site].rank, name, site, 12, "other terms", second);
        }
        localities_settle(&job);
        CHECK(check_all(12, run) != second);
        check_ended(2);
        for (uint32_t site = 0; site < 12; site++)
            guest_leave(&guests[site]);
        localities_settle(&job);
        check_ended(3);
        close_job();
    }
}

/* A name that goes on behind its 0, and says which locality is its home, is another one than the
 * name up to there, and than one that goes on differently. */
TEST(longer_names)
{
    static const char longer[2][6] = {"a\0bcd", "a\0bce"};
    enum { NUM = 3 * NUM_LOCALITIES };
    for (uint64_t seed = 0; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        open_job(seed, NUM_LOCALITIES);
        for (uint32_t i = 0; i < NUM; i++) {
            uint32_t rank = i % NUM_LOCALITIES, which = i / NUM_LOCALITIES;
            guest_enter(&guests[i], job.processes[rank],
                        (struct cohort__join){
                            .name = which == 0 ? "a" : longer[which - 1],
                            .name_bytes = which == 0 ? 0 : sizeof(longer[0]),
                            .home = which,
                            .site = rank,
                            .num_sites = NUM_LOCALITIES,
                            .terms = "terms",
                        });
        }
        localities_settle(&job);
        for (uint32_t i = 0; i < NUM; i++) {
            const struct cohort__membership *membership = guests[i].membership;
            guest_check(&guests[i], COHORT_OK, "");
            CHECK(membership->instance ==
                  guests[i / NUM_LOCALITIES * NUM_LOCALITIES].membership->instance);
            CHECK(i < NUM_LOCALITIES || membership->home == guests[i].join.home);
            CHECK(i < NUM_LOCALITIES ||
                  membership->instance != guests[i - NUM_LOCALITIES].membership->instance);
        }
        for (uint32_t i = 0; i < NUM; i++)
            guest_leave(&guests[i]);
        localities_settle(&job);
        check_ended(3);
        close_job();
    }
}

/* Two communicators at once. */
TEST(many_runs)
{
    static struct guest others[MAX_SITES];
    for (uint64_t seed = 0; seed < 4; seed++) {
        open_job(seed, 2);
        for (uint32_t site = 0; site < MAX_SITES; site++)
            enter(&others[site], 1 - site % 2, "many others", site, MAX_SITES, "terms", 0);
        enter_all("many", MAX_SITES, 1, 0);
        localities_settle(&job);
        check_all(MAX_SITES, 1);
        for (uint32_t site = 0; site < MAX_SITES; site++) {
            guest_check(&others[site], COHORT_OK, "");
            CHECK_INT(others[site].membership->locality_of[site], others[site].rank);
            check_settings(others[site].membership);
            cohort__membership_unref(others[site].membership);
        }
        for (uint32_t site = 0; site < MAX_SITES; site++)
            guest_leave(&guests[site]);
        localities_settle(&job);
        check_ended(1);
        close_job();
    }
}

TEST(duplicate)
{
    struct guest here, there;
    for (uint64_t seed = 0; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        const char *name = names[seed % NUM_NAMES];
        open_job(seed, NUM_LOCALITIES);
        enter(&guests[0], 0, name, 0, 2, "terms", 0);
        enter(&here, 0, name, 0, 2, "terms", 0); /* waits in this locality */
        guest_check(&here, COHORT_ERR_DUPLICATE_SITE, "site 0");
        CHECK_CONTAINS(here.text, "in this locality (0)");
        localities_settle(&job);
        enter(&there, 2, name, 0, 2, "terms", 0); /* waits in another one */
        localities_settle(&job);
        guest_check(&there, COHORT_ERR_DUPLICATE_SITE, "site 0 of locality 2");
        CHECK_CONTAINS(there.text, "locality 0 has this site");
        enter(&guests[1], 1, name, 1, 2, "terms", 0);
        localities_settle(&job);
        CHECK_INT(guests[0].num_done + guests[1].num_done, 2);
        enter(&here, 0, name, 0, 2, "terms", 0); /* alive */
        enter(&there, 3, name, 1, 2, "terms", 0);
        localities_settle(&job);
        guest_check(&here, COHORT_ERR_DUPLICATE_SITE, "locality 0 has this site");
        guest_check(&there, COHORT_ERR_DUPLICATE_SITE, "locality 1 has this site");
        guest_leave(&guests[0]);
        guest_leave(&guests[1]);
        close_job();
    }
}

TEST(mismatch)
{
    for (uint64_t seed = 0; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        const char *name = names[seed % NUM_NAMES];
        bool at_once = seed % 2;
        open_job(seed, NUM_LOCALITIES);
        for (uint32_t site = 0; site < 9; site++) {
            bool differs = seed % 4 < 2 ? site == 4 : site % 3 == 0;
            uint32_t num_sites = seed % 4 >= 2 && differs ? 7 : 9;
            enter(&guests[site], site % job.num, name, site, num_sites,
                  differs ? "arity 3" : "arity 2", 0);
            if (!at_once)
                localities_settle(&job);
        }
        localities_settle(&job);
        for (uint32_t site = 0; site < 9; site++) {
            guest_check(&guests[site], COHORT_ERR_MISMATCH, "arity 2");
            CHECK_CONTAINS(guests[site].text, "arity 3");
        }
        enter_all(name, 9, 1, 0); /* nothing of it is left over */
        localities_settle(&job);
        check_all(9, 1);
        for (uint32_t site = 0; site < 9; site++)
            guest_leave(&guests[site]);
        close_job();
    }
}

/* A locality dies while sites join. Waiting joins are told once, and so are later ones. */
TEST(death)
{
    for (uint64_t seed = 0; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        const char *name = names[seed % NUM_NAMES];
        uint32_t victim = seed % NUM_LOCALITIES;
        open_job(seed, NUM_LOCALITIES);
        enter_all(name, 12, 1, 0);
        for (uint64_t turns = seed / 5; turns > 0; turns--)
            localities_turn(&job);
        cohort__inproc_cut(job.hub, victim);
        localities_settle(&job);
        for (uint32_t rank = 0; rank < job.num; rank++)
            cohort__process_peer_lost(job.processes[rank], victim, "was killed");
        localities_settle(&job);
        for (uint32_t site = 0; site < 12; site++) {
            if (site % job.num == victim) {
                cohort__process_peer_lost(job.processes[victim], (victim + 1) % job.num, "left");
                CHECK_INT(guests[site].num_done, 1);
            } else if (guests[site].status) {
                guest_check(&guests[site], COHORT_ERR_PEER_DIED, "locality");
            } else {
                guest_check(&guests[site], COHORT_OK, "");
            }
            cohort__membership_unref(guests[site].membership);
        }
        enter(&guests[0], (victim + 1) % job.num, name, 20, 21, "terms", 0);
        guest_check(&guests[0], COHORT_ERR_PEER_DIED, "locality");
        localities_close(&job);
    }
}

TEST(job_of_one)
{
    struct cohort__process_options options = {.rank = 0, .size = 1};
    job = (struct localities){.num = 1};
    CHECK_OK(cohort__process_create(&job.processes[0], &options));
    enter_all("alone", 5, 1, 0);
    check_all(5, 1);
    for (uint32_t site = 0; site < 5; site++)
        guest_leave(&guests[site]);
    enter(&guests[0], 0, "alone", 0, 2, "terms", 0);
    CHECK_INT(guests[0].num_done, 0);
    cohort__process_stop(job.processes[0]);
    guest_check(&guests[0], COHORT_ERR_CANCELLED,
                "communicator \"alone\", site 0 waits for the others: the job is over");
    enter(&guests[1], 0, "alone", 1, 2, "terms", 0);
    guest_check(&guests[1], COHORT_ERR_CANCELLED,
                "communicator \"alone\", site 1 waits for the others: the job is over");
    cohort__process_destroy(job.processes[0]);
}

/* Messages that make no sense --------------------------------------------------------------- */

static void send_bogus(struct cohort__packer *packer)
{
    CHECK_OK(packer->status);
    unsigned char *exact = test_malloc(packer->bytes);
    memcpy(exact, packer->data, packer->bytes);
    cohort__registry_message(cohort__process_registry(job.processes[0]), 1, exact, packer->bytes);
    free(exact);
    cohort__packer_fini(packer);
}

static void begin_map(struct cohort__packer *packer, uint64_t instance, uint64_t num_sites,
                      size_t settings_bytes)
{
    static const unsigned char some[COHORT__SETTINGS_BYTES_MAX + 1];
    cohort__pack_map(packer, 8);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_MAP);
    cohort__pack_field_unsigned(packer, "value", 0);
    cohort__pack_field_bytes(packer, "name", "bogus", 5);
    cohort__pack_field_unsigned(packer, "instance", instance);
    cohort__pack_field_unsigned(packer, "num_sites", num_sites);
    cohort__pack_field_bytes(packer, "settings", some, settings_bytes);
    cohort__pack_field_unsigned(packer, "number", COHORT__NO_NUMBER);
}

/* The locality of each site, in two bytes, as it is above so many runs. */
static void send_map_of_each(uint64_t num_sites, const unsigned char *localities, size_t bytes)
{
    struct cohort__packer packer = {0};
    begin_map(&packer, 5, num_sites, 0);
    cohort__pack_field_bytes(&packer, "localities", localities, bytes);
    send_bogus(&packer);
}

static void send_map_with(uint64_t instance, uint64_t num_sites, const uint64_t *runs, uint32_t num,
                          size_t settings_bytes)
{
    struct cohort__packer packer = {0};
    begin_map(&packer, instance, num_sites, settings_bytes);
    cohort__pack_text(&packer, "runs");
    cohort__pack_array(&packer, num);
    for (uint32_t i = 0; i < num; i++)
        cohort__pack_unsigned(&packer, runs[i]);
    send_bogus(&packer);
}

static void send_map(uint64_t instance, uint64_t num_sites, const uint64_t *runs, uint32_t num)
{
    send_map_with(instance, num_sites, runs, num, 0);
}

static void send_refusal(int64_t status, uint64_t site)
{
    struct cohort__packer packer = {0};
    cohort__pack_map(&packer, 5);
    cohort__pack_field_unsigned(&packer, "type", COHORT__REGISTRY_REFUSE);
    cohort__pack_field_bytes(&packer, "name", "bogus", 5);
    cohort__pack_field_unsigned(&packer, "site", site);
    cohort__pack_field_signed(&packer, "status", status);
    cohort__pack_field_bytes(&packer, "text", "because", 7);
    send_bogus(&packer);
}

static void send_request_with(uint64_t type, uint64_t site, uint64_t num_sites, uint64_t instance,
                              size_t settings_bytes, int64_t failed)
{
    static const unsigned char some[COHORT__SETTINGS_BYTES_MAX + 1];
    struct cohort__packer packer = {0};
    cohort__pack_map(&packer, 14);
    cohort__pack_field_unsigned(&packer, "type", type);
    cohort__pack_field_unsigned(&packer, "sequence", 0);
    cohort__pack_field_bytes(&packer, "name", "bogus", 5);
    cohort__pack_field_unsigned(&packer, "site", site);
    cohort__pack_field_unsigned(&packer, "num_sites", num_sites);
    cohort__pack_field_bytes(&packer, "terms", "", 0);
    cohort__pack_field_bytes(&packer, "settings", some, settings_bytes);
    cohort__pack_field_unsigned(&packer, "instance", instance);
    cohort__pack_field_signed(&packer, "failed", failed);
    cohort__pack_field_unsigned(&packer, "view", 0);
    cohort__pack_field_bool(&packer, "agrees", false);
    cohort__pack_field_unsigned(&packer, "value", 0);
    cohort__pack_field_unsigned(&packer, "of", 0);
    cohort__pack_field_bytes(&packer, "of_name", "", 0);
    send_bogus(&packer);
}

static void send_request(uint64_t type, uint64_t site, uint64_t num_sites, uint64_t instance)
{
    send_request_with(type, site, num_sites, instance, 0, 0);
}

TEST(malformed)
{
    static const unsigned char each[2001] = {[2 * 999] = 1};
    struct cohort__packer packer = {0};
    open_job(0, 2);
    enter(&guests[0], 0, "bogus", 900, 1000, "terms", 0);
    localities_settle(&job);
    send_map(1, 0, NULL, 0);                        /* no sites */
    send_map(2, 3, (uint64_t[]){1, 3, 0}, 3);       /* fewer sites than wait here */
    send_map(3, 1000, (uint64_t[]){1, 1001, 0}, 3); /* a run that is too long */
    send_map(3, 1000, (uint64_t[]){2, 501, 0}, 3);
    send_map(3, 1000, (uint64_t[]){2, 400, 0, 1, 201, 0}, 6);
    send_map(3, 1000, (uint64_t[]){1, 1000, 2}, 3); /* a locality that does not exist */
    send_map(3, 1000, (uint64_t[]){2, 500, 1}, 3);
    send_map(3, 1000, (uint64_t[]){INT32_MAX, INT32_MAX, INT32_MAX}, 3);
    send_map(3, 1000, (uint64_t[]){0, 1000, 0}, 3); /* an empty run */
    send_map(3, 1000, (uint64_t[]){1000, 0, 0}, 3);
    send_map(4, 1000, (uint64_t[]){1, 900, 0}, 3);         /* not all sites */
    send_map(4, 1000, (uint64_t[]){1, 900, 0, 1, 100}, 5); /* half a run */
    send_map(5, UINT64_MAX, NULL, 0);
    send_map_with(6, 1000, (uint64_t[]){1, 1000, 0}, 3, COHORT__SETTINGS_BYTES_MAX + 1);
    send_map_of_each(1000, each, 1999);
    send_map_of_each(1000, each, 2001);
    send_map_of_each(1000, each, 2000); /* a locality that does not exist */
    send_request_with(COHORT__REGISTRY_JOIN, 0, 1, 0, COHORT__SETTINGS_BYTES_MAX + 1, 0);
    send_request_with(COHORT__REGISTRY_JOIN, 900, 1000, 0, 0, 1); /* failed without an error */
    send_request_with(COHORT__REGISTRY_JOIN, 900, 1000, 0, 0, -(1ll << 32));
    send_refusal(0, 900);
    send_refusal(7, 900);
    send_refusal(-(1ll << 32), 900);
    send_refusal(COHORT_ERR_MISMATCH, 901);
    send_request(COHORT__REGISTRY_JOIN, 3, 3, 0);
    send_request(COHORT__REGISTRY_JOIN, 0, 0, 0);
    send_request(COHORT__REGISTRY_LEAVE, 900, 0, 0);
    send_request(COHORT__REGISTRY_LEAVE, 3, 0, 77);
    send_request(COHORT__REGISTRY_WITHDRAW, 3, 0, 0); /* without a reason */
    send_request_with(COHORT__REGISTRY_WITHDRAW, 900, 0, 0, 0, 1);
    send_request(0, 0, 1, 0);
    send_request(COHORT__REGISTRY_BROKEN + 1, 0, 1, 0);
    cohort__pack_unsigned(&packer, 3); /* no map */
    send_bogus(&packer);
    cohort__registry_message(cohort__process_registry(job.processes[0]), 1, "\x81", 1);
    localities_settle(&job);
    /* The first of these messages has ended the waiting join, since it may have been its answer. */
    guest_check(&guests[0], COHORT_ERR_PEER_DIED,
                "locality 1 has sent a registry message that is lost here: ");
    localities_close(&job);
}

/* Sites of two localities in turns, more than a map has runs. The name's home is one of them; and
 * other names go on. */
TEST(scattered)
{
    enum { NUM = COHORT__MAP_RUNS_MAX * 2 + 3 };
    struct guest *many = test_calloc(NUM, sizeof(*many));
    open_job(0, 3);
    for (uint32_t site = 0; site < NUM; site++)
        enter(&many[site], site % 2 * 2, "scattered", site, NUM, "terms", 0);
    localities_settle(&job);
    for (uint32_t site = 0; site < NUM; site++) {
        guest_check(&many[site], COHORT_OK, "");
        CHECK(many[site].membership == many[site % 2].membership);
        CHECK_INT(many[0].membership->locality_of[site], site % 2 * 2);
        CHECK_INT(many[1].membership->locality_of[site], site % 2 * 2);
    }
    enter_all("another", 30, 1, 0);
    localities_settle(&job);
    check_all(30, 1);
    for (uint32_t site = 0; site < 30; site++)
        guest_leave(&guests[site]);
    for (uint32_t site = 0; site < NUM; site++)
        guest_leave(&many[site]);
    close_job();
    free(many);
}

static bool is_short; /* of memory for letters */

struct cohort__registry_letter *__real_cohort__registry_letter_add(struct cohort__list *outbox,
                                                                   const uint32_t *ranks,
                                                                   uint32_t num_ranks);
struct cohort__registry_letter *__wrap_cohort__registry_letter_add(struct cohort__list *outbox,
                                                                   const uint32_t *ranks,
                                                                   uint32_t num_ranks)
{
    return is_short ? NULL : __real_cohort__registry_letter_add(outbox, ranks, num_ranks);
}

/* There was no memory to say that the sites have left, and they join again before it is said:
 * whoever joins need not know what it has left, since it may never have had an endpoint of that. */
TEST(left_untold)
{
    enum { NUM_SITES = 20 };
    open_job(0, 3);
    enter_all("again", NUM_SITES, 1, 0);
    localities_settle(&job);
    const uint64_t first = check_all(NUM_SITES, 1);
    is_short = true;
    for (uint32_t site = 0; site < NUM_SITES; site++)
        guest_leave(&guests[site]);
    is_short = false;
    enter_all("again", NUM_SITES, 1, 0);
    localities_settle(&job);
    CHECK(check_all(NUM_SITES, 1) != first);
    check_ended(1);
    for (uint32_t rank = 0; rank < job.num; rank++) /* what has been said by the joins */
        cohort__registry_tick(cohort__process_registry(job.processes[rank]));
    localities_settle(&job);
    check_ended(1);
    for (uint32_t site = 0; site < NUM_SITES; site++)
        guest_leave(&guests[site]);
    localities_settle(&job);
    check_ended(2);
    close_job();
}

/* A tick says it. */
TEST(untold_at_tick)
{
    open_job(0, 3);
    enter_all("late", 30, 1, 0);
    localities_settle(&job);
    check_all(30, 1);
    is_short = true;
    for (uint32_t site = 0; site < 30; site++)
        guest_leave(&guests[site]);
    for (uint32_t rank = 0; rank < job.num; rank++) /* in vain */
        cohort__registry_tick(cohort__process_registry(job.processes[rank]));
    is_short = false;
    localities_settle(&job);
    check_ended(0);
    for (uint32_t rank = 0; rank < job.num; rank++)
        cohort__registry_tick(cohort__process_registry(job.processes[rank]));
    localities_settle(&job);
    check_ended(1);
    close_job();
}

TEST(long_settings)
{
    static const unsigned char some[COHORT__SETTINGS_BYTES_MAX + 1];
    open_job(0, 1);
    struct guest *guest = &guests[0];
    struct cohort__join join = {.name = "long",
                                .num_sites = 1,
                                .terms = "terms",
                                .settings = some,
                                .settings_bytes = sizeof(some)};
    guest_enter(guest, job.processes[0], join);
    guest_check(guest, COHORT_ERR_BAD_PARAMETER, "9217 bytes of settings; 9216 are possible");
    join.settings_bytes--;
    guest_enter(guest, job.processes[0], join);
    guest_check(guest, COHORT_OK, "");
    CHECK_INT(guest->membership->settings_bytes, COHORT__SETTINGS_BYTES_MAX);
    guest_leave(guest);
    close_job();
}

/* Letters that are larger than a message of shared memory, on the way to the home and back. */
TEST(long_letters)
{
    static unsigned char some[COHORT__SETTINGS_BYTES_MAX];
    memset(some, 's', sizeof(some));
    localities_open_shared(&job, NUM_LOCALITIES, 0, NUM_LOCALITIES);
    for (uint32_t site = 0; site < MAX_SITES; site++) {
        guest_enter(&guests[site], job.processes[NUM_LOCALITIES - 1 - site % NUM_LOCALITIES],
                    (struct cohort__join){.name = "long",
                                          .site = site,
                                          .num_sites = MAX_SITES,
                                          .terms = "terms",
                                          .settings = some,
                                          .settings_bytes = sizeof(some)});
    }
    localities_settle(&job);
    for (uint32_t site = 0; site < MAX_SITES; site++) {
        guest_check(&guests[site], COHORT_OK, "");
        CHECK_INT(guests[site].membership->locality_of[site], guests[site].rank);
        CHECK_INT(guests[site].membership->settings_bytes, sizeof(some));
        CHECK(memcmp(guests[site].membership->settings, some, sizeof(some)) == 0);
        guest_leave(&guests[site]);
    }
    close_job();
}

/* What one locality could not say ends all joins in all localities, with the reason. */
TEST(broken)
{
    static struct guest late;
    open_job(1, NUM_LOCALITIES);
    for (uint32_t site = 0; site < NUM_LOCALITIES; site++) /* the last site never joins */
        enter(&guests[site], site, "incomplete", site, NUM_LOCALITIES + 1, "terms", 0);
    localities_settle(&job);
    for (uint32_t site = 0; site < NUM_LOCALITIES; site++)
        CHECK_INT(guests[site].num_done, 0);
    (void)cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a split");
    cohort__registry_lost(cohort__process_registry(job.processes[1]), 1, COHORT_ERR_NO_MEMORY);
    localities_settle(&job);
    for (uint32_t site = 0; site < NUM_LOCALITIES; site++)
        guest_check(&guests[site], COHORT_ERR_NO_MEMORY, "locality 1: no memory for a split");
    enter(&late, 2, "later", 0, 1, "terms", 0);
    guest_check(&late, COHORT_ERR_NO_MEMORY, "locality 1: no memory for a split");
    localities_close(&job);
}
