/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_CONTROL_H
#define COHORT_RUNTIME_LAUNCH_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/schema.h"

/* The control protocol between the launcher and its localities.
 *
 * Each locality inherits one end of a socket pair, whose descriptor is in COHORT_CONTROL_FD. (The
 * locality's rank and the job's size are also in COHORT_LOCALITY and COHORT_LOCALITIES, for
 * programs that don't use this protocol.) Messages have the form of loop/stream.h. Each is a
 * msgpack map with the field "kind" and these:
 *
 *   launcher -> locality
 *     WELCOME    version rank size key epoch workers sharing num_hosts host slot host_address
 *                keeps_going                                   waits in the socket from the start
 *     ADDRESSES  addresses                                     all have said HELLO
 *     COUNT      round                                         all have said FINISHED
 *     EXIT                                                     nothing is under way any more
 *     RETURNED   text                                          the answer to ASK_RETURNED: "0, 2-5"
 *     DIED       rank order text                               that one has ended without leaving,
 *                                                              as the ORDERth, from 1 on
 *   locality -> launcher
 *     HELLO      version pid address
 *     FINISHED                                                 its program has returned
 *     COUNTS     round sent received busy                      the answer to COUNT
 *     FAILED     text                                          why it is going to end
 *     ABORT      code text                                     it ends at once, and the job with it
 *     ASK_RETURNED                                             which programs have returned?
 *     ACCUSE     rank at_fault text                            that one (perhaps itself) can't go
 *                                                              on; not at fault: can't be reached
 *     BYE                                                      the answer to EXIT
 *
 *   both ways, only where the job keeps going: the launcher is the home of names then
 *     LETTER     letter                                        as in runtime/names/home.h
 *
 * A locality that ends between its HELLO and the launcher's EXIT has died, whatever its exit
 * status. One that says FAILED before its HELLO has used its WELCOME up and does not join: that
 * breaks the job, also if its process goes on. Only the launcher makes a locality dead; who can't
 * reach another one, or is sent nonsense by it, accuses it. If the job keeps going (cohortrun
 * --keep-going), the accused one is ended, and dead when its process has ended. Else its death is
 * told, and ends the job. When all localities have sent BYE, the launcher sends WELCOME with the
 * next epoch, for the next programs on the same connections (for example, a shell script starts two
 * programs one after the other). */
enum cohort__control_kind {
    COHORT__CONTROL_WELCOME = 1,
    COHORT__CONTROL_ADDRESSES,
    COHORT__CONTROL_COUNT,
    COHORT__CONTROL_EXIT,
    COHORT__CONTROL_DIED,
    COHORT__CONTROL_HELLO,
    COHORT__CONTROL_FINISHED,
    COHORT__CONTROL_COUNTS,
    COHORT__CONTROL_FAILED,
    COHORT__CONTROL_BYE,
    COHORT__CONTROL_ASK_RETURNED,
    COHORT__CONTROL_RETURNED,
    COHORT__CONTROL_ACCUSE,
    COHORT__CONTROL_LETTER,
    COHORT__CONTROL_ABORT,
    COHORT__CONTROL_NUM_KINDS
};

enum {
    COHORT__CONTROL_VERSION = 9,
    COHORT__CONTROL_MAX_LOCALITIES = 4096,
    COHORT__CONTROL_MAX_ADDRESS = 1024,
    COHORT__CONTROL_MAX_HOST_ADDRESS = 80, /* in digits, including the NUL */
    COHORT__CONTROL_MAX_TEXT = 4096,
    COHORT__CONTROL_MAX_MESSAGE = 8 << 20,
};

/* A message. The kind says which of the fields are used. */
struct cohort__control {
    enum cohort__control_kind kind;
    uint32_t version;
    uint32_t rank;
    uint32_t size;
    uint32_t order;
    uint32_t code; /* of an ABORT: 1 to 255 */
    uint32_t epoch;
    uint32_t workers; /* 0: the locality may choose */
    uint32_t sharing; /* number of localities on this one's host */
    uint32_t num_hosts;
    uint32_t host;            /* this one's host, below num_hosts */
    uint32_t slot;            /* place among those of the host, whose ranks are consecutive */
    const char *host_address; /* at which other hosts reach this one */
    uint64_t key;
    uint64_t pid;
    struct cohort__bytes address;
    struct cohort__bytes letter;
    const struct cohort__bytes *addresses; /* `size` addresses, by rank */
    uint64_t round;
    uint64_t sent;
    uint64_t received;
    bool busy;
    bool keeps_going; /* the job goes on without localities that die */
    bool at_fault;    /* who is accused, not the link to it */
    const char *text;
};

/* "WELCOME" and so on, or "unknown". */
const char *cohort__control_kind_name(enum cohort__control_kind kind);

/* Appends CONTROL to PACKER. PACKER's status tells whether that has succeeded. */
void cohort__control_pack(struct cohort__packer *packer, const struct cohort__control *control);

/* Reads one message of FROM ("locality 3"), and calls FUNCTION with it. All that CONTROL points to
 * is valid until FUNCTION returns. Returns COHORT_ERR_PROTOCOL if the message is not valid,
 * COHORT_ERR_NO_MEMORY, or what FUNCTION returns. */
cohort_status cohort__control_read(const void *message, size_t bytes, const char *from,
                                   cohort_status (*function)(void *context,
                                                             const struct cohort__control *control),
                                   void *context);

#endif
