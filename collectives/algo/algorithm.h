/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_ALGORITHM_H
#define COHORT_COLLECTIVES_ALGO_ALGORITHM_H

#include <stdbool.h>

#include "cohort/layout.h"
#include "collectives/algo/pattern/mesh.h"
#include "collectives/plan/machine.h"
#include "collectives/plan/plan.h"

/* What a plan is built for. If there are no parts, everything except this_site is equal at all
 * sites of the call. */
struct cohort__request {
    enum cohort__collective collective;
    uint32_t num_sites;
    uint32_t this_site;
    uint32_t root;    /* of a rooted collective; 0 for the others */
    uint32_t arity;   /* of the tree, >= 2 */
    uint32_t shift;   /* of SHIFT: 0 .. num_sites - 1 */
    size_t bytes;     /* of one block; equal at all sites unless there are parts */
    size_t element;   /* its bytes; reductions cut a vector only between elements. 0: 1 */
    bool commutative; /* the reduction may be done in any order of the sites */
    bool can_meet;    /* all sites share memory, or a board with room for what they bring */
    bool meets;       /* the sites of each locality share memory: they need no messages */
    bool has_notes;   /* and leaders of localities of one host can leave each other notes */
    /* Of a row that is composed: the number in the table of the row for its leaders, + 1. 0: the
     * linear one. */
    uint32_t inner;
    /* Where the sites are, and the turn by which leaders are chosen (cohort__machine_leader). Both
     * belong to the communicator, so no two requests of one site differ in them. NULL: not known.
     */
    const struct cohort__machine *machine;
    uint64_t turn;
    /* Blocks of different sizes: num_sites parts, of which part i is that of site i. NULL: all
     * blocks have `bytes` bytes, one after the other. Only for rows that are `ragged`:
     *   ALL_GATHER: out_parts, REDUCE_SCATTER: in_parts. The sizes are equal at all sites.
     *   GATHER: out_parts at the root, SCATTER: in_parts at the root. The others have the size of
     *   their own block in `bytes`.
     *   ALL_TO_ALL: both.
     * For EXCHANGE: any parts, in any number. Several parts for one site are in the same order at
     * both sides. */
    const struct cohort__part *in_parts;
    const struct cohort__part *out_parts;
    uint32_t num_in_parts;
    uint32_t num_out_parts;
    /* Of an EXCHANGE, or NULL: the layout of each part, or NULL where it is one run of bytes. The
     * layout begins at the part's offset; the part's bytes are those of its elements. */
    const cohort_layout *const *in_layouts;
    const cohort_layout *const *out_layouts;
};

/* Where the block of SITE is in IN (REDUCE_SCATTER, SCATTER, ALL_TO_ALL) or OUT (GATHER,
 * ALL_GATHER, ALL_TO_ALL). */
struct cohort__part cohort__request_in(const struct cohort__request *request, uint32_t site);
struct cohort__part cohort__request_out(const struct cohort__request *request, uint32_t site);

/* All of REQUEST except the contents of its parts, as words. The words are equal if, and only if,
 * all of that is. */
enum { COHORT__REQUEST_WORDS = 7 };
void cohort__request_words(const struct cohort__request *request,
                           uint64_t ret_words[COHORT__REQUEST_WORDS]);

/* Why no algorithm at all can carry out REQUEST. NULL: some may. */
const char *cohort__request_refuses(const struct cohort__request *request);

/* Whether NUM_SITES sites can handle blocks of COUNT elements of ELEMENT bytes, with any row. The
 * blocks that one site may have, the caller's and the row's own, must take less memory than can be
 * addressed. */
bool cohort__sizes_fit(enum cohort__collective collective, uint32_t num_sites, size_t count,
                       size_t element);

/* The bytes of an element, never 0. */
size_t cohort__request_element(const struct cohort__request *request);

/* What a call costs, as the coefficients of a model. In the model all links are direct, and a site
 * sends one message and receives one at a time. A message of b bytes takes t_s + t_w b. Reducing b
 * bytes takes t_r b. Copies are free. The time is then
 *     startups t_s + bytes t_w + reduced t_r,
 * and the work of all sites together is in the three fields after these. */
struct cohort__cost {
    double startups; /* messages one after the other, on the longest path of the call */
    double bytes;    /* in these messages */
    double reduced;  /* bytes reduced on that path */
    double messages; /* of all sites; exact */
    double moved;    /* bytes in them; exact */
    double combined; /* bytes reduced by all sites; exact */
    double memory;   /* TMP of the site that needs most, in bytes; never too small */
};

/* Where those sit who exchange messages: in one locality, in localities of one host, or in
 * different hosts. */
enum cohort__distance {
    COHORT__DISTANCE_TASKS,
    COHORT__DISTANCE_LOCALITIES,
    COHORT__DISTANCE_HOSTS,
    COHORT__NUM_DISTANCES
};

/* What a composed row does at one level: a collective among so many, in several places at once. */
struct cohort__stage {
    enum cohort__collective collective;
    enum cohort__distance distance;
    const char *level;  /* in each subgroup of which it happens; NULL: among all */
    uint32_t num_sites; /* in the largest place */
    uint32_t at_once;   /* places that share the cores of one host */
    uint32_t num_all;   /* places */
    size_t bytes;       /* of the largest block */
    bool is_ragged;     /* the blocks have different sizes */
    bool is_noted;      /* done by notes, if there are any (request.has_notes) */
    bool is_top;        /* any row that accepts it may do it: request.inner says which */
    /* Of an exchange: what it costs. The cost of its row is known only for all its parts. */
    struct cohort__cost exchanged;
};

enum { COHORT__MAX_STAGES = 20 };

/* How many notes each site may leave by the plan of a row. The plan of an agreement and a
 * collective has those of both. */
