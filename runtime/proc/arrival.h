/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_ARRIVAL_H
#define COHORT_RUNTIME_PROC_ARRIVAL_H

#include "runtime/net/net.h"
#include "runtime/wire/envelope.h"

struct cohort__process;

/* A message from another locality that has passed the router's checks, with what it occupies: the
 * transport's memory, and the sender's eager budget. */
struct cohort__arrival {
    struct cohort__process *process;
    struct cohort__envelope envelope;
    const unsigned char *data; /* envelope.payload_bytes of them */
    struct cohort__net_message *message;
    void *copy; /* the data's own memory, once it has left the transport's */
};

/* Gives back the memory and, to the sender, the budget. NULL is fine. Any thread. */
void cohort__arrival_release(struct cohort__arrival *arrival);

/* The message will be kept for long: moves it out of the transport's memory where that would keep
 * much more occupied than the message needs. Any thread. */
void cohort__arrival_park(struct cohort__arrival *arrival);

#endif
