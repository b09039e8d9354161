/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_LEVELS_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_LEVELS_H

#include "collectives/algo/algorithm.h"

/* Rows that follow the machine (plan/machine.h): in each subgroup the sites do a part of the
 * collective among themselves, level by level up to the leaders of the largest subgroups, which are
 * the *top*; and then it goes back. So only the messages of the top go between the largest
 * subgroups. A row says what is done on the way up, at the top, and on the way down, as all_reduce
 * does (all_reduce/levels.c):
 *
 *     end = cohort__levels_reduce_up(levels, &in, bytes, after);
 *     end = cohort__levels_at_top(levels, COHORT__ALL_REDUCE, in, out, bytes, end);
 *     cohort__levels_broadcast_down(levels, out, bytes, end);
 *
 * Each of these appends this site's steps to the plan (plan.h), none of which starts before step
 * `after`, and returns the step that is done when all of them and `after` are. What else is here is
 * for rows with a block for each site (*shelves*), with large blocks (*pieces*), and for those that
 * do something of their own at one level (*tiers*). */

struct cohort__levels; /* see below: a simple row uses its `request` and its `builder` */

/* A place in this site's memory. */
struct cohort__area {
    enum cohort__space space;
    size_t offset;
};

enum { COHORT__LEVELS_UP = 1, COHORT__LEVELS_TOP = 2, COHORT__LEVELS_DOWN = 3 }; /* phases */

/* Whether the machine of REQUEST has levels that can be used. For a scan, and a reduction that does
 * not commute, the sites of each subgroup must be next to each other. */
bool cohort__levels_accepts(const struct cohort__request *request);
extern const char cohort__levels_needs[];

/* What a composed row does on the way up, at the top and on the way down. */
struct cohort__levels_way {
    enum cohort__collective collective; /* COHORT__NUM_COLLECTIVES: nothing */
    size_t bytes;                       /* of a block */
    bool is_for_each;                   /* a block for each site of a subgroup */
};

/* The stages of a row. Sets no memory. */
void cohort__levels_stages(const struct cohort__request *request, struct cohort__levels_way up,
                           struct cohort__levels_way top, struct cohort__levels_way down,
                           struct cohort__stages *ret_stages);

/* How many levels of the machine are used. */
uint32_t cohort__levels_num_used(const struct cohort__request *request);

/* For the request's site, of which BUILDER gets the steps. */
void cohort__levels_init(struct cohort__levels *levels, struct cohort__plan_builder *builder,
                         const struct cohort__request *request);

/* Whether this site is a member of the top. */
bool cohort__levels_is_at_top(const struct cohort__levels *levels);

/* At the top: COLLECTIVE among its members, with BYTES of a block, from IN to OUT. Only a member of
 * the top does anything. */
uint32_t cohort__levels_at_top(struct cohort__levels *levels, enum cohort__collective collective,
                               struct cohort__area in, struct cohort__area out, size_t bytes,
                               uint32_t after);

/* On the way up: reduces BYTES at *AREA of the sites of each subgroup to its leader, as far as this
 * site goes. Sets *AREA to where the result is, of which the leaders of the largest subgroups bring
 * theirs to the top. */
uint32_t cohort__levels_reduce_up(struct cohort__levels *levels, struct cohort__area *area,
                                  size_t bytes, uint32_t after);

/* On the way down: BYTES at AREA go from the members of the top to all other sites. */
uint32_t cohort__levels_broadcast_down(struct cohort__levels *levels, struct cohort__area area,
                                       size_t bytes, uint32_t after);

/* New TMP. */
struct cohort__area cohort__levels_tmp(struct cohort__levels *levels, size_t bytes);

/* Copies BYTES. Returns the step. */
uint32_t cohort__levels_copy(struct cohort__levels *levels, unsigned phase, struct cohort__area to,
                             struct cohort__area from, size_t bytes, uint32_t after);

/* A long block goes up, through the top and down in *segments*, so that one is on the wire while
 * another one is reduced or passed on in the hosts. */
enum { COHORT__LEVELS_SEGMENTS = 4 };

/* Into how many the block of REQUEST is cut. The same at all sites. */
uint32_t cohort__levels_num_segments(const struct cohort__request *request);

/* REQUEST for the longest segment. */
struct cohort__request cohort__levels_longest_segment(const struct cohort__request *request);

/* Appends the part of the row that does one segment: `levels->request` has its bytes, and OFFSET
 * is where it begins in IN and OUT. Its way up starts after step AFTER. Returns the step that is
 * done when its way up is, after which the one of the next segment starts. */
