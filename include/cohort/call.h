/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_CALL_H
#define COHORT_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/comm.h"
#include "cohort/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a single call asks for. All options except ret_rows, deadline, in_layout and out_layout have
 * to be the same at all sites of the call. Where they lead to different things, the call fails with
 * COHORT_ERR_MISMATCH. All zero asks for nothing. */
typedef struct cohort_call_options {
    /* The algorithm, by its name in docs/COLLECTIVES.md; NULL: the communicator's choice.
     * "levels(ring)": levels, whose leaders use ring. With an unknown name, or an algorithm that
     * can't carry out the call, the call's future gets COHORT_ERR_BAD_PARAMETER. The text is
     * copied. */
    const char *algorithm;
    /* The root, 0 .. num_sites - 1; NULL: the communicator's. It is only read during the call. Only
     * for gather, scatter, broadcast, reduce and their variants. */
    const uint32_t *root_site;
    /* Agreement before the collective, whichever collective it is; see cohort_check_rooted. */
    bool check_asymmetric;
    /* As in cohort_comm_options, for this call. */
    bool reproducible;
    /* all_gather, all_gatherv, all_to_all, all_to_allv, all_to_allw, gather_here and gatherv_here:
     * an array for num_sites futures. The caller owns one reference to each of them. Future i
     * completes when the block from site i is in OUT. The block may be read from then on, but not
     * changed before the call's own future completes. How early that is depends on the algorithm:
     * where blocks of several sites come in one message, as in levels up to 64 KiB or from sites
     * that are not next to each other, their futures complete together. If the call fails, each of
     * these futures that has not completed fails with the same error. The array is written during
     * the call, even if the call fails. */
    cohort_future **ret_rows;
    /* If the call is not complete so many nanoseconds after it was made, its generation is taken
     * back as by cohort_comm_cancel, which says what that means, but with COHORT_ERR_TIMEOUT. So a
     * call that has completed at all other sites completes here, too. 0: the deadline of the
     * communicator. Sites may give different ones. A call is never taken back early. It may be
     * late, by an eighth of the deadline (at least 2 ms, at most 50 ms), and by the time in which
     * the sites decide. */
    uint64_t deadline;
    /* Where the elements of IN and of OUT lie, each NULL: one behind the other. What the call says
     * of a buffer, its count, blocks and displacements, is then said of the elements of the layout:
     * element k is the layout's element k. The layout of a buffer with a block for each site
     * (cohort_layout_create_repeat, _parts) so says where each block lies, too. It has as many
     * elements as the buffer, or in the calls of ragged.h at least as many as their blocks reach.
     * Each site decides for itself: only the datatype and the number of elements have to agree.
     *
     * For all collectives that move elements, except all_to_allw and exchange
     * (cohort_exchange_layouts has a layout for each block). With COHORT_IN_PLACE there is
     * out_layout only (in scatter in_layout only). IN and OUT may be in one array. Besides what
     * collectives.h says, COHORT_ERR_BAD_PARAMETER: an element of OUT that is in its layout twice,
     * or that is also one of IN; a layout for a buffer that the call does not have, or of another
     * size.
     *
     * The layouts stay the caller's, and have to live until the call has returned. Elements of IN
     * are packed by the call, before it returns; those of OUT are unpacked when they have come, and
     * all rows complete then. That takes as much memory as there are elements, which is kept for
     * the next call of the same shape, and counts for the memory_budget. With a layout whose
     * elements lie one behind the other nothing is packed. */
    const cohort_layout *in_layout;
    const cohort_layout *out_layout;
} cohort_call_options;

/* Sets OPTIONS for the next collective that is called on this endpoint, and for no other. That call
 * uses them up even if it fails. Calling this function again replaces them; NULL takes them back.
 * COHORT_ERR_BAD_PARAMETER: no COMM, or a name of more than 63 bytes. The caller orders this call
 * with the other calls on the endpoint. Never suspends. _sized: the exported function, for
 * OPTIONS_BYTES of OPTIONS; see cohort_comm_create_sized. */
COHORT_API cohort_status cohort_comm_next_call_sized(cohort_comm *comm,
                                                     const cohort_call_options *options,
                                                     size_t options_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_status
cohort_comm_next_call(cohort_comm *comm, const cohort_call_options *options)
{
    return cohort_comm_next_call_sized(comm, options, sizeof(*options));
}

#ifdef __cplusplus
}
#endif

#endif
