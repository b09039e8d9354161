/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_DESCRIPTORS_H
#define COHORT_RUNTIME_BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens those of descriptors 0, 1 and 2 that are closed, at /dev/null. So no other file gets one of
 * these numbers, and printed text can't go into such a file. Besides, libuv aborts the process if
 * it has to close one of these descriptors; now it never gets one. */
void cohort__descriptors_open_standard(void);

/* All BYTES from AT on, or to there. False: errno is set, or it is 0 since the file is shorter, or
 * takes no more. */
bool cohort__descriptor_read(int fd, void *buffer, size_t bytes, uint64_t at);
bool cohort__descriptor_write(int fd, const void *data, size_t bytes, uint64_t at);

/* The kernel lets as many travel with one message. */
enum { COHORT__DESCRIPTORS_MOST = 253 };

/* As sendmsg with FLAGS and MSG_NOSIGNAL: BYTES of DATA over SOCKET, and NUM descriptors with
 * them. */
ssize_t cohort__descriptors_send(int socket, const void *data, size_t bytes, const int *descriptors,
                                 unsigned num, int flags);

/* As recvmsg: up to BYTES into DATA, and up to *NUM descriptors, which are closed by exec. Sets
 * *NUM to how many have come: fewer than were sent, if this process may have no more. */
ssize_t cohort__descriptors_receive(int socket, void *data, size_t bytes, int *descriptors,
                                    unsigned *num);

#endif