typedef uint32_t cohort__levels_segment(struct cohort__levels *levels, size_t offset,
                                        uint32_t after);

/* Appends all of the row, segment by segment. */
void cohort__levels_build_segments(struct cohort__plan_builder *builder,
                                   const struct cohort__request *request,
                                   cohort__levels_segment *append);

/* shelves -------------------------------------------------------------------------------------- */

/* Consecutive places in the machine's order of the sites, or subgroups. */
struct cohort__slice {
    uint32_t first;
    uint32_t num;
};

/* The sizes of the blocks of all sites. */
struct cohort__lengths {
    size_t bytes; /* of each one */
    /* If they differ: for each place of the machine's order, how many bytes all blocks before it
     * have; and behind the last place, how many all have. Else NULL. */
    const size_t *before;
};

/* What lengths.before is for PARTS, one for each site. The caller frees it. NULL: there is no
 * memory, and the builder knows. */
size_t *cohort__levels_before(struct cohort__levels *levels, const struct cohort__part *parts);

/* Memory for a block for each site of a slice, in the machine's order. */
struct cohort__shelf {
    struct cohort__area area;
    struct cohort__slice places; /* of the sites */
    struct cohort__lengths lengths;
    uint32_t piece; /* see struct cohort__tier_part */
};

/* A new one in TMP, for all sites whose blocks pass this site below the top, or, with IS_ALL, for
 * all sites. */
struct cohort__shelf cohort__levels_shelf(struct cohort__levels *levels,
                                          struct cohort__lengths lengths, bool is_all);

struct cohort__area cohort__shelf_at(const struct cohort__shelf *shelf, uint32_t place);

/* The bytes of all its blocks. */
size_t cohort__shelf_bytes(const struct cohort__shelf *shelf);

/* On the way up: gathers what all sites have at *AREA, a block each, on the shelves of the leaders.
 * Sets *AREA to where this site has the blocks that it brings to the top. */
uint32_t cohort__levels_gather_up(struct cohort__levels *levels, struct cohort__area *area,
                                  const struct cohort__shelf *shelf);

/* At the top, with the root: gathers what all members have at OWN on the root's shelf, or scatters
 * what is there. Only a member of the top does anything. */
uint32_t cohort__levels_gather_top(struct cohort__levels *levels, struct cohort__area own,
                                   const struct cohort__shelf *shelf, uint32_t after);
uint32_t cohort__levels_scatter_top(struct cohort__levels *levels, struct cohort__area own,
                                    const struct cohort__shelf *shelf, uint32_t after);

/* At the top: an all_gather from IN to OUT, or a reduce_scatter, with a block for each site. Only a
 * member of the top does anything. */
uint32_t cohort__levels_blocks_top(struct cohort__levels *levels,
                                   enum cohort__collective collective, struct cohort__area in,
                                   struct cohort__area out, struct cohort__lengths lengths,
                                   uint32_t after);

/* Where this site, a member of TIER, has the blocks of the sites that it leads there: on SHELF, or,
 * if there is only its own, in OWN. */
struct cohort__area cohort__levels_part_at(const struct cohort__levels *levels, uint32_t tier,
                                           struct cohort__area own,
                                           const struct cohort__shelf *shelf);

/* On the way down: all that is on SHELF at the members of the top goes to the shelf of each other
 * site. */
uint32_t cohort__levels_broadcast_shelf(struct cohort__levels *levels,
                                        const struct cohort__shelf *shelf, uint32_t after);

/* On the way down: scatters the blocks on the shelves to OWN of each site. If a leader has nobody
 * below the top, its block is in OWN already. */
uint32_t cohort__levels_scatter_down(struct cohort__levels *levels, struct cohort__area own,
                                     const struct cohort__shelf *shelf, uint32_t after);

/* How many sites from PLACE on, before place END, have consecutive numbers. */
uint32_t cohort__levels_run(const struct cohort__levels *levels, uint32_t place, uint32_t end);

/* How many blocks from PLACE on, of those that are LENGTHS long and where PARTS says, lie one
 * behind the other in the machine's order. PARTS NULL: they are in the order of the sites. */
uint32_t cohort__levels_row(const struct cohort__levels *levels,
                            const struct cohort__lengths *lengths, const struct cohort__part *parts,
                            uint32_t place);

/* Copies blocks between the order of the machine, on SHELF, and that of the sites, or PARTS, at
 * SITES. Returns a step that is done when all are. */
