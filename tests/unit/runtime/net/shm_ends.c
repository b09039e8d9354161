/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/net/shm_ends.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "tests/support/hub_copy.h"
#include "tests/support/test.h"

struct cohort__hub *shm_hub;
struct station shm_stations[SHM_MAX_ENDS];
uint32_t shm_num_ends;

void shm_ends_open_one(uint32_t number, uint32_t slot, enum cohort__shm_copy copy)
{
    struct station *station = &shm_stations[number];
    memset(station, 0, sizeof *station);
    struct cohort__net_handlers handlers = station_handlers(station);
    CHECK_OK(cohort__shm_create(&handlers, hub_copy(shm_hub), slot, copy, &station->net));
}

void shm_ends_know_each_other(void)
{
    for (uint32_t i = 0; i < shm_num_ends; i++)
        for (uint32_t k = 0; k < shm_num_ends; k++)
            if (i != k)
                CHECK_OK(cohort__net_add_peer(shm_stations[i].net, k, shm_stations[k].net->address,
                                              shm_stations[k].net->address_bytes));
}

void shm_ends_open_again(uint32_t num, enum cohort__shm_copy copy)
{
    shm_num_ends = num;
    for (uint32_t i = 0; i < num; i++)
        shm_ends_open_one(i, i, copy);
    shm_ends_know_each_other();
}

void shm_ends_open(uint32_t num, enum cohort__shm_copy copy)
{
    CHECK_OK(cohort__hub_create(&shm_hub, num));
    shm_ends_open_again(num, copy);
}

void shm_ends_close_on_hub(void)
{
    for (uint32_t i = 0; i < shm_num_ends; i++)
        cohort__net_destroy(shm_stations[i].net);
}

void shm_ends_close(void)
{
    shm_ends_close_on_hub();
    cohort__hub_destroy(shm_hub);
}

struct cohort__shm *shm_ends_shm(uint32_t number)
{
    return (struct cohort__shm *)shm_stations[number].net;
}

void shm_ends_settle(void)
{
    bool any;
    do {
        any = false;
        for (uint32_t i = 0; i < shm_num_ends; i++)
            any |= station_turn(&shm_stations[i]);
    } while (any);
}

unsigned char shm_ends_pattern(size_t at)
{
    return (unsigned char)(at * 13 + (at >> 12) + (at >> 20));
}

unsigned char *shm_ends_block(size_t bytes)
{
    unsigned char *block = test_malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        block[i] = shm_ends_pattern(i);
    return block;
}

bool shm_ends_is_pattern(const unsigned char *data, size_t offset, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != shm_ends_pattern(offset + i))
            return false;
    return true;
}

struct cohort__net_token shm_ends_expose(uint32_t number, const void *base, size_t bytes,
                                         void **ret_region)
{
    struct cohort__net_token token;
    CHECK_OK(cohort__net_expose(shm_stations[number].net, 0, base, bytes, ret_region, &token));
    return token;
}

unsigned long shm_ends_fill(uint32_t from, uint32_t to, size_t bytes)
{
    unsigned char data[COHORT__SHM_MAX_MESSAGE] = {0};
    struct iovec part = {data, bytes};
    enum cohort__net_sent sent;
    unsigned long num = 0;
    while ((sent = cohort__net_send(shm_stations[from].net, to, &part, 1)) == COHORT__NET_SENT)
        num++;
    CHECK_INT(sent, COHORT__NET_AGAIN);
    return num;
}

void *shm_ends_sleep_and_turn(void *arg)
{
    struct shm_sleeper *sleeper = arg;
    while (!atomic_load(&sleeper->is_done)) {
        while (station_turn(sleeper->station))
            ;
        CHECK(station_block(sleeper->station, 20000)); /* if this fails, nothing has woken us */
    }
    return NULL;
}

void shm_ends_wait_until_asleep(uint32_t number)
{
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    while (!atomic_load(&shm_ends_shm(number)->own->sleeping)) {
        sched_yield();
        CHECK(cohort__clock_now() < deadline);
    }
}

void shm_ends_write_garbage(struct cohort__ring_writer *writer, unsigned kind, const void *data,
                            size_t bytes, uint32_t lines)
{
    struct cohort__ring_record *record = cohort__ring_reserve(writer, bytes);
    CHECK(record);
    record->kind = kind;
    record->bytes = (uint32_t)bytes;
    record->word = UINT32_MAX;
    if (bytes > 0)
        memcpy(record->data, data, bytes);
    cohort__ring_publish(writer, record);
    if (lines > 0)
        atomic_store(&record->size, lines);
}
