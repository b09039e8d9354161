/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_PROC_FAKE_NET_H
#define COHORT_TESTS_UNIT_RUNTIME_PROC_FAKE_NET_H

#include "runtime/net/net.h"
#include "runtime/proc/process.h"
#include "runtime/wire/envelope.h"

/* A transport that answers what the test says and records the requests. It belongs to rank 0 of
 * FAKE_SIZE localities. */
enum {
    FAKE_SIZE = 3,
    FAKE_BUDGET = 1000,
    FAKE_MAX_PAYLOAD = 2000,
    FAKE_MAX_FETCH = 100,
    FAKE_KEPT = 256,
    FAKE_JOB_KEY = 42,
    FAKE_EPOCH = 7,
};

struct fake_sent {
    uint32_t peer;
    struct cohort__envelope envelope;
    unsigned char payload[64]; /* the first bytes of it */
};

struct fake_fetch {
    uint32_t peer;
    size_t offset;
    size_t bytes;
    void *destination;
    void *cookie;
};

struct fake_net {
    struct cohort__net net;
    struct cohort__process *process;
    unsigned accepts; /* how many sends and fetches are accepted; after that the answer is: */
    enum cohort__net_sent otherwise;
    struct fake_sent sent[FAKE_KEPT]; /* the first ones */
    size_t num_sent;
    struct fake_fetch fetches[FAKE_KEPT];
    size_t num_fetches;
    size_t num_regions;  /* exposed and not withdrawn */
    size_t num_messages; /* delivered and not released */
    bool is_removed[FAKE_SIZE];
    bool may_lose;
};

/* Also makes the process. All sends and fetches are accepted. BUDGET 0: FAKE_BUDGET. */
void fake_net_open(struct fake_net *fake, size_t budget);

/* The same with a launcher that tells deaths. With LETTER the job goes on without the dead. CONTEXT
 * is that of both functions. */
void fake_net_open_launched(struct fake_net *fake,
                            void (*accuse)(void *context, uint32_t rank, bool at_fault,
                                           const char *why),
                            void (*letter)(void *context, const void *data, size_t bytes),
                            void *context);

/* The same with FAULT, and without a launcher. */
void fake_net_open_faulty(struct fake_net *fake, const struct cohort__fault *fault);

/* The same with a thread that turns a loop. */
void fake_net_open_turning(struct fake_net *fake, void (*more)(void *context));

/* Stops and destroys the process, and checks that nothing is left over. */
void fake_net_close(struct fake_net *fake);

/* The number of the next message that is expected from SOURCE. */
uint32_t fake_net_next_number(const struct fake_net *fake, uint32_t source);

/* Delivers the next message from rank SOURCE. Key, epoch, source, number and payload_bytes of the
 * envelope are filled in. */
void fake_net_deliver(struct fake_net *fake, uint32_t source, struct cohort__envelope envelope,
                      const void *payload, size_t bytes);

/* Delivers any bytes, in memory of exactly that size. */
void fake_net_deliver_bytes(struct fake_net *fake, const void *data, size_t bytes);

void fake_net_writable(struct fake_net *fake, uint32_t peer);

/* Ends the fetch number INDEX. */
void fake_net_fetched(struct fake_net *fake, size_t index, cohort_status status);

#endif
