/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TCP_H
#define COHORT_TCP_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/future.h"
#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* TCP for tasks: listen, accept, connect, read and write are futures, and a task that awaits one
 * suspends. They are done by the locality's event loop (cohort/uv.h); nothing is computed there.
 *
 * What all calls have in common:
 * - Any thread may make them, except for callbacks of a runtime that is ending; none suspends. They
 *   begin in the order in which one thread makes them.
 * - What a call is to fill in or to send, the buffer and what *ret_... is, belongs to the call
 * until its future completes, on failure too. Whoever drops the future has to know by other means
 * when that is. *ret_... is untouched on failure. Hosts are read before the call returns.
 * - When the scope of the calling task is cancelled (cohort/scope.h), a call that is under way ends
 *   with COHORT_ERR_CANCELLED, as soon as libuv has let go of its buffer, which is soon. What it
 *   leaves behind is said at each.
 * - A call does not keep the job from ending, if no task awaits it: it then ends with
 *   COHORT_ERR_CANCELLED. What the program has left open then is closed, and the log says so
 *   (COHORT_LOG=warn).
 * - Further errors are COHORT_ERR_BAD_PARAMETER (NULL, or no bytes to read), COHORT_ERR_STATE
 * (before the start or after the end of the runtime), COHORT_ERR_NO_MEMORY (also where the process
 * has no more descriptors, RLIMIT_NOFILE), COHORT_ERR_GONE (it was closed here, before the call or
 *   meanwhile) and COHORT_ERR_SYSTEM: what the system says. Messages have the address, and libuv's
 *   words with the name of the error, as "connection refused (ECONNREFUSED)".
 *
 * Addresses are IPv4 and IPv6, in numbers or as a host's name. A name is looked up by a thread of
 * libuv's own, of which there are four (UV_THREADPOOL_SIZE), which files use, too.
 *
 * The first connection lets the process ignore SIGPIPE, unless the program has a handler for it:
 * else a peer that goes away in the middle would end the program. */

/* --- connections --- */

/* One end of a connection. Reference-counted: connect and accept give the caller one reference, ref
 * takes one more and returns its argument, unref gives one back; NULL is fine for both. When the
 * last one is given back, the connection is closed. */
typedef struct cohort_tcp cohort_tcp;
COHORT_API cohort_tcp *cohort_tcp_ref(cohort_tcp *tcp);
COHORT_API void cohort_tcp_unref(cohort_tcp *tcp);

/* Connects to PORT of HOST. If HOST is a name that has several addresses, they are tried one after
 * the other; the error is that of the last one. There is no limit but the system's: who wants one
 * takes a scope with a limit. Data is sent at once (TCP_NODELAY). Cancelled: nothing is left. */
COHORT_API cohort_future *cohort_tcp_connect(const char *host, uint16_t port,
                                             cohort_tcp **ret_tcp) COHORT_MUST_USE;

/* Reads what has come, at least one byte and at most BYTES, and waits only if there is nothing.
 * *ret_bytes is how many; 0: the peer has ended its data, now and from now on. The system keeps
 * what nobody has asked for, and makes the peer wait. Several reads of one connection are served in
 * the order in which they began. Cancelled: no data is lost, and the next read gets it. */
COHORT_API cohort_future *cohort_tcp_read(cohort_tcp *tcp, void *buffer, size_t bytes,
                                          size_t *ret_bytes) COHORT_MUST_USE;

/* Writes all BYTES of DATA, which may be none. It completes when the system has them all, which
 * says nothing of the peer. Writes of one connection do not mix: each is sent as a whole, in the
 * order in which they began. Cancelled: if a part of it may have been sent already, the connection
 * is closed, as the peer can't make sense of what would follow. */
COHORT_API cohort_future *cohort_tcp_write(cohort_tcp *tcp, const void *data,
                                           size_t bytes) COHORT_MUST_USE;

/* Ends the data in this direction, after the writes that have begun: the peer reads it all, and
 * then 0 bytes. Reading goes on; writes fail from then on. It waits for those writes, not for the
 * peer. COHORT_OK also if it was done before. Cancelled while it waits: nothing is ended. */
COHORT_API cohort_future *cohort_tcp_shutdown(cohort_tcp *tcp) COHORT_MUST_USE;

/* Closes TCP, whoever else has references. Calls that are under way end with COHORT_ERR_GONE; what
 * they were to write may be lost, so await that first. Completes when nothing uses the descriptor
 * any more; COHORT_OK also if it was closed before. Not cancelled. The caller keeps its
 * reference. */
COHORT_API cohort_future *cohort_tcp_close(cohort_tcp *tcp) COHORT_MUST_USE;

/* The peer's address, as "127.0.0.1:8080" or "[::1]:8080". It stays as long as TCP. Any thread;
 * never suspends. NULL gives "". */
COHORT_API const char *cohort_tcp_peer(const cohort_tcp *tcp);

/* --- listeners --- */

/* Where connections come in. References as for a connection. */
typedef struct cohort_tcp_listener cohort_tcp_listener;
COHORT_API cohort_tcp_listener *cohort_tcp_listener_ref(cohort_tcp_listener *listener);
COHORT_API void cohort_tcp_listener_unref(cohort_tcp_listener *listener);

/* Listens at PORT of HOST, an address or a name of this machine; of several addresses that it may
 * have, the first that can be had is taken, and the error is that of the last one. HOST NULL: at
 * all addresses, IPv6 and IPv4. PORT 0: the system chooses one. Connections that nobody has
 * accepted wait in the kernel, as many as it allows (net.core.somaxconn); further ones wait at
 * their peers. Cancelled while it looks up a name only: nothing is left. */
COHORT_API cohort_future *cohort_tcp_listen(const char *host, uint16_t port,
                                            cohort_tcp_listener **ret_listener) COHORT_MUST_USE;

/* Waits for the next connection. Several are served in the order in which they began. Cancelled, or
 * failed because there is no memory or descriptor for it (COHORT_ERR_NO_MEMORY): no connection is
 * lost, and the next accept gets it. While there is no descriptor the next accept fails at once,
 * too: a loop of accepts has to wait after that error until some descriptor was given back, or for
 * a while. */
COHORT_API cohort_future *cohort_tcp_accept(cohort_tcp_listener *listener,
                                            cohort_tcp **ret_tcp) COHORT_MUST_USE;

/* As cohort_tcp_close. Connections that were accepted stay; those that wait in the kernel are
 * turned away. */
COHORT_API cohort_future *cohort_tcp_listener_close(cohort_tcp_listener *listener) COHORT_MUST_USE;

/* Its own address, written as cohort_tcp_peer does, and its port: the one that the system has
 * chosen if it was 0. Any thread; never suspends. NULL gives "" and 0. */
COHORT_API const char *cohort_tcp_listener_address(const cohort_tcp_listener *listener);
COHORT_API uint16_t cohort_tcp_listener_port(const cohort_tcp_listener *listener);

#ifdef __cplusplus
}
#endif

#endif
