/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_ARRIVAL_H
#define COHORT_RUNTIME_PROC_ARRIVAL_H

#include <stdbool.h>

#include "runtime/net/net.h"
#include "runtime/wire/envelope.h"

struct cohort__process;

/* A message from another locality that has passed the router's checks, with what it occupies:
 * memory of the transport, and eager budget of the sender. It lives on the router's stack while the
 * router's handler runs. So before the handler returns, it has to release the arrival or to keep it
 * (cohort__arrival_keep). */
struct cohort__arrival {
    struct cohort__process *process;
    struct cohort__envelope envelope;
    const unsigned char *data;           /* the payload, envelope.payload_bytes bytes */
    struct cohort__net_message *message; /* NULL: the transport has its memory back */
    void *copy;                          /* memory from malloc that holds the data, or NULL */
    bool is_kept;
    bool is_ahead; /* an earlier message of its sender has not come yet */
};

/* Takes ARRIVAL and returns it in memory of its own, or ARRIVAL itself if it is kept already. NULL:
 * memory ran out, and ARRIVAL still belongs to the caller. */
struct cohort__arrival *cohort__arrival_keep(struct cohort__arrival *arrival);

/* Gives the memory back and, to the sender, the budget. NULL is fine. Any thread. */
void cohort__arrival_release(struct cohort__arrival *arrival);

/* For a kept message that stays for long: moves it out of the transport's memory, if that would
 * occupy much more memory than the message needs. Any thread. */
void cohort__arrival_park(struct cohort__arrival *arrival);

#endif
