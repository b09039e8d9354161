/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_NET_OFI_ENDS_H
#define COHORT_TESTS_UNIT_RUNTIME_NET_OFI_ENDS_H

#include <sys/types.h>

#include "tests/unit/runtime/net/station.h"

/* Ends of ofi on the loopback interface. Two are in this process. One is in another process, which
 * runs this program with the argument "peer" and a socket to exchange addresses over. */

/* Its peers know it as NUMBER. */
void ofi_end_open(struct station *station, uint32_t number);
void ofi_end_know(struct station *station, uint32_t number, const struct station *other);

/* Two ends that know each other as 1 and 0; A drives both. */
void ofi_pair_open(struct station *a, struct station *b);
void ofi_pair_close(struct station *a, struct station *b);

/* What the peer process can be asked to do, as the first byte of a message. */
enum ofi_peer_order {
    OFI_PEER_ECHO = 1,
    OFI_PEER_EXPOSE,
    OFI_PEER_COUNT,
    OFI_PEER_REPORT,
    OFI_PEER_QUIT
};

/* Runs the peer process until it is told to quit. Returns the result for main(). */
int ofi_peer_main(void);

/* Starts the process, which becomes peer 1 of STATION. */
pid_t ofi_peer_start(struct station *station);
void ofi_peer_stop(struct station *station, pid_t pid);
void ofi_peer_kill(pid_t pid);

/* A block of BYTES bytes in the other process, filled with the pattern. */
struct cohort__net_token ofi_peer_block(struct station *station, size_t bytes);

/* The byte AT of the pattern. */
unsigned char ofi_pattern(size_t at);

/* BYTES bytes of fresh pages. */
void *ofi_mapping(size_t bytes);

/* A handler of messages: copies the message to the station's data. */
void ofi_remember(struct station *station, const struct cohort__net_message *message);

#endif