enum { COHORT__ROW_NOTES = 3 };

struct cohort__stages {
    struct cohort__stage stages[COHORT__MAX_STAGES];
    uint32_t num;
    uint32_t num_segments; /* of the block: each goes through all stages, behind the one before it.
                            * 0 is 1. The stages are those of one segment */
    double memory;         /* TMP besides that of the stages, at the site that needs most */
    double copied;         /* bytes that the leader at the top which has most copies besides */
};

/* One row of the table: one algorithm for one collective. */
struct cohort__algorithm {
    enum cohort__collective collective;
    const char *name;  /* like "hierarchical"; unique for the collective */
    bool hierarchical; /* uses the arity */
    bool flat;         /* likewise, but always the number of sites, so that its tree is one level */
    bool direct;       /* likewise, but within one of the `arity` groups messages go directly */
    bool ragged;       /* takes blocks of different sizes */
    /* For sites that share memory: no plan, `build` is NULL. exec moves the data when all sites are
     * there (see collectives/exec/meeting_call.h). */
    bool shared;
    /* Sites hand on the same block more than once, so several have it when it is where it belongs.
     */
    bool replicates;
    /* Reduces site by site from the left, ((0 op 1) op 2) ..., for every request. The result has
     * the same bits as in all other such rows. */
    bool ordered;
    /* What the row needs, like "a power of two sites", and whether REQUEST has it. NULL: nothing.
     * Depends only on what is equal at all sites. */
    const char *needs;
    bool (*accepts)(const struct cohort__request *request);
    /* Appends the steps of the request's site. What it can't have it tells the builder, which then
     * fails. Not for a reduction over one site, which is the same for all rows. */
    void (*build)(struct cohort__plan_builder *builder, const struct cohort__request *request);
    /* For a request without parts. The same for every this_site. The formula's source is in the
     * row's file. */
    struct cohort__cost (*cost)(const struct cohort__request *request);
    /* In place of build and cost, of a row over a mesh: the mesh of NUM_SITES, and both on it. */
    struct cohort__mesh (*mesh)(uint32_t num_sites);
    void (*build_on)(struct cohort__plan_builder *builder, const struct cohort__request *request,
                     struct cohort__mesh mesh);
    struct cohort__cost (*cost_on)(const struct cohort__request *request, struct cohort__mesh mesh);
    /* In place of a cost, of a row that is composed of other rows. */
    void (*stages)(const struct cohort__request *request, struct cohort__stages *ret_stages);
    /* Of a composed row: what its leaders do among all of them, the stage that is_top. */
    enum cohort__collective top;
};

/* The `needs` and `accepts` of several rows. */
extern const char cohort__needs_power_of_two[];
bool cohort__is_power_of_two(const struct cohort__request *request);

extern const char cohort__needs_commutative[];
bool cohort__is_commutative(const struct cohort__request *request);

/* What reductions are for a single site, or the first one of a scan: copies its block of IN to
 * OUT. */
void cohort__alone_append(struct cohort__plan_builder *builder,
                          const struct cohort__request *request);

/* The rows. Each is defined in the file of its algorithm, or in that of several that are alike. */
#define ROW(collective, name) extern const struct cohort__algorithm cohort__##collective##_##name;
#include "collectives/algo/rows.h"
#undef ROW

/* All rows, in the order of rows.h. */
extern const struct cohort__algorithm *const cohort__algorithms[];
extern const uint32_t cohort__num_algorithms;

/* The number of the row called NAME for COLLECTIVE, or that of all rows if there is none. */
uint32_t cohort__algorithm_row(enum cohort__collective collective, const char *name);

/* The row called NAME for COLLECTIVE, or NULL. */
const struct cohort__algorithm *cohort__algorithm_find(enum cohort__collective collective,
                                                       const char *name);

/* Whether the leaders of COMPOSED may do their part by ALGORITHM. Not by a row over a tree: at the
 * top IN may lie in OUT, and such a row may receive all of OUT before it has sent IN. */
bool cohort__algorithm_may_lead(const struct cohort__algorithm *algorithm,
                                const struct cohort__algorithm *composed);

/* Writes the name of row ROW, and in parentheses that of the row INNER - 1 among its leaders, if
 * INNER is not 0, as in "levels(ring)". */
enum { COHORT__ALGORITHM_NAME = 64 };
const char *cohort__algorithm_name(uint32_t row, uint32_t inner,
                                   char ret_name[COHORT__ALGORITHM_NAME]);

/* Why ALGORITHM can't carry out REQUEST, or NULL if it can. */
const char *cohort__algorithm_refuses(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request);

/* What REQUEST costs by ALGORITHM, which is not composed. */
struct cohort__cost cohort__algorithm_cost(const struct cohort__algorithm *algorithm,
                                           const struct cohort__request *request);

/* Checks REQUEST, also against overflow, and builds the plan, whose name is "all_gather_ring" for
 * instance. */
cohort_status cohort__algorithm_build(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request,
                                      struct cohort__plan **ret_plan);

/* The same unchecked, for a plan that is a part of another one. */
cohort_status cohort__algorithm_plan(const struct cohort__algorithm *algorithm,
                                     const struct cohort__request *request,
                                     struct cohort__plan **ret_plan);

/* The plan of a `shared` row for sites of one locality: the meeting as a step, to be embedded
 * behind an agreement. */
cohort_status cohort__shared_build(const struct cohort__request *request,
                                   struct cohort__plan **ret_plan);

/* "all_to_all" and so on, and the reverse: COHORT__NUM_COLLECTIVES if there is no collective
 * NAME. */
const char *cohort__collective_name(enum cohort__collective collective);
enum cohort__collective cohort__collective_find(const char *name);

bool cohort__collective_is_rooted(enum cohort__collective collective);

#endif
