/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/base/ledger_read.h"
#include "tools/cohortrun/status/look.h"

static double seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

static void print_worker(const struct look_worker *worker)
{
    fprintf(stderr, "worker %d: thread %" PRIu64 ", %c %s, turned its loop %.3f s ago%s\n",
            (int)worker->index, worker->thread, worker->state, worker->kernel_function,
            seconds(worker->age), worker->is_idle ? ", idle" : "");
}

static void print_inputs(const struct look *look, const struct look_inputs *inputs)
{
    if (!inputs)
        return;
    fprintf(stderr,
            inputs->scope ? ", the end of a scope with %" PRIu64 " tasks%.0" PRIu64
                          : ", a combinator of %" PRIu64 " inputs that wants %" PRIu64,
            inputs->num, inputs->wanted);
    for (uint32_t i = 0; i < inputs->num_listed; i++) {
        const struct look_wait *input = &look->listed[inputs->first + i];
        fprintf(stderr, ", %#" PRIx64 " of kind %d", input->what, (int)input->kind);
    }
}

static void print_wait(const struct look *look, const struct look_wait *wait)
{
    const struct look_pending *pending = look_find_pending(look, wait);
    fprintf(stderr,
            "task %#" PRIx64 " of function %#" PRIx64 ": waits for %#" PRIx64
            " of kind %d for %.3f s, called at %#" PRIx64 ", outer %#" PRIx64,
            wait->task, wait->function, wait->what, (int)wait->kind, seconds(wait->age),
            wait->caller, wait->outer);
    print_inputs(look, look_find_inputs(look, wait));
    if (pending)
        fprintf(stderr, ", that is %s %" PRIu64 " of site %u",
                pending->kind == COHORT__WAIT_GET   ? "get"
                : pending->kind == COHORT__WAIT_SET ? "set"
                                                    : "call",
                pending->number, pending->site);
    fprintf(stderr, "\n");
}

void state_print(void)
{
    int memory;
    uint32_t slot;
    struct look *look;
    if (cohort__ledger_find(getpid(), &memory, &slot) != COHORT_OK) {
        fprintf(stderr, "no ledger: %s\n", cohort_error_message());
        return;
    }
    cohort_status status = look_read(&look, memory, slot, getpid());
    close(memory);
    if (status != COHORT_OK) {
        fprintf(stderr, "the ledger can't be read: %s\n", cohort_error_message());
        return;
    }
    fprintf(stderr, "%" PRIu64 " tasks\n", look->num_tasks);
    for (uint32_t i = 0; i < look->num_workers; i++)
        print_worker(&look->workers[i]);
    for (uint32_t i = 0; i < look->num_sites; i++)
        fprintf(stderr, "site %u: task %#" PRIx64 ", generation %" PRIu64 "\n", look->sites[i].site,
                look->sites[i].task, look->sites[i].last_called);
    for (uint32_t i = 0; i < look->num_waits; i++)
        print_wait(look, &look->waits[i]);
    for (uint32_t i = 0; i < look->num_accounts; i++)
        fprintf(stderr, "generation %" PRIu64 " at site %u: %s\n", look->accounts[i].generation,
                look->accounts[i].site, look->accounts[i].text);
    look_destroy(look);
}
