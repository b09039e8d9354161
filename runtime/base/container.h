/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CONTAINER_H
#define COHORT_RUNTIME_BASE_CONTAINER_H

#include <stddef.h>

/* The object of TYPE whose MEMBER is at POINTER. A macro, since it takes a type. */
#define COHORT_CONTAINER_OF(pointer, type, member)                                                 \
    ((type *)((char *)(pointer)-offsetof(type, member)))

#endif
