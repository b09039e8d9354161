/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_IO_NAMES_H
#define COHORT_TESTS_UNIT_RUNTIME_IO_NAMES_H

#include <dlfcn.h>
#include <netdb.h>
#include <semaphore.h>
#include <string.h>

#include "tests/support/test.h"

/* What libuv and the library call instead of the C library's: names that no server has to know, and
 * that no server is asked for. */
static sem_t name_is_asked_for, name_may_be_found;

__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret_first)
{
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    bool is_name = !(hints->ai_flags & AI_NUMERICHOST) && host;
    if (is_name && strcmp(host, "none.test") == 0)
        return EAI_NONAME;
    if (is_name && strcmp(host, "slow.test") == 0) {
        sem_post(&name_is_asked_for);
        while (sem_wait(&name_may_be_found))
            ;
    }
    if (is_name && strcmp(host, "two.test") == 0) {
        int error = real("::1", service, hints, ret_first);
        return error ? error : real("127.0.0.1", service, hints, &(*ret_first)->ai_next);
    }
    CHECK(!is_name || strcmp(host, "slow.test") == 0 || strcmp(host, "one.test") == 0);
    return real(is_name ? "127.0.0.1" : host, service, hints, ret_first);
}

/* The one that waits goes on. */
static inline void let_name_be_found(void)
{
    sem_post(&name_may_be_found);
}

static inline void wait_for_asking(void)
{
    while (sem_wait(&name_is_asked_for))
        ;
}

#endif
