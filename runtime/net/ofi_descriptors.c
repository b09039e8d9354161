/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi_descriptors.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

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

bool cohort__ofi_descriptors_close_on_exec(void *handle)
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