uint32_t cohort__levels_sort(struct cohort__levels *levels, unsigned phase,
                             const struct cohort__shelf *shelf, struct cohort__area sites,
                             const struct cohort__part *parts, bool is_to_shelf, uint32_t after);

/* pieces --------------------------------------------------------------------------------------- */

/* What each site gets goes down in pieces. A piece is what comes from one or several of the largest
 * subgroups. It goes down as soon as it has come, while the top still carries others. With 8 pieces
 * only an eighth of all has to follow when the top is over; more of them would be more messages,
 * and more meetings, for less. */
enum { COHORT__LEVELS_PIECES = 8 };

struct cohort__piece {
    struct cohort__shelf shelf; /* a part of that of all */
    uint32_t come;              /* a step: after it the piece is there, or may be received */
};

/* How many pieces there are of BYTES that each site gets. The same at all sites. Not more than
 * there are largest subgroups, nor than notes that have room for all: a message has to be worth its
 * startup. So what fits into a note is one piece. */
uint32_t cohort__levels_num_pieces(const struct cohort__levels *levels, size_t bytes);

/* Cuts what is on SHELF, blocks of all sites, into NUM pieces. At a member of the top a piece has
 * come when all steps so far that write it are done; at any other site all may be received after
 * AFTER. */
void cohort__levels_cut(struct cohort__levels *levels, const struct cohort__shelf *shelf,
                        uint32_t num, uint32_t after,
                        struct cohort__piece ret_pieces[COHORT__LEVELS_PIECES]);

/* tiers ---------------------------------------------------------------------------------------- */

/* Those who do a part together are a *tier*: the members of one subgroup that lead the subgroups
 * below it. Tiers have numbers: 0 is of the finest level that is used, `num_used` is the top.
 * Levels whose tiers would all have one member are not used. A site is in tiers 0 to `height`. */
enum { COHORT__LEVELS_MAX = 8 };

/* A tier that this site is in. */
struct cohort__tier {
    uint32_t num;         /* members; their ranks are in the machine's order */
    uint32_t this_rank;   /* this site's */
    uint32_t leader;      /* the rank of the one that goes on. At the top the rank of the leader for
                           * the root, or 0 */
    uint32_t first_child; /* the subgroup that rank 0 leads; in tier 0 the place of rank 0 */
};

struct cohort__levels {
    const struct cohort__request *request;
    struct cohort__plan_builder *builder;
    const struct cohort__machine *machine;
    uint32_t root; /* leads all subgroups that it is in; COHORT__NO_ROOT: none */
    uint64_t turn;
    bool keeps_order; /* the machine's order is that of the sites */
    uint32_t num_used;
    uint32_t used[COHORT__LEVELS_MAX]; /* levels of the machine */
    uint32_t height;
    struct cohort__tier tiers[COHORT__LEVELS_MAX + 1];
    unsigned noted[2]; /* for each direction: a bit for each tier that has left notes */
    uint32_t segment;  /* which one of a long block is appended, as a part's piece; 0: all */
};

/* The most pieces that a part may have. */
enum { COHORT__LEVELS_MOST_PIECES = 1000 };

/* What a tier does. */
struct cohort__tier_part {
    enum cohort__collective collective;
    unsigned phase;
    uint32_t piece; /* which one of several, from 1 to COHORT__LEVELS_MOST_PIECES; these leave no
                     * notes. 0: this is all */
    size_t bytes;   /* of a block, or of this site's own */
    bool is_ragged; /* the blocks have different sizes */
    /* If it is: what a member brings for another at most, as all members know it. 0: they don't. */
    size_t most_bytes;
    size_t own_offset; /* and where this site's block is among those of the members */
    struct cohort__area in, out;
    const struct cohort__part *in_parts; /* by rank, relative to `in` and `out`; or NULL */
    const struct cohort__part *out_parts;
    uint32_t num_in_parts; /* of an exchange; any others have one for each rank */
    uint32_t num_out_parts;
};

/* Appends this site's share of PART. Nothing of it starts before step AFTER. Returns the step that
 * is done when all of that and AFTER are. Does nothing in a tier of one. */
uint32_t cohort__levels_append(struct cohort__levels *levels, uint32_t tier,
                               const struct cohort__tier_part *part, uint32_t after);

