/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/log.h"

/* Descriptors -------------------------------------------------------------------------------- */

/* libfabric opens its sockets and epolls without close-on-exec, and has no option for that. A
 * program that a task starts would have them, too. If it outlived its locality, that would look
 * alive to the others: its port would listen still, and no connection would have ended. Nor can the
 * flag be set afterwards: it opens them whenever a peer connects, and another thread may start a
 * program at any time.
 *
 * So the calls by which libfabric opens descriptors are led here, where the flag is added: in the
 * table of addresses that the dynamic linker has made for libfabric. Nobody else's calls change. */

static int open_socket(int domain, int type, int protocol)
{
    return socket(domain, type | SOCK_CLOEXEC, protocol);
}

static int open_pair(int domain, int type, int protocol, int *ret_fds)
{
    return socketpair(domain, type | SOCK_CLOEXEC, protocol, ret_fds);
}

static int open_accepted(int fd, struct sockaddr *ret_address, socklen_t *bytes)
{
    return accept4(fd, ret_address, bytes, SOCK_CLOEXEC);
}

static int open_accepted_with(int fd, struct sockaddr *ret_address, socklen_t *bytes, int flags)
{
    return accept4(fd, ret_address, bytes, flags | SOCK_CLOEXEC);
}

static int open_epoll(int size)
{
    (void)size;
    return epoll_create1(EPOLL_CLOEXEC);
}

static int open_epoll_with(int flags)
{
    return epoll_create1(flags | EPOLL_CLOEXEC);
}

static int open_pipe(int *ret_fds)
{
    return pipe2(ret_fds, O_CLOEXEC);
}

static int open_event(unsigned value, int flags)
{
    return eventfd(value, flags | EFD_CLOEXEC);
}

/* The functions, of whatever type. */
typedef void any_function(void);
static const struct opener {
    const char *name;
    any_function *function;
} openers[] = {
    {"socket", (any_function *)open_socket},
    {"socketpair", (any_function *)open_pair},
    {"accept", (any_function *)open_accepted},
    {"accept4", (any_function *)open_accepted_with},
    {"epoll_create", (any_function *)open_epoll},
    {"epoll_create1", (any_function *)open_epoll_with},
    {"pipe", (any_function *)open_pipe},
    {"eventfd", (any_function *)open_event},
};
enum { NUM_OPENERS = sizeof(openers) / sizeof(openers[0]) };

/* What the dynamic linker works by. */
struct object {
    uintptr_t base;
    uintptr_t constant, constant_end; /* what it has made read-only: pages */
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * tables[2]; /* of calls by the linkage table, and of all else */
    size_t sizes[2];              /* in bytes */
    bool is_found;
};

/* Of the entry with TAG, or 0. */
static ElfW(Addr) value_of(const ElfW(Dyn) * entry, int64_t tag)
{
    while (entry->d_tag != DT_NULL && entry->d_tag != tag)
        entry++;
    return entry->d_tag == DT_NULL ? 0 : entry->d_un.d_val;
}

/* Some machines keep the addresses as they are in the file. */
static const void *place_of(const struct object *object, const ElfW(Dyn) * dynamic, int64_t tag)
{
    ElfW(Addr) address = value_of(dynamic, tag);
    return (const void *)(address && address < object->base ? object->base + address : address);
}

static void read_dynamic(struct object *object, const ElfW(Dyn) * dynamic)
{
    object->symbols = place_of(object, dynamic, DT_SYMTAB);
    object->names = place_of(object, dynamic, DT_STRTAB);
    object->tables[0] = place_of(object, dynamic, DT_JMPREL);
    object->tables[1] = place_of(object, dynamic, DT_RELA);
    object->sizes[0] = value_of(dynamic, DT_PLTRELSZ);
    object->sizes[1] = value_of(dynamic, DT_RELASZ);
    object->is_found = object->symbols && object->names && value_of(dynamic, DT_PLTREL) == DT_RELA;
}

static int look_at(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct object *object = context;
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)bytes;
    if (info->dlpi_addr != object->base)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = object->base + header->p_vaddr;
        if (header->p_type == PT_DYNAMIC)
            dynamic = (const void *)begin;
        if (header->p_type == PT_GNU_RELRO) {
            object->constant = begin & ~(page - 1);
            object->constant_end = (begin + header->p_memsz) & ~(page - 1);
        }
    }
    if (dynamic)
        read_dynamic(object, dynamic);
    return 1;
}

static const struct opener *opener_of(const char *name)
{
    for (size_t i = 0; i < NUM_OPENERS; i++)
        if (strcmp(openers[i].name, name) == 0)
            return &openers[i];
    return NULL;
}

/* Returns whether it did. */
static bool lead(const struct object *object, uintptr_t slot, any_function *function)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *pages = (void *)(slot & ~(page - 1));
    bool is_constant = slot >= object->constant && slot < object->constant_end;
    if (is_constant && mprotect(pages, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    *(any_function *volatile *)slot = function;
    return !is_constant || mprotect(pages, page, PROT_READ) == 0;
}

/* Returns how many calls it leads, or -1. */
static int lead_all(const struct object *object, const ElfW(Rela) * entry, size_t bytes)
{
    int num_led = 0;
    for (const ElfW(Rela) *end = entry + bytes / sizeof(*entry); entry < end; entry++) {
        const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];
        const struct opener *opener =
            symbol->st_shndx == SHN_UNDEF ? opener_of(object->names + symbol->st_name) : NULL;
        if (!opener)
            continue;
        if (!lead(object, object->base + entry->r_offset, opener->function))
            return -1;
        num_led++;
    }
    return num_led;
}

/* HANDLE is that of dlopen, which has bound all calls (RTLD_NOW). To be called before any other
 * function of it. False: the table is not as expected, so children inherit. */
static bool ofi_descriptors_close_on_exec(void *handle)
{
    struct link_map *map = NULL;
    if (sizeof(void *) != 8 || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    struct object object = {.base = map->l_addr};
    dl_iterate_phdr(look_at, &object);
    if (!object.is_found)
        return false;
    int num_calls = lead_all(&object, object.tables[0], object.sizes[0]);
    int num_others = lead_all(&object, object.tables[1], object.sizes[1]);
    return num_calls >= 0 && num_others >= 0 && num_calls + num_others > 0;
}

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
    if (st == COHORT_OK && !ofi_descriptors_close_on_exec(handle))
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
