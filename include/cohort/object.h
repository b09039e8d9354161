/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_OBJECT_H
#define COHORT_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a length that only their owner knows. */
typedef struct cohort_object {
    void *data; /* may be NULL if bytes is 0 */
    size_t bytes;
} cohort_object;

/* Frees the data, which must come from the library or from malloc, and empties the object, so that
 * a second call does nothing. NULL is fine. Any thread; never suspends. */
COHORT_API void cohort_object_fini(cohort_object *object);

/* cohort_object_fini for COUNT objects in an array. The array itself is not freed. */
COHORT_API void cohort_objects_fini(cohort_object *objects, size_t count);

/* An object for a site, or from one. */
typedef struct cohort_site_object {
    uint32_t site;
    cohort_object object;
} cohort_site_object;

typedef struct cohort_site_objects {
    cohort_site_object *list; /* NULL if num is 0 */
    size_t num;
} cohort_site_objects;

/* Frees the objects of the list and the list itself, which must come from the library, and leaves
 * it empty. NULL is fine. Any thread; never suspends. */
COHORT_API void cohort_site_objects_fini(cohort_site_objects *objects);

#ifdef __cplusplus
}
#endif

#endif
