/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/functions.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/task/fork.h"

enum { NAME_BYTES_MAX = 255 };

static struct {
    pthread_mutex_t lock;
    struct cohort__map by_name;
    bool is_begun;
    bool is_sealed;
} functions = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t cohort__remote_hash(const char *name)
{
    return cohort__hash_u64(cohort__hash_bytes(name, strlen(name)));
}

const struct cohort__remote_function *cohort__remote_function_find(uint64_t hash)
{
    if (!functions.is_begun)
        return NULL;
    struct cohort__map_node *node = cohort__map_find(&functions.by_name, hash, NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__remote_function, node) : NULL;
}

cohort_status cohort__remote_function_call(const struct cohort__remote_function *function,
                                           struct cohort__process *process, const cohort_object *in,
                                           cohort_object *ret_out)
{
    cohort_object out = {0};
    cohort_status status =
        function->function(in, &out, function->is_own ? (void *)process : function->context);
    if (cohort__fork_is_child())
        return status;
    bool is_in = out.data == in->data;
    size_t most = !out.data ? 0 : is_in ? in->bytes : PTRDIFF_MAX;
    if (!status && out.bytes > most)
        status =
            cohort_fail(COHORT_ERR_BAD_PARAMETER,
                        "the function has returned %zu bytes where there are %zu", out.bytes, most);
    if (!status) {
        *ret_out = out;
        return COHORT_OK;
    }
    if (!is_in)
        cohort_object_fini(&out);
    return cohort__error_slot()->status == status
               ? status
               : cohort_fail(status, "%s", cohort_status_text(status));
}

static void set_sealed(bool is_sealed)
{
    pthread_mutex_lock(&functions.lock);
    functions.is_sealed = is_sealed;
    pthread_mutex_unlock(&functions.lock);
}

void cohort__remote_functions_seal(void)
{
    set_sealed(true);
}

void cohort__remote_functions_unseal(void)
{
    set_sealed(false);
}

/* With the lock held. Takes MADE on success. */
static cohort_status add(struct cohort__remote_function *made, uint64_t hash)
{
    if (functions.is_sealed && !made->is_own)
        return cohort_fail(COHORT_ERR_STATE,
                           "cohort_remote_register: \"%s\": the runtime is up already", made->name);
    const struct cohort__remote_function *other = cohort__remote_function_find(hash);
    if (other)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_remote_register: \"%s\" is registered already%s%s", made->name,
                           strcmp(other->name, made->name) ? ", in effect, as " : "",
                           strcmp(other->name, made->name) ? other->name : "");
    if (!functions.is_begun)
        cohort__map_init(&functions.by_name);
    functions.is_begun = true;
    cohort__map_insert(&functions.by_name, &made->node, hash);
    return COHORT_OK;
}

static cohort_status make(const char *name, cohort_remote_function *function, void *context,
                          bool is_own)
{
    size_t bytes = strlen(name);
    struct cohort__remote_function *made = malloc(sizeof(*made) + bytes + 1);
    if (!made)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_remote_register: no memory for \"%s\"",
                           name);
    made->function = function;
    made->context = context;
    made->is_own = is_own;
    memcpy(made->name, name, bytes + 1);
    pthread_mutex_lock(&functions.lock);
    cohort_status status = add(made, cohort__remote_hash(name));
    pthread_mutex_unlock(&functions.lock);
    if (status)
        free(made);
    return status;
}

cohort_status cohort_remote_register(const char *name, cohort_remote_function *function,
                                     void *context)
{
    if (!name || !function)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_remote_register: no %s",
                           name ? "function" : "name");
    size_t bytes = strlen(name);
    if (bytes == 0 || bytes > NAME_BYTES_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_remote_register: a name of %zu bytes; 1 to %d are possible",
                           bytes, NAME_BYTES_MAX);
    if (strncmp(name, "cohort_", strlen("cohort_")) == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_remote_register: \"%s\": names that begin with \"cohort_\" are "
                           "the library's",
                           name);
    return make(name, function, context, false);
}

cohort_status cohort__remote_register_own(const char *name, cohort_remote_function *function)
{
    pthread_mutex_lock(&functions.lock);
    const struct cohort__remote_function *other =
        cohort__remote_function_find(cohort__remote_hash(name));
    pthread_mutex_unlock(&functions.lock);
    return other && other->is_own ? COHORT_OK : make(name, function, NULL, true);
}
