/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_ARRIVAL_H
#define COHORT_RUNTIME_PROC_ARRIVAL_H

#include <stdbool.h>

#include "runtime/net/net.h"
#include "runtime/wire/envelope.h"

struct cohort__process;

/* A message from another locality that has passed the router's checks, with what it occupies: the
 * transport's memory, and the sender's eager budget. The router's handler gets it in the router's
 * frame; so it keeps what it does not release before it returns. */
struct cohort__arrival {
    struct cohort__process *process;
    struct cohort__envelope envelope;
    const unsigned char *data;           /* envelope.payload_bytes of them */
    struct cohort__net_message *message; /* NULL: the data has left the transport's memory */
    void *copy;                          /* the data's own memory, from malloc; or NULL */
    bool is_kept;
    bool is_ahead; /* of one that its sender has sent before, and that has not come yet */
};

/* ARRIVAL, which it takes, in memory of its own; itself if it is kept already. NULL: there is no
 * memory, and it is still the caller's. */
struct cohort__arrival *cohort__arrival_keep(struct cohort__arrival *arrival);

/* Gives back the memory and, to the sender, the budget. NULL is fine. Any thread. */
void cohort__arrival_release(struct cohort__arrival *arrival);

/* A kept message stays for long: moves it out of the transport's memory where that would keep
 * much more occupied than the message needs. Any thread. */
void cohort__arrival_park(struct cohort__arrival *arrival);

#endif
