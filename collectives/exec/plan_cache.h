/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PLAN_CACHE_H
#define COHORT_COLLECTIVES_EXEC_PLAN_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/future.h"
#include "cohort/op.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/exec/check_values.h"
#include "collectives/exec/movement.h"
#include "collectives/plan/plan.h"

/* The plans that an endpoint has used lately. Each of them keeps the memory of an execution that
 * has ended. So a repeated call builds nothing and allocates nothing. Only the caller's side uses
 * it, except the spare executions: they come back from the endpoint's turn.
 *
 * The endpoints of a locality keep COHORT__PLANS_MOST bytes in all. Beyond that an endpoint whose
 * part is larger than that divided by their number, and than COHORT__PLANS_LEAST, keeps no more
 * plans when it needs another one, but for that. First those go that no call has used again: those
 * of calls whose counts never come again. */
struct cohort__plan_cache;
struct cohort__plan_memory;
enum { COHORT__PLANS_MOST = 64 << 20, COHORT__PLANS_LEAST = 64 << 10 };
struct cohort__execution;
struct cohort__staging;

/* All that decides what the plan of a call looks like. As words: the whole request, the flags, and
 * the row that the call forces. As the tail: the parts, as many as the words say. Without padding,
 * since keys are compared as bytes. */
enum { COHORT__PLAN_REQUEST_WORDS = 7 };
struct cohort__plan_key {
    uint64_t request[COHORT__PLAN_REQUEST_WORDS]; /* cohort__request_words */
    uint32_t flags;                               /* enum cohort__plan_flag */
    uint16_t row;                                 /* the row that the call forces + 1, or 0 */
    uint16_t inner;                               /* ... and the one among its leaders + 1, or 0 */
    uint64_t tail_bytes;
};

enum cohort__plan_flag {
    COHORT__PLAN_IN_PLACE = 1,     /* IN is OUT, or a block of it */
    COHORT__PLAN_IN_PLACE_OUT = 2, /* OUT is a block of IN */
    COHORT__PLAN_ROWS = 4,         /* the caller gets a future for each row */
    COHORT__PLAN_REPRODUCIBLE = 8,
    COHORT__PLAN_CHECKED = 16, /* an agreement comes first */
    COHORT__PLAN_ALONE = 32,   /* the agreement is all */
    COHORT__PLAN_OBJECTS = 64,
    COHORT__PLAN_RAGGED = 128,
    COHORT__PLAN_SIZES_KNOWN = 256, /* all sites know the sizes, though ragged */
    COHORT__PLAN_SPARSE = 512,      /* of objects, most of which are empty */
};

struct cohort__plan_entry {
    struct cohort__plan_key key;
    const void *tail; /* key.tail_bytes bytes, behind the entry */
    struct cohort__plan *plan;
    uint32_t row;         /* of the algorithm that was chosen */
    uint8_t inner;        /* of a composed one: that of the row among its leaders, + 1; else 0 */
    bool is_used;         /* by another call than the first, lately; the cache's, as `bytes` */
    size_t bytes;         /* that it keeps, */
    size_t staging_bytes; /* and how many of them are for a staging */
    struct cohort__execution *_Atomic spare;
    struct cohort__staging *_Atomic spare_staging; /* of a call with layouts */
    /* IN and OUT of a call lie among each other, and have no element in common, as has been found:
     * the numbers of the layouts that an option gives, or 0, the size of an element, and the bytes
     * from the one to the other. The caller's side. */
    struct cohort__apart {
        bool is_found;
        uint64_t in_layout;
        uint64_t out_layout;
        size_t element;
        size_t distance;
    } apart;
    _Atomic uint32_t refs; /* one for the cache and one for each execution and staging */
};

/* How the blocks of a call are cut where they are longer than a post on the board: into segments,
 * each of which is a meeting of its own. While one is read, the next one is written. */
struct cohort__segments {
    uint32_t num;
    size_t bytes; /* of a block, in each but the last one, which may have fewer */
};

/* A call for which all is found that it needs to start: its plan, or that its sites meet. */
struct cohort__planned_call {
    /* The same in each call like it. */
    struct cohort_comm *comm;
    struct cohort__plan_entry *entry; /* with the plan; if that is NULL, the sites meet */
    uint64_t fingerprint;             /* of the signature */
    struct cohort__signature signature;
    struct cohort__terms terms;        /* for who has a plan only the operation and the datatype */
    struct cohort__segments segments;  /* if the sites meet */
    struct cohort__check_values check; /* of a plan with an agreement: this site's values in it */

    uint64_t generation; /* has passed the gate */
    const void *in;      /* the same as `out`: in place */
    void *out;
    cohort_future **ret_rows;         /* where to put num_sites futures for the caller, or NULL */
    struct cohort__operation *sequel; /* or NULL; is taken, on failure too */
    const struct cohort__error *objection; /* why it can't be right, if so; then it has a plan */
};

/* The last ordinary call. If the next one has the same arguments, they need not be looked at, and
 * it is this call with other buffers. The memo is cleared when its entry may have gone. */
struct cohort__plan_memo {
    const char *function; /* of the call, compared by address; NULL: no memo */
    int64_t q;
    size_t in_bytes; /* of IN, an array, and of OUT */
    size_t out_bytes;
    struct cohort__planned_call call; /* without a reference to the entry: the cache has one */
    bool is_alone;                    /* all that it does is to copy so many bytes of IN to OUT */
    size_t alone_bytes;
};
struct cohort__plan_memo *cohort__plan_cache_memo(struct cohort__plan_cache *cache);

/* MEMORY is that of the locality. */
cohort_status cohort__plan_cache_create(struct cohort__plan_cache **ret_cache,
                                        struct cohort__plan_memory *memory);
void cohort__plan_cache_destroy(struct cohort__plan_cache *cache); /* NULL is fine */

/* Memory of the cache for describing the next call, at least BYTES. It is the same each time,
 * unless it has to grow. NULL: out of memory; the message is set. */
void *cohort__plan_cache_scratch(struct cohort__plan_cache *cache, size_t bytes);

/* A reference to the entry, or NULL. TAIL has key->tail_bytes bytes and stays the caller's. */
struct cohort__plan_entry *cohort__plan_cache_find(struct cohort__plan_cache *cache,
                                                   const struct cohort__plan_key *key,
                                                   const void *tail);

/* Adds PLAN, which it takes, on failure too, and a copy of TAIL. *RET_ENTRY is a reference. Another
 * entry may have to go. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__plan_cache_add(struct cohort__plan_cache *cache,
                                     const struct cohort__plan_key *key, const void *tail,
                                     struct cohort__plan *plan, uint32_t row,
                                     struct cohort__plan_entry **ret_entry);

/* ENTRY, which the call that is being made has found or added, keeps BYTES more from now on. Others
 * may have to go. */
void cohort__plan_cache_charge(struct cohort__plan_cache *cache, struct cohort__plan_entry *entry,
                               size_t bytes);

/* The same: BYTES for a staging of its, if that is more than it has kept for one. */
void cohort__plan_cache_charge_staging(struct cohort__plan_cache *cache,
                                       struct cohort__plan_entry *entry, size_t bytes);

/* How many plans CACHE has, which keep how many bytes. Any thread. */
void cohort__plan_cache_look(const struct cohort__plan_cache *cache, uint32_t *ret_num,
                             size_t *ret_bytes);

void cohort__plan_entry_ref(struct cohort__plan_entry *entry);
void cohort__plan_entry_unref(struct cohort__plan_entry *entry);

#endif