/* Those who do a part by a row of the table. */
struct cohort__party {
    uint32_t num;
    uint32_t this_rank;
    uint32_t leader;       /* the root of the part, if it has one */
    const uint32_t *sites; /* by rank */
    const struct cohort__algorithm *row;
};

/* The same, for a part that PARTY does, by messages. */
uint32_t cohort__levels_append_party(struct cohort__levels *levels,
                                     const struct cohort__party *party,
                                     const struct cohort__tier_part *part, uint32_t after);

/* The number that tells the messages of PART from those of others like it. 0: it is all. */
uint32_t cohort__levels_piece(const struct cohort__levels *levels,
                              const struct cohort__tier_part *part);

/* The level of the machine that has the largest subgroups. */
uint32_t cohort__levels_level(const struct cohort__request *request);

/* How many sites the largest of them has. */
uint32_t cohort__levels_largest(const struct cohort__request *request);

/* What _up and _down do, only in tiers below TOP, and as PIECE. */
uint32_t cohort__levels_reduce_below(struct cohort__levels *levels, uint32_t top,
                                     struct cohort__area *area, size_t bytes, uint32_t after);
uint32_t cohort__levels_broadcast_below(struct cohort__levels *levels, uint32_t top, uint32_t piece,
                                        struct cohort__area area, size_t bytes, uint32_t after);
uint32_t cohort__levels_gather_below(struct cohort__levels *levels, uint32_t top,
                                     struct cohort__area *area, const struct cohort__shelf *shelf);
uint32_t cohort__levels_scatter_below(struct cohort__levels *levels, uint32_t top,
                                      struct cohort__area own, const struct cohort__shelf *shelf,
                                      uint32_t after);

/* A shelf for all sites whose blocks pass this site below TOP. */
struct cohort__shelf cohort__levels_shelf_below(struct cohort__levels *levels, uint32_t top,
                                                struct cohort__lengths lengths);

/* The fewest members of a tier that is just below the top. */
uint32_t cohort__levels_fewest_members(const struct cohort__request *request);

/* Whether the subgroups of each level that is used have as many sites, which are next to each
 * other, in the order of the sites. */
bool cohort__levels_is_regular(const struct cohort__request *request);

/* The sites of the subgroup that member RANK leads. */
struct cohort__slice cohort__levels_slice(const struct cohort__levels *levels, uint32_t tier,
                                          uint32_t rank);

/* The site at PLACE of the machine's order. */
uint32_t cohort__levels_site_at(const struct cohort__levels *levels, uint32_t place);

/* The site that is member RANK of this site's TIER. */
uint32_t cohort__levels_member(const struct cohort__levels *levels, uint32_t tier, uint32_t rank);

/* The rank in TIER of the member that leads SITE, which is in a subgroup that TIER's members lead.
 */
uint32_t cohort__levels_rank(const struct cohort__levels *levels, uint32_t tier, uint32_t site);

/* The leader of subgroup CHILD of the level below TIER; in tier 0 the site at that place. */
uint32_t cohort__levels_leader(const struct cohort__levels *levels, uint32_t tier, uint32_t child);

/* Whom the members of the last tier below the top lead in SUBGROUP, one of the largest. */
struct cohort__slice cohort__levels_children(const struct cohort__levels *levels,
                                             uint32_t subgroup);

/* How many tiers this site is in, without the top. */
uint32_t cohort__levels_below(const struct cohort__levels *levels);

/* The blocks of the members of TIER in the machine's order. RET_PARTS has room for all. Returns
 * whether they have different sizes. */
bool cohort__levels_parts(const struct cohort__levels *levels, uint32_t tier,
                          struct cohort__lengths lengths, struct cohort__part *ret_parts);

/* levels_notes.c. Whether the members of TIER, which has several, do PART by leaving notes, and not
 * by messages. The same at all of them. To be asked once for each part. */
bool cohort__levels_notes_can(struct cohort__levels *levels, uint32_t tier,
                              const struct cohort__tier_part *part);

/* Whether a part COLLECTIVE within each subgroup of LEVEL, with notes of up to BYTES, is of that
 * kind. */
bool cohort__levels_notes_fit(const struct cohort__request *request, uint32_t level,
                              enum cohort__collective collective, size_t bytes);

/* If so: appends this site's share, as cohort__levels_append does. */
uint32_t cohort__levels_notes(struct cohort__levels *levels, uint32_t tier,
                              const struct cohort__tier_part *part, uint32_t after);

/* The most bytes of a note. */
enum { COHORT__LEVELS_NOTE_BYTES = 64 * 1024 };

#endif
