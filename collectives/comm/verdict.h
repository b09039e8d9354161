/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_VERDICT_H
#define COHORT_COLLECTIVES_COMM_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/group.h"
#include "runtime/proc/arrival.h"

/* A verdict says what becomes of one generation that somebody wants to take back. Any site asks for
 * it. Then every locality freezes its sites (hold.h) and votes (tally.h). One locality, the lowest
 * of the group, decides when all votes are there, and tells the others:
 *
 *   ASK     asker -> decider   what for
 *   FREEZE  decider -> all
 *   VOTE    all -> decider     how the sites there stand
 *   RESULT  decider -> all     refused, with the error; or left as it is
 *   PASSED  all -> decider     the sites there have all passed the generation
 *
 * A generation is left as it is if one of its sites has completed and all others will. Else it is
 * refused: what has completed stays so, and what has not fails with one error, at sites that call
 * later as well. The decider forgets a verdict when all localities have passed the generation, so
 * there are never two on one generation. When a locality has died, or the communicator is
 * revoked, all calls fail, and what is not decided is left as it is.
 *
 * tests/model/verdict.pml is a model of this. */

/* Why a generation is to be taken back. */
struct cohort__plea {
    enum cohort__plea_kind {
        COHORT__PLEA_CANCEL,   /* somebody has asked for it */
        COHORT__PLEA_DEADLINE, /* of the call of a site */
        COHORT__PLEA_SCOPE,    /* the scope of the task that has called is cancelled */
        COHORT__NUM_PLEAS
    } kind;
    uint32_t site;
    uint64_t nanoseconds; /* of a deadline */
};

/* Any thread that is sure that the group exists: asks for a verdict on GENERATION.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__verdict_ask(struct cohort__group *group, uint64_t generation,
                                  const struct cohort__plea *plea);

/* COMM, an endpoint of its group, has just been made, and nobody has it yet. */
void cohort__verdicts_join(struct cohort_comm *comm);

/* Any thread that is sure that the group exists: a locality with sites of it has died, or it is
 * revoked, or all sites of it have left. Does nothing if none of these is so. */
void cohort__verdicts_release(struct cohort__group *group, bool have_all_left);

/* By the thread that turns the event loop: takes ARRIVAL, of kind VERDICT, from a site of GROUP.
 * False: it is lost, since there is no memory for it, which has been logged. */
bool cohort__verdict_arrive(struct cohort__group *group, struct cohort__arrival *arrival);

/* The same where there is no such group any more, or none was ever made. */
void cohort__verdict_answer_gone(struct cohort__process *process,
                                 const struct cohort__envelope *envelope);

#endif
