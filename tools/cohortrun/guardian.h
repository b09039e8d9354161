/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the process above a program, which ends all that the program leaves behind. */
#ifndef COHORT_TOOLS_COHORTRUN_GUARDIAN_H
#define COHORT_TOOLS_COHORTRUN_GUARDIAN_H

#include <stdint.h>

#include "tools/cohortrun/oom.h"

/* Between cohortrun and each program is a guardian: cohortrun's own binary in a process of its own,
 * out of reach of the terminal. It is the program's parent. It makes sure that nothing of the
 * program remains: neither when the program ends, nor when cohortrun ends, in whatever way. It
 * holds one end of a socket pair, so the kernel tells it of cohortrun's end, even of one before its
 * own start.
 *
 * The program is in a process group of its own, so a signal that it sends to its group (kill 0)
 * doesn't reach the guardian. If the guardian is killed, the kernel kills the program, and
 * cohortrun inherits what else remains. */

/* Descriptors that it is started with. All except the link are the program's, too. So are those of
 * the hub (runtime/net/hub.h), which come after these, and the ledger (runtime/base/ledger.h).
 * Those before the link are /dev/null until the program's own arrive. */
enum {
    GUARDIAN_FD_CONTROL = 3, /* the control connection, see runtime/launch/control.h */
    GUARDIAN_FD_LINK = 4,    /* to cohortrun */
    GUARDIAN_NUM_FDS = 5,
};

/* args[0], by which it knows that it is a guardian. args[1]: the program's limit of open
 * descriptors. args[2]..: the program. */
#define GUARDIAN_NAME "cohort-guardian"

/* First, one byte comes on the link, with the program's descriptors 0 to GUARDIAN_FD_CONTROL, and
 * the program starts. If the link ends before that, the guardian ends without a report.
 *
 * From then on, messages have the form of runtime/loop/stream.h. To the guardian: one byte, which
 * is a signal for the program's group; SIGKILL means everything. To cohortrun: one struct
 * report. */
enum report_kind {
    REPORT_STARTED, /* value: the program's pid; REPORT_FAILED may still follow */
    REPORT_FAILED,  /* it could not be started; value: errno */
    REPORT_ENDED,   /* value: as from waitpid; nothing of it remains */
};

struct report {
    uint32_t kind;
    int32_t value;
    char oom[OOM_TEXT_BYTES]; /* REPORT_ENDED: that the kernel may have killed it; or empty */
};

int guardian_main(int argc, char **argv);

#endif
