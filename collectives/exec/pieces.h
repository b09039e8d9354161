/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PIECES_H
#define COHORT_COLLECTIVES_EXEC_PIECES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/plan/plan.h"
#include "runtime/task/scheduler.h"

struct cohort__crew;
struct cohort__commons;

/* Works that share the parts of something. There is at most one for each worker. A work does one
 * part, then posts itself again, so that other works run in between. The members are a part of the
 * crew, so that nothing has to be allocated when it starts; more would hardly be faster, as they
 * share the memory. Not measured. */
enum { COHORT__CREW_MEMBERS = 64 };

struct cohort__crew_member {
    struct cohort__work work;
    struct cohort__crew *crew;
};

struct cohort__crew {
    struct cohort__commons *commons; /* counts the works that are not done */
    void (*post)(struct cohort__work *work);
    void (*perform)(struct cohort__crew *crew, uint64_t part);
    void (*over)(struct cohort__crew *crew); /* all parts are done; may start or free the crew */
    uint64_t num_parts;
    _Atomic uint64_t next_part;
    _Atomic uint32_t num_at_work;
    struct cohort__crew_member members[COHORT__CREW_MEMBERS];
};

/* Has PERFORM called for each of NUM_PARTS parts, at least 1, by works that are posted by POST:
 * cohort__work_post if PERFORM may call an operation of the user's, else cohort__chore_post. Then
 * has OVER called once. Any thread. */
void cohort__crew_start(struct cohort__crew *crew, struct cohort__commons *commons,
                        void (*post)(struct cohort__work *work), uint64_t num_parts,
                        void (*perform)(struct cohort__crew *crew, uint64_t part),
                        void (*over)(struct cohort__crew *crew));

/* The memory that a list of blocks stands for in one operation: pieces, one after the other. */
struct cohort__pieces {
    const struct cohort__plan *plan;
    const uint32_t *block_refs;
    uint32_t num_blocks;
    unsigned char *const *bases; /* of each space */
};

/* All blocks of STEP. */
static inline struct cohort__pieces cohort__pieces_of_step(const struct cohort__plan *plan,
                                                           const struct cohort__step *step,
                                                           unsigned char *const *bases)
{
    return (struct cohort__pieces){plan, plan->block_refs + step->first_block, step->num_blocks,
                                   bases};
}

/* The address of the memory if it is in one piece, else NULL. Where there are no bytes, the base
 * may be the caller's NULL, to which C allows to add nothing, not even 0. */
__attribute__((no_sanitize("pointer-overflow"))) static inline unsigned char *
cohort__pieces_contiguous(const struct cohort__pieces *pieces)
{
    if (pieces->num_blocks != 1)
        return NULL;
    const struct cohort__block *block = &pieces->plan->blocks[pieces->block_refs[0]];
    if (block->count > 1 && block->stride != block->bytes)
        return NULL;
    return pieces->bases[block->space] + block->offset;
}

/* These copy as many bytes as TO has (pack: as FROM has). The other side has as many. They must not
 * overlap. */
void cohort__pieces_copy(const struct cohort__pieces *to, const struct cohort__pieces *from);
void cohort__pieces_pack(unsigned char *to, const struct cohort__pieces *from);
void cohort__pieces_unpack(const struct cohort__pieces *to, const unsigned char *from);
void cohort__pieces_zero(const struct cohort__pieces *to);

#endif
