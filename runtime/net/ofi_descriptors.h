/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_DESCRIPTORS_H
#define COHORT_RUNTIME_NET_OFI_DESCRIPTORS_H

#include <stdbool.h>

/* libfabric opens its sockets and epolls without close-on-exec, and has no option for that. A
 * program that a task starts would have them, too. If it outlived its locality, that would look
 * alive to the others: its port would listen still, and no connection would have ended. Nor can the
 * flag be set afterwards: it opens them whenever a peer connects, and another thread may start a
 * program at any time.
 *
 * So the calls by which libfabric opens descriptors are led here, where the flag is added: in the
 * table of addresses that the dynamic linker has made for libfabric. Nobody else's calls change. */

/* HANDLE is that of dlopen, which has bound all calls (RTLD_NOW). To be called before any other
 * function of it. False: the table is not as expected, so children inherit. */
bool cohort__ofi_descriptors_close_on_exec(void *handle);

#endif
