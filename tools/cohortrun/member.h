/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the process that has joined the job, where a script has started it. */
#ifndef COHORT_TOOLS_COHORTRUN_MEMBER_H
#define COHORT_TOOLS_COHORTRUN_MEMBER_H

#include <stddef.h>

#include "tools/cohortrun/deadline.h"

struct cohort__ending;
struct guarded;

/* A guardian knows how the process ends that it has started. If that is a script, the program which
 * joins the job is a process below it, whose end only the script learns, and the script may go on.
 * So that process is watched from its HELLO to its BYE. It says its number itself. One that is not
 * below GUARDED (it has a process namespace of its own, say) can't be watched, and then its end is
 * noticed when the script ends. */
struct member {
    struct cohort__loop *loop;
    const struct guarded *guarded;
    void (*changed)(void *context); /* `lost` is another one */
    void *context;
    int said;                      /* its pid, since its HELLO; 0: none has joined */
    int lost;                      /* that pid, if it has ended without a BYE; 0: it has not */
    struct cohort__ending *ending; /* NULL: it need not or can't be watched */
    struct deadline settle;        /* until then the script may end as well, which says more */
};

void member_init(struct member *member, struct cohort__loop *loop, const struct guarded *guarded,
                 void (*changed)(void *context), void *context);

/* It has sent this message of the control protocol. */
void member_heard(struct member *member, const void *message, size_t bytes);

/* The pid of what the guardian has started is known now, or it has ended. */
void member_guarded_changed(struct member *member);

/* Nothing is watched any more. One that is all zero is fine. */
void member_close(struct member *member);

#endif
