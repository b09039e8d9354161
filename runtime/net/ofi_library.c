/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/log.h"
#include "runtime/net/ofi_descriptors.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static struct cohort__ofi_library library;

/* Debian's libfabric brings libinfinipath and libpsm2, whose constructors catch INT, TERM, SEGV and
 * others in order to print a backtrace. These signals are for the program to handle. Signals that
 * arrive before the program's handlers are restored stay blocked until then. */
struct signals {
    sigset_t mask;
    struct sigaction actions[NSIG];
};

static void signals_save(struct signals *signals)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &signals->mask);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, NULL, &signals->actions[s]);
}

static void signals_restore(const struct signals *signals)
{
    for (int s = 1; s < NSIG; s++) {
        struct sigaction now;
        if (sigaction(s, NULL, &now) == 0 && now.sa_sigaction != signals->actions[s].sa_sigaction)
            sigaction(s, &signals->actions[s], NULL);
    }
    pthread_sigmask(SIG_SETMASK, &signals->mask, NULL);
}

/* The providers read their parameters from the environment, once, when the first function that
 * needs them is called. There is no other way to pass them. Parameters that the user has set are
 * kept. */
static const struct parameter {
    const char *name;
    const char *value;
} parameters[] = {
    /* ofi_rxm takes 68 MB for its own receive buffers, whatever an endpoint asks for. With 128 it
     * takes 17 MB. */
    {"FI_OFI_RXM_MSG_RX_SIZE", "128"},
    /* Microseconds between its checks for connection events. With its default of 10000, making a
     * connection takes 30 ms. */
    {"FI_OFI_RXM_CM_PROGRESS_INTERVAL", "500"},
};
enum { NUM_PARAMETERS = sizeof parameters / sizeof parameters[0] };

static void providers_start(void *handle)
{
    int (*getparams)(struct fi_param **, int *) = dlsym(handle, "fi_getparams");
    void (*freeparams)(struct fi_param *) = dlsym(handle, "fi_freeparams");
    bool ours[NUM_PARAMETERS];
    if (!getparams || !freeparams)
        return;
    for (int i = 0; i < NUM_PARAMETERS; i++) {
        ours[i] = !getenv(parameters[i].name);
        if (ours[i])
            setenv(parameters[i].name, parameters[i].value, 0);
    }
    struct fi_param *params = NULL;
    int num_params = 0;
    if (getparams(&params, &num_params) == 0)
        freeparams(params);
    for (int i = 0; i < NUM_PARAMETERS; i++)
        if (ours[i])
            unsetenv(parameters[i].name);
}

/* The third number of the version is only in its text. 0 where the text is not as expected. */
static uint32_t find_revision(void *handle)
{
    char *(*tostr)(const void *, enum fi_type) = dlsym(handle, "fi_tostr");
    const uint64_t unused = 0;
    const char *text = tostr ? tostr(&unused, FI_TYPE_VERSION) : NULL;
    unsigned revision = 0;
    return text && sscanf(text, "%*u.%*u.%u", &revision) == 1 ? revision : 0;
}

const char *cohort__ofi_library_provider(uint32_t version, uint32_t revision)
{
    const uint32_t merged = FI_VERSION(1, 18); /* 1.18.0: never lets a waiting thread sleep */
    if (version == FI_VERSION(1, 17))
        return "net";
    bool has_native = FI_VERSION_GE(version, merged) && (version != merged || revision >= 1);
    return has_native ? "tcp" : COHORT__OFI_OLD_PROVIDER;
}

/* The structs that are passed are allocated by the library itself (dupinfo), and newer versions
 * only append fields to them. So the default symbols are right. A library that is older than the
 * headers is refused. */
static cohort_status bind_symbols(void *handle)
{
    uint32_t (*version)(void) = dlsym(handle, "fi_version");
    library.getinfo = dlsym(handle, "fi_getinfo");
    library.freeinfo = dlsym(handle, "fi_freeinfo");
    library.dupinfo = dlsym(handle, "fi_dupinfo");
    library.fabric = dlsym(handle, "fi_fabric");
    library.strerror = dlsym(handle, "fi_strerror");
    if (!version || !library.getinfo || !library.freeinfo || !library.dupinfo || !library.fabric ||
        !library.strerror)
        return cohort_fail(COHORT_ERR_NOT_SUPPORTED, "libfabric.so.1 lacks a function: %s",
                           dlerror());
    library.version = version();
    library.revision = find_revision(handle);
    if (FI_VERSION_LT(library.version, FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)))
        return cohort_fail(COHORT_ERR_NOT_SUPPORTED,
                           "libfabric is version %u.%u, but %u.%u was there when this was built",
                           FI_MAJOR(library.version), FI_MINOR(library.version), FI_MAJOR_VERSION,
                           FI_MINOR_VERSION);
    return COHORT_OK;
}

static cohort_status load(void)
{
    static struct signals signals; /* under the lock; large */
    signals_save(&signals);
    void *handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    cohort_status st =
        handle ? bind_symbols(handle)
               : cohort_fail(COHORT_ERR_NOT_SUPPORTED, "libfabric can't be loaded: %s", dlerror());
    if (st == COHORT_OK && !cohort__ofi_descriptors_close_on_exec(handle))
        cohort__log(COHORT__LOG_INFO, "net: programs that tasks start inherit libfabric's sockets");
    if (st == COHORT_OK)
        providers_start(handle);
    signals_restore(&signals);
    return st;
}

cohort_status cohort__ofi_library_load(const struct cohort__ofi_library **ret_library)
{
    cohort_status st = COHORT_OK;
    pthread_mutex_lock(&lock);
    if (!loaded) {
        st = load();
        loaded = st == COHORT_OK;
    }
    pthread_mutex_unlock(&lock);
    if (st == COHORT_OK)
        *ret_library = &library;
    return st;
}
