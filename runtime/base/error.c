/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/slab.h"
#include "runtime/base/text.h"

struct cohort__error_text {
    _Atomic uint32_t refs;
    char text[];
};

/* With initial-exec, no function call is needed to get the address. */
static _Thread_local struct cohort__error own_slot __attribute__((tls_model("initial-exec")));
static _Thread_local struct cohort__error *current_slot __attribute__((tls_model("initial-exec")));
static _Thread_local bool own_slot_is_watched __attribute__((tls_model("initial-exec")));
static pthread_key_t thread_end_key;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;
static bool thread_end_key_exists;

static struct cohort__error_text *text_create(const char *message)
{
    size_t bytes = strlen(message) + 1;
    struct cohort__error_text *text = cohort__slab_alloc(sizeof(*text) + bytes);
    if (!text)
        return NULL;
    atomic_init(&text->refs, 1);
    memcpy(text->text, message, bytes);
    return text;
}

void cohort__error_text_unref(struct cohort__error_text *text)
{
    if (text && atomic_fetch_sub_explicit(&text->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(text);
}

static void thread_end(void *slot)
{
    own_slot_is_watched = false;
    cohort__error_fini(slot);
}

static void thread_end_init(void)
{
    thread_end_key_exists = pthread_key_create(&thread_end_key, thread_end) == 0;
}

/* Makes sure that the text of the thread's own slot is freed when the thread ends. */
__attribute__((noinline)) static void watch_if_own(const struct cohort__error *slot)
{
    if (slot != &own_slot || own_slot_is_watched)
        return;
    pthread_once(&thread_end_once, thread_end_init);
    own_slot_is_watched = true;
    if (thread_end_key_exists)
        pthread_setspecific(thread_end_key, &own_slot);
}

/* A message that has more bytes than there is room for. Without memory for all of it, its end is
 * missing, as it is by now. */
__attribute__((noinline)) static void shorten(char message[COHORT__ERROR_BYTES], size_t bytes,
                                              const char *format, va_list args)
{
    char *whole = malloc(bytes + 1);
    if (whole && vsnprintf(whole, bytes + 1, format, args) == (int)bytes)
        cohort__text_shorten(message, COHORT__ERROR_BYTES, whole, bytes);
    free(whole);
}

cohort_status cohort__error_vset(struct cohort__error *error, cohort_status status,
                                 const char *format, va_list args)
{
    int saved_errno = errno;
    char message[COHORT__ERROR_BYTES];
    va_list args_again;
    va_copy(args_again, args);
    int bytes = vsnprintf(message, sizeof(message), format, args);
    if (bytes < 0)
        snprintf(message, sizeof(message), "%s", cohort_status_text(status));
    else if (bytes >= COHORT__ERROR_BYTES)
        shorten(message, (size_t)bytes, format, args_again);
    va_end(args_again);
    watch_if_own(error);
    cohort__error_text_unref(error->text);
    error->status = status;
    error->text = text_create(message);
    errno = saved_errno;
    return status;
}

cohort_status cohort__error_set(struct cohort__error *error, cohort_status status,
                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cohort__error_vset(error, status, format, args);
    va_end(args);
    return status;
}

void cohort__error_copy(struct cohort__error *target, const struct cohort__error *source)
{
    struct cohort__error copy = *source; /* source may be target */
    if (copy.text)
        atomic_fetch_add_explicit(&copy.text->refs, 1, memory_order_relaxed);
    watch_if_own(target);
    cohort__error_text_unref(target->text);
    *target = copy;
}

const char *cohort__error_message(const struct cohort__error *error)
{
    if (error->text)
        return error->text->text;
    return error->status == COHORT_OK ? "" : cohort_status_text(error->status);
}

/* Not inlined: this way, an address of the thread stays in this file, whose functions never go on
 * in another thread. See fiber.h. */
__attribute__((noinline)) struct cohort__error *cohort__error_slot(void)
{
    return current_slot ? current_slot : &own_slot;
}

struct cohort__error *cohort__error_slot_set(struct cohort__error *slot)
{
    struct cohort__error *previous = current_slot;
    current_slot = slot;
    return previous;
}

const char *cohort_error_message(void)
{
    return cohort__error_message(cohort__error_slot());
}

cohort_status cohort_fail(cohort_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cohort__error_vset(cohort__error_slot(), status, format, args);
    va_end(args);
    return status;
}

/* --- status --- */

struct description {
    const char *name;
    const char *text;
};

static const struct description descriptions[] = {
    [-COHORT_OK] = {"COHORT_OK", "success"},
    [-COHORT_ERR_BAD_PARAMETER] = {"COHORT_ERR_BAD_PARAMETER", "an argument can't be right"},
    [-COHORT_ERR_NO_MEMORY] = {"COHORT_ERR_NO_MEMORY", "memory or another resource ran out"},
    [-COHORT_ERR_NOT_SUPPORTED] = {"COHORT_ERR_NOT_SUPPORTED", "not supported here"},
    [-COHORT_ERR_GENERATION] = {"COHORT_ERR_GENERATION",
                                "the generation is not above the last one"},
    [-COHORT_ERR_MISMATCH] = {"COHORT_ERR_MISMATCH", "sites disagree"},
    [-COHORT_ERR_DUPLICATE_SITE] = {"COHORT_ERR_DUPLICATE_SITE", "a site joined twice"},
    [-COHORT_ERR_WRONG_ROLE] = {"COHORT_ERR_WRONG_ROLE", "the call is not for this site's role"},
    [-COHORT_ERR_MOVED_PAST] = {"COHORT_ERR_MOVED_PAST", "a peer skipped this generation"},
    [-COHORT_ERR_GONE] = {"COHORT_ERR_GONE", "a peer has left"},
    [-COHORT_ERR_CANCELLED] = {"COHORT_ERR_CANCELLED", "ended before it was complete"},
    [-COHORT_ERR_PEER_DIED] = {"COHORT_ERR_PEER_DIED", "a locality died"},
    [-COHORT_ERR_NETWORK] = {"COHORT_ERR_NETWORK", "the transport failed"},
    [-COHORT_ERR_PROTOCOL] = {"COHORT_ERR_PROTOCOL", "received bytes make no sense"},
    [-COHORT_ERR_SYSTEM] = {"COHORT_ERR_SYSTEM", "a system call failed"},
    [-COHORT_ERR_TIMEOUT] = {"COHORT_ERR_TIMEOUT", "the deadline passed"},
    [-COHORT_ERR_STATE] = {"COHORT_ERR_STATE", "not possible at this time"},
    [-COHORT_ERR_FAILED] = {"COHORT_ERR_FAILED", "failed"},
    [-COHORT_ERR_REVOKED] = {"COHORT_ERR_REVOKED", "the communicator was revoked"},
};

static const struct description *describe(cohort_status status)
{
    static const struct description unknown = {"unknown status", "unknown status"};
    /* Goes through long long, since the enum may be unsigned, and the most negative int can't be
     * negated. */
    long long index = -(long long)(int)status;
    if (index < 0 || index >= (long long)(sizeof(descriptions) / sizeof(descriptions[0])))
        return &unknown;
    return &descriptions[index];
}

const char *cohort_status_name(cohort_status status)
{
    return describe(status)->name;
}

const char *cohort_status_text(cohort_status status)
{
    return describe(status)->text;
}
