/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_STAGE_H
#define COHORT_TESTS_CROSS_STAGE_H

#include "tests/cross/play.h"

/* Where the localities of a program are: all in one process (stage.c), or each in a process of its
 * own, which cohortrun has started (tests/multi/cross_member.c). */

/* Call it in a task. */
void stage_begin(const struct program *program);

/* What all localities share, with nothing in it at first. */
struct facts *stage_facts(void);

/* Call it in a task, when all endpoints have been released. */
void stage_end(void);

/* Whether LOCALITY is in this process. */
bool stage_has(uint32_t locality);

/* As the public functions of these names, called in LOCALITY, which is in this process. */
cohort_future *stage_create_comm(uint32_t locality, cohort_comm **ret_comm, const char *name,
                                 const cohort_comm_options *options);
cohort_future *stage_async_at(uint32_t locality, uint32_t to, const char *name,
                              const cohort_object *in, cohort_object *ret_out);
cohort_future *stage_async_everywhere(uint32_t locality, const char *name, const cohort_object *in,
                                      cohort_object *ret_out);
cohort_future *stage_sites(uint32_t locality, const char *name, const cohort_sites_options *options,
                           cohort_site_function *function, void *arg);
uint32_t stage_failed_localities(uint32_t locality, uint32_t *ret_ranks, uint32_t capacity);
cohort_status stage_scope_async_at(uint32_t locality, cohort_scope *scope, uint32_t to,
                                   const char *name, const cohort_object *in);

void *stage_memory_alloc(uint32_t locality, size_t bytes);
void stage_memory_free(uint32_t locality, void *memory);
cohort_status stage_memory_share(uint32_t locality, cohort_memory_handle *ret_handle,
                                 const void *memory, size_t bytes);
cohort_future *stage_memory_get(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, void *to, size_t bytes);
cohort_future *stage_memory_put(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, const void *from, size_t bytes);
cohort_future *stage_memory_add(uint32_t locality, const cohort_memory_handle *handle,
                                size_t offset, uint64_t value, uint64_t *ret_before);

/* LOCALITY dies. Nothing if it has. */
void stage_kill(uint32_t locality);

/* What PROGRAM has of a link that is lost, is lost from now on. Only on simulated machines. */
void stage_lose_link(void);

/* The localities that have died, or are just about to, a bit each. */
uint32_t stage_dead(void);

#endif
