/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_SURVIVORS_H
#define COHORT_SURVIVORS_H

#include <stdint.h>

#include "cohort/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the sites of a communicator do when some of them have died, in a job that goes on without
 * the dead (cohortrun --keep-going). docs/SURVIVING.md has the whole pattern.
 *
 * After a death all calls fail at all sites of the communicators that had a site in the dead
 * locality, with COHORT_ERR_PEER_DIED, except those here, sets and gets between two sites that live
 * (cohort/channel.h), and gets from any site once the death is acknowledged. Other communicators
 * are as before.
 *
 * cohort_comm_agree and cohort_comm_shrink are for the sites that live: each of these has to call
 * the same ones in the same order, and the futures complete when all have. That order is all that
 * connects them: they have no generation, do not count in the window and are not collectives. A
 * site that is still in a call which waits for others that have gone to agree has to get an error
 * there first: whoever goes revokes the communicators that others may wait in. A site that has
 * given its endpoint back, and lives, can't take part: the calls of the others fail with
 * COHORT_ERR_GONE, which names it. A site that keeps it and never calls lets the others wait for
 * ever, unless its locality dies, or the scope of one that waits is cancelled, which ends that call
 * for all; cohortrun --status says whom they wait for. If a locality dies meanwhile, those that are
 * left go on by themselves.
 *
 * They work in all jobs. But if the job does not keep going, they end with COHORT_ERR_PEER_DIED
 * once any locality has died. Any task or thread; they never suspend. */

/* What has been agreed on. */
typedef struct cohort_agreed {
    uint64_t value;      /* the AND of the values of all sites that live */
    uint32_t num_failed; /* how many sites were dead then: the same number at all sites */
} cohort_agreed;

/* All sites that live agree on the AND of their VALUES: on one bit each, so whoever is not content
 * leaves out a bit. When the future completes, *ret_agreed has the result, which is the same at all
 * sites, also if somebody dies meanwhile; the value of a site that dies may be in it or not. On
 * failure it is untouched. ret_agreed has to stay valid until the future completes.
 *
 * COHORT_ERR_BAD_PARAMETER without a communicator or a place for the result; COHORT_ERR_MISMATCH if
 * another site calls cohort_comm_shrink instead, COHORT_ERR_GONE if one that lives has given its
 * endpoint back, COHORT_ERR_CANCELLED when the job ends, or if the scope of the task of a site that
 * lives was cancelled before all had called: all sites that live get that.
 * COHORT_ERR_NO_MEMORY: the site may call again. If it is the only one with that error, the others
 * wait until it does; else all have it. If it can't tell the others, its locality ends, and they go
 * on without it (in a job that does not keep going, all get the error then, and in all later
 * calls). */
COHORT_API cohort_future *cohort_comm_agree(cohort_comm *comm, uint64_t value,
                                            cohort_agreed *ret_agreed) COHORT_MUST_USE;

/* Makes a communicator of all sites of COMM that live, in the order that they have there. Site 0 is
 * the root. It takes over from COMM what cohort_comm_dup does, and has a name for messages like
 * "world/survivors 1". COMM may be given back before the future completes. A death meanwhile does
 * not fail it: the communicator then has the sites that are left, or, at all sites alike, it has
 * still one of the dead and its calls fail.
 *
 * When the future completes, *ret_comm holds the endpoint with one reference, which the caller
 * gives back with cohort_comm_unref. On failure it is untouched. It has to stay valid until then.
 * Errors as of cohort_comm_agree. */
COHORT_API cohort_future *cohort_comm_shrink(cohort_comm **ret_comm,
                                             cohort_comm *comm) COHORT_MUST_USE;

/* The sites of COMM whose localities have died, as far as this locality knows: in the order of the
 * deaths, sites of one locality in theirs. Writes the first CAPACITY of them to RET_SITES, which
 * may be NULL if CAPACITY is 0, and returns how many there are. The order is the same everywhere,
 * so the first `num_failed` of what has been agreed on are known to all. Returns 0 without COMM. */
COHORT_API uint32_t cohort_comm_failed(cohort_comm *comm, uint32_t *ret_sites, uint32_t capacity);

/* Acknowledges the deaths of the first NUM sites that cohort_comm_failed gives; UINT32_MAX: of all
 * that are known here. From now on these deaths do not fail gets and probes from any site
 * (cohort/channel.h) at this site: they wait for the sites that live. The next death fails them
 * again. A get or a probe that is waiting while this is called may still fail. Sites of one
 * locality die together: if NUM is in the middle of them, none of them is acknowledged. What has
 * been acknowledged stays so. Returns how many sites are acknowledged now, 0 without COMM.
 *
 * Nothing else goes on: collectives, and gets from a dead site, fail as before. What a dead site
 * has set is still got by those who get from any site; if it was long, and had not been fetched,
 * that get fails with COHORT_ERR_PEER_DIED, and the message is used up. If no other site lives any
 * more that has not left, they fail with COHORT_ERR_GONE. */
COHORT_API uint32_t cohort_comm_acknowledge(cohort_comm *comm, uint32_t num);

/* Revokes COMM at all of its sites: all of its calls fail with COHORT_ERR_REVOKED and the name of
 * the site that has revoked it, those in flight and all later ones, collectives, sets, gets and
 * probes; and so do splits and dups of it that are not complete, in which some sites may already
 * have their new communicator. Those here, cohort_comm_idle and cohort_comm_unref work as before.
 * A buffer of a call is not touched when its future is complete, as ever. A call that is over, or
 * that gets its data at this time, may still succeed; one that is just being taken back
 * (cohort/call.h) may end with that error, and a set whose getter gives its endpoint back before
 * this locality hears of the revocation with COHORT_ERR_GONE.
 *
 * When the future completes, all later calls of this site fail, and all other sites will hear of
 * it, even if this locality dies. If COMM has been revoked before, by any site, nothing more
 * happens. Two sites that do so at once have both revoked it, and errors name one of them, the same
 * at all sites.
 *
 * COHORT_ERR_BAD_PARAMETER without a communicator, COHORT_ERR_NO_MEMORY, COHORT_ERR_CANCELLED when
 * the job ends, COHORT_ERR_PEER_DIED once a locality has died in a job that does not keep going. */
COHORT_API cohort_future *cohort_comm_revoke(cohort_comm *comm) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
