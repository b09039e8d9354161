/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/proc/localities.h"

#include <poll.h>
#include <stdio.h>

#include "runtime/net/hub.h"
#include "runtime/net/shm.h"
#include "tests/support/hub_copy.h"
#include "tests/support/test.h"

/* More than any delay of the hub. */
enum { IDLE_TURNS = 20 };

static struct cohort__net_handlers process_open(struct localities *localities, uint32_t rank,
                                                size_t eager_budget)
{
    struct cohort__process_options options = {.rank = rank,
                                              .size = localities->num,
                                              .job_key = 42,
                                              .epoch = 1,
                                              .eager_budget = eager_budget};
    CHECK_OK(cohort__process_create(&localities->processes[rank], &options));
    return cohort__process_net_handlers(localities->processes[rank]);
}

static void know_each_other(struct localities *localities)
{
    for (uint32_t rank = 0; rank < localities->num; rank++) {
        cohort__process_attach_net(localities->processes[rank], localities->nets[rank]);
        for (uint32_t peer = 0; peer < localities->num; peer++)
            if (peer != rank)
                CHECK_OK(cohort__net_add_peer(localities->nets[rank], peer,
                                              localities->nets[peer]->address,
                                              localities->nets[peer]->address_bytes));
    }
}

void localities_open(struct localities *localities, uint64_t seed, uint32_t num,
                     size_t eager_budget)
{
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    *localities = (struct localities){.num = num};
    CHECK_OK(cohort__inproc_hub_create(seed, num, &localities->hub));
    for (uint32_t rank = 0; rank < num; rank++) {
        struct cohort__net_handlers handlers = process_open(localities, rank, eager_budget);
        CHECK_OK(cohort__inproc_create(localities->hub, rank, &handlers, &localities->nets[rank]));
    }
    know_each_other(localities);
}

void localities_open_shared(struct localities *localities, uint32_t num_slots, uint32_t first_slot,
                            uint32_t num)
{
    struct cohort__hub *shared;
    CHECK_OK(cohort__hub_create(&shared, num_slots));
    *localities = (struct localities){.num = num};
    for (uint32_t rank = 0; rank < num; rank++) {
        struct cohort__net_handlers handlers = process_open(localities, rank, 0);
        CHECK_OK(cohort__shm_create(&handlers, hub_copy(shared), first_slot + rank,
                                    COHORT__SHM_STREAM, &localities->nets[rank]));
    }
    cohort__hub_destroy(shared);
    know_each_other(localities);
}

void localities_sleep(struct localities *localities, uint32_t rank)
{
    struct cohort__poller *poller = &localities->nets[rank]->poller;
    while (!poller->arm(poller->context))
        poller->progress(poller->context);
}

bool localities_was_woken(struct localities *localities, uint32_t rank)
{
    struct cohort__poller *poller = &localities->nets[rank]->poller;
    struct pollfd fd = {.fd = poller->fd, .events = POLLIN};
    CHECK(poll(&fd, 1, 0) >= 0);
    poller->disarm(poller->context);
    poller->progress(poller->context);
    return fd.revents & POLLIN;
}

bool localities_turn(struct localities *localities)
{
    bool any = false;
    for (uint32_t rank = 0; rank < localities->num; rank++) {
        struct cohort__poller *poller = &localities->nets[rank]->poller;
        any |= poller->progress(poller->context);
    }
    return any;
}

void localities_settle(struct localities *localities)
{
    for (int idle = 0; idle < IDLE_TURNS;)
        idle = localities_turn(localities) ? 0 : idle + 1;
}

void localities_check_quiet(struct localities *localities)
{
    uint64_t sent = 0, received = 0;
    for (uint32_t rank = 0; rank < localities->num; rank++) {
        struct cohort__process_traffic traffic =
            cohort__process_traffic(localities->processes[rank]);
        sent += traffic.sent;
        received += traffic.received;
        CHECK(!traffic.busy);
        CHECK_INT(cohort__process_dropped(localities->processes[rank]), 0);
    }
    CHECK_INT(received, sent);
}

void localities_close(struct localities *localities)
{
    for (uint32_t rank = 0; rank < localities->num; rank++)
        cohort__process_stop(localities->processes[rank]);
    for (uint32_t rank = 0; rank < localities->num; rank++) {
        cohort__net_destroy(localities->nets[rank]);
        cohort__process_destroy(localities->processes[rank]);
    }
    cohort__inproc_hub_destroy(localities->hub);
}
