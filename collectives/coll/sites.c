/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/sites.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/coll/comm_create.h"
#include "collectives/comm/commons.h"
#include "runtime/base/error.h"
#include "runtime/base/options.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"

static const char function_name[] = "cohort_sites";

/* A call, in this locality. It travels with its task. */
struct sites {
    struct cohort__process *process;
    cohort_site_function *function;
    void *arg;
    cohort_comm_options options; /* of each, but for this_site */
    uint32_t first;
    uint32_t num_here;
    cohort_scope *scope;
    char texts[]; /* the name, and the algorithms, which may be "" */
};

struct site {
    const struct sites *sites;
    uint32_t index;
};

/* Whether TEXT begins by naming a site, or communicator, as many errors of the library do. */
static bool names_site(const char *text)
{
    static const char site[] = "site ", communicator[] = "communicator \"";
    return strncmp(text, site, sizeof(site) - 1) == 0 ||
           strncmp(text, communicator, sizeof(communicator) - 1) == 0;
}

/* The scope learns of the error before others get to feel that the endpoint is gone. */
static void fail(const struct site *site, cohort_status status)
{
    const struct sites *sites = site->sites;
    const char *why = cohort__error_slot()->status == status ? cohort_error_message()
                                                             : cohort_status_text(status);
    if (names_site(why))
        cohort_scope_fail(sites->scope, status, "%s", why);
    else
        cohort_scope_fail(sites->scope, status, "site %" PRIu32 " of \"%.60s\": %s", site->index,
                          sites->texts, why);
}

static cohort_status run_site(void *arg)
{
    const struct site *site = arg;
    const struct sites *sites = site->sites;
    cohort_comm_options options = sites->options;
    cohort_comm *comm = NULL;
    options.this_site = site->index;
    cohort_status status =
        cohort_await(cohort__comm_create_for(sites->process, &comm, sites->texts, &options));
    if (!status)
        status = sites->function(comm, sites->arg);
    if (status)
        fail(site, status);
    cohort_comm_unref(comm);
    return status;
}

/* The others may wait for this site. So it joins also if its scope is cancelled by now, which tells
 * them that it can't take part. */
static void start_site(const struct sites *sites, uint32_t index)
{
    const struct site site = {.sites = sites, .index = index};
    cohort_future *future = cohort__task_start_carrying(
        sites->scope, COHORT__TASK_FAILS_SCOPE | COHORT__TASK_RUNS_CANCELLED, run_site,
        (cohort__any_function *)sites->function, &site, sizeof(site));
    if (!cohort_future_ready(future)) {
        cohort_future_unref(future);
        return;
    }
    cohort_status status = cohort_await(future);
    if (status) /* perhaps it could not be started */
        fail(&site, status);
}

static cohort_status run(void *arg)
{
    struct sites *sites = arg;
    sites->options.algorithms = sites->texts + strlen(sites->texts) + 1;
    cohort_status status =
        sites->num_here > 0 ? cohort_scope_create(NULL, &sites->scope) : COHORT_OK;
    if (status || sites->num_here == 0)
        return status;
    for (uint32_t i = 0; i < sites->num_here; i++)
        start_site(sites, sites->first + i);
    return cohort_scope_await(sites->scope);
}

/* How many sites there are, and which of them are here. */
static cohort_status divide(const cohort_sites_options *options, struct sites *sites)
{
    uint32_t size = cohort__process_size(sites->process);
    uint32_t rank = cohort__process_rank(sites->process);
    uint64_t each = options->sites_per_locality ? options->sites_per_locality : 1;
    uint64_t num = options->num_sites ? options->num_sites : each * size;
    if (options->num_sites && options->sites_per_locality)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: num_sites is %" PRIu32 " and sites_per_locality %" PRIu32
                           ": one of them has to be 0",
                           function_name, options->num_sites, options->sites_per_locality);
    if (num > INT32_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %" PRIu64 " sites are too many",
                           function_name, num);
    uint32_t share = (uint32_t)(num / size), rest = (uint32_t)(num % size);
    sites->options.num_sites = (uint32_t)num;
    sites->first = rank * share + (rank < rest ? rank : rest);
    sites->num_here = share + (rank < rest);
    return COHORT_OK;
}

static cohort_status read_comm(const cohort_sites_options *options, size_t bytes,
                               cohort_comm_options *ret_comm)
{
    cohort_comm_options read = {0};
    if (options->comm &&
        cohort__options_read(&read, sizeof(read), options->comm, bytes, "cohort_comm_options"))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", function_name,
                           cohort_error_message());
    if (read.num_sites || read.this_site)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: comm->%s is %" PRIu32 ": it has to be 0, as each site has its own",
                           function_name, read.num_sites ? "num_sites" : "this_site",
                           read.num_sites ? read.num_sites : read.this_site);
    *ret_comm = read;
    return COHORT_OK;
}

static cohort_status check(const char *name, cohort_site_function *function,
                           const cohort_sites_options *options, size_t options_bytes,
                           cohort_sites_options *ret_options)
{
    size_t length = name ? strlen(name) : 0;
    if (!function || length == 0 || length > 255)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", function_name,
                           !function ? "no function"
                           : !name   ? "no name"
                                     : "a name has 1 to 255 bytes");
    if (options && cohort__options_read(ret_options, sizeof(*ret_options), options, options_bytes,
                                        "cohort_sites_options"))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", function_name,
                           cohort_error_message());
    return COHORT_OK;
}

static cohort_future *start(const struct sites *call, const char *name)
{
    const char *algorithms = call->options.algorithms ? call->options.algorithms : "";
    size_t name_bytes = strlen(name) + 1, algorithms_bytes = strlen(algorithms) + 1;
    size_t bytes = sizeof(*call) + name_bytes + algorithms_bytes;
    struct sites *sites = cohort__slab_alloc(bytes);
    if (!sites)
        return cohort__future_no_memory();
    *sites = *call;
    memcpy(sites->texts, name, name_bytes);
    memcpy(sites->texts + name_bytes, algorithms, algorithms_bytes);
    cohort_future *future =
        cohort__task_start_carrying(cohort__scope_current(), COHORT__TASK_RUNS_CANCELLED, run,
                                    (cohort__any_function *)call->function, sites, bytes);
    cohort__slab_free(sites);
    return future;
}

cohort_future *cohort__sites_for(struct cohort__process *process, const char *name,
                                 const cohort_sites_options *options, size_t options_bytes,
                                 size_t comm_bytes, cohort_site_function *function, void *arg)
{
    struct sites call = {.process = process, .function = function, .arg = arg};
    cohort_sites_options read = {0};
    cohort_status status = check(name, function, options, options_bytes, &read);
    if (!status && !process)
        status = cohort__scheduler_refuse(function_name);
    if (!status)
        status = read_comm(&read, comm_bytes, &call.options);
    if (!status)
        status = divide(&read, &call);
    return status ? cohort__future_of_status(status, cohort__error_slot()) : start(&call, name);
}

cohort_future *cohort_sites_sized(const char *name, const cohort_sites_options *options,
                                  size_t options_bytes, size_t comm_bytes,
                                  cohort_site_function *function, void *arg)
{
    bool is_up = cohort__scheduler_hold();
    cohort_future *future = cohort__sites_for(is_up ? cohort__process_current() : NULL, name,
                                              options, options_bytes, comm_bytes, function, arg);
    cohort__scheduler_release();
    return future;
}
