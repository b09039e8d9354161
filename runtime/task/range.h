/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_RANGE_H
#define COHORT_RUNTIME_TASK_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "cohort/parallel.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger_format.h"
#include "runtime/task/task.h"

/* A range of indices (cohort/parallel.h) is worked off in chunks. A task runs the indices of its
 * chunk one after the other. It gives half of what is left to a new chunk if some worker is idle,
 * and all of it if the call of an index suspends. A new chunk is always to the right of the one
 * that it is taken from. */
struct cohort__range_chunk {
    size_t next, end;
    void *data; /* of the body */
};

/* What is done with the indices. Embedded in an object of the owner. */
struct cohort__range_body {
    const char *name;            /* of the public function */
    cohort__any_function *shown; /* the user's function */
    size_t grain;

    /* Calls the user's function for up to COUNT indices, from chunk->next on. Takes each before the
     * call, and looks at chunk->end after it, since that may have become less. */
    cohort_status (*run)(struct cohort__range_body *body, struct cohort__range_chunk *chunk,
                         size_t count);

    /* Both may be NULL. split: prepares the data of NEW_CHUNK, which begins where CHUNK will end.
     * False: there is no memory, and CHUNK is not split. chunk_over: nothing of CHUNK runs any
     * more. Any worker. */
    bool (*split)(struct cohort__range_body *body, struct cohort__range_chunk *chunk,
                  struct cohort__range_chunk *new_chunk);
    void (*chunk_over)(struct cohort__range_body *body, struct cohort__range_chunk *chunk);

    /* All chunks are over, with STATUS; if that is an error, it is in the calling task's error.
     * Frees BODY. Returns the status of the whole. */
    cohort_status (*over)(struct cohort__range_body *body, cohort_status status);
};

/* Works off the indices from BEGIN to END - 1, at least one. DATA is that of the first chunk. If
 * it can't begin, BODY is over as well. Any thread. */
cohort_future *cohort__range_start(struct cohort__range_body *body, size_t begin, size_t end,
                                   void *data);

/* Checks the arguments of a public function with the NAME. Returns NULL, with the options in
 * *RET_OPTIONS, or a future with the error. */
cohort_future *cohort__range_check(const char *name, size_t begin, size_t end, bool has_function,
                                   const cohort_range_options *options, size_t options_bytes,
                                   cohort_range_options *ret_options);

/* To be called before a task suspends, with the innermost RUNNER on its stack, which is not NULL:
 * what it and those below it have left goes on without them. LINE, of the task, gets to know the
 * range. */
struct cohort__range_runner;
void cohort__range_hand_on(struct cohort__range_runner *runner, struct cohort__wait_line *line);

#endif
