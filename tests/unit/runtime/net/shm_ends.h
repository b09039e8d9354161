/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_NET_SHM_ENDS_H
#define COHORT_TESTS_UNIT_RUNTIME_NET_SHM_ENDS_H

#include <stdatomic.h>

#include "runtime/net/shm.h"
#include "runtime/net/shm_end.h"
#include "tests/unit/runtime/net/station.h"

/* Ends of shared memory in this process. All are on one hub, and each has its own descriptors of
 * it. */

enum { SHM_MAX_ENDS = 5 };

extern struct cohort__hub *shm_hub;
extern struct station shm_stations[SHM_MAX_ENDS]; /* by number */
extern uint32_t shm_num_ends;

/* Opens a hub and NUM ends with its slots, which know each other. The second function closes all of
 * that. */
void shm_ends_open(uint32_t num, enum cohort__shm_copy copy);
void shm_ends_close(void);

/* Opens only the ends, on the existing hub. */
void shm_ends_open_again(uint32_t num, enum cohort__shm_copy copy);
void shm_ends_close_on_hub(void);

/* Opens one end alone. The second function makes several ends known to each other. */
void shm_ends_open_one(uint32_t number, uint32_t slot, enum cohort__shm_copy copy);
void shm_ends_know_each_other(void);

struct cohort__shm *shm_ends_shm(uint32_t number);

/* Turns all ends until nothing more happens. */
void shm_ends_settle(void);

/* Sends until there is no room. Returns the number of messages sent. */
unsigned long shm_ends_fill(uint32_t from, uint32_t to, size_t bytes);

/* The byte AT of the pattern; a block filled with the pattern, which the caller frees; and whether
 * DATA is the pattern from OFFSET on. */
unsigned char shm_ends_pattern(size_t at);
unsigned char *shm_ends_block(size_t bytes);
bool shm_ends_is_pattern(const unsigned char *data, size_t offset, size_t bytes);

/* Exposes a block of end NUMBER to end 0. */
struct cohort__net_token shm_ends_expose(uint32_t number, const void *base, size_t bytes,
                                         void **ret_region);

/* Writes a record. If LINES is not 0, it claims to be so long. */
void shm_ends_write_garbage(struct cohort__ring_writer *writer, unsigned kind, const void *data,
                            size_t bytes, uint32_t lines);

/* A thread that turns one end until it is done, and sleeps when nothing happens there. */
struct shm_sleeper {
    struct station *station;
    _Atomic bool is_done;
};

void *shm_ends_sleep_and_turn(void *sleeper);
void shm_ends_wait_until_asleep(uint32_t number);

#endif
