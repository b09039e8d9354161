/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_NET_SHM_ENDS_H
#define COHORT_TESTS_UNIT_RUNTIME_NET_SHM_ENDS_H

#include <stdatomic.h>

#include "runtime/net/shm.h"
#include "runtime/net/shm_end.h"
#include "tests/unit/runtime/net/station.h"

/* Ends of shared memory in this process, each with descriptors of its own of one hub. */

enum { SHM_MAX_ENDS = 5 };

extern struct cohort__hub *shm_hub;
extern struct station shm_stations[SHM_MAX_ENDS]; /* by number */
extern uint32_t shm_num_ends;

/* A hub and NUM ends with its slots, which know each other; and all of that closed. */
void shm_ends_open(uint32_t num, enum cohort__shm_copy copy);
void shm_ends_close(void);

/* The ends alone, on the hub that is there. */
void shm_ends_open_again(uint32_t num, enum cohort__shm_copy copy);
void shm_ends_close_on_hub(void);

/* One end alone; and what it takes for several to know each other. */
void shm_ends_open_one(uint32_t number, uint32_t slot, enum cohort__shm_copy copy);
void shm_ends_know_each_other(void);

struct cohort__shm *shm_ends_shm(uint32_t number);

/* Turns all until nothing more happens. */
void shm_ends_settle(void);

/* Sends until there is no room; returns how many went. */
unsigned long shm_ends_fill(uint32_t from, uint32_t to, size_t bytes);

/* What a block of the pattern has at AT; one, to be freed; and whether DATA is that of one from
 * OFFSET on. */
unsigned char shm_ends_pattern(size_t at);
unsigned char *shm_ends_block(size_t bytes);
bool shm_ends_is_pattern(const unsigned char *data, size_t offset, size_t bytes);

/* For end 0, by end NUMBER. */
struct cohort__net_token shm_ends_expose(uint32_t number, const void *base, size_t bytes,
                                         void **ret_region);

/* A record; LINES above 0: that long, by its own words. */
void shm_ends_write_garbage(struct cohort__ring_writer *writer, unsigned kind, const void *data,
                            size_t bytes, uint32_t lines);

/* A thread that turns one end, and sleeps whenever nothing happens there, until it is done. */
struct shm_sleeper {
    struct station *station;
    _Atomic bool is_done;
};

void *shm_ends_sleep_and_turn(void *sleeper);
void shm_ends_wait_until_asleep(uint32_t number);

#endif
