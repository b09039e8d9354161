/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_QUESTIONS_H
#define COHORT_COLLECTIVES_COMM_QUESTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* The questions that an operation, or the channels of an endpoint, have out: at most one for each
 * site. Who waits for long asks again and again. A site that does not get to its messages would
 * find all of these questions, and the calls that it keeps waiting behind them. So a site is not
 * asked again before it has answered. Each question is answered (reception.c, channel.c, inbox.c),
 * or the locality of its site dies, which ends what waits. In the endpoint's turn. */
struct cohort__questions {
    uint64_t *sites; /* a bit for each, set until it has answered; NULL: none has been asked yet */
};

/* SITE, one of NUM_SITES, is about to be asked. False: it is not to be, since it has not answered
 * yet, or there is no memory. */
bool cohort__questions_begin(struct cohort__questions *questions, uint32_t num_sites,
                             uint32_t site);

/* SITE has answered, or could not be asked. */
void cohort__questions_end(struct cohort__questions *questions, uint32_t site);

static inline void cohort__questions_fini(struct cohort__questions *questions)
{
    if (questions->sites) /* mostly not */
        free(questions->sites);
    questions->sites = NULL;
}

#endif
