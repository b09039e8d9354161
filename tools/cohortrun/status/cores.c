/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a job that has died, from core files of its localities. */
#include "tools/cohortrun/status/cores.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/descriptors.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger_format.h"
#include "runtime/base/ledger_read.h"

/* A core file has segments, each a range of the process's memory, and notes. One note lists which
 * ranges are mapped from which files: so the ledger is found by its name. The ranges of it are
 * copied to where they are in the ledger's memory, and then it is read like any other. */

enum { MOST_NOTES = 64 << 20, COPY_BYTES = 1 << 16 };

struct reading {
    const char *path;
    int file;
    uint64_t bytes; /* of the file */
    ElfW(Phdr) * segments;
    uint64_t num_segments;
    int memory;
    bool has_ledger;
    struct core *core;
};

static cohort_status fail_to_read(const struct reading *reading)
{
    return cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", reading->path, strerror(errno));
}

static cohort_status fail_as_cut(const struct reading *reading)
{
    return cohort_fail(COHORT_ERR_PROTOCOL, "%s is cut off: it has only %llu bytes", reading->path,
                       (unsigned long long)reading->bytes);
}

static cohort_status read_at(const struct reading *reading, uint64_t at, void *buffer, size_t bytes)
{
    if (at > reading->bytes || bytes > reading->bytes - at)
        return fail_as_cut(reading);
    if (cohort__descriptor_read(reading->file, buffer, bytes, at))
        return COHORT_OK;
    return errno ? fail_to_read(reading) : fail_as_cut(reading);
}

/* The file --------------------------------------------------------------------------------------
 */

static bool is_core(const ElfW(Ehdr) * head)
{
    const int byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_type == ET_CORE &&
           head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           head->e_ident[EI_DATA] == byte_order && head->e_phentsize == sizeof(ElfW(Phdr));
}

/* A process with very many mappings has their number elsewhere. */
static cohort_status count_segments(struct reading *reading, const ElfW(Ehdr) * head)
{
    ElfW(Shdr) section;
    reading->num_segments = head->e_phnum;
    if (head->e_phnum != PN_XNUM)
        return COHORT_OK;
    cohort_status status = read_at(reading, head->e_shoff, &section, sizeof(section));
    if (!status)
        reading->num_segments = section.sh_info;
    return status;
}

static cohort_status read_segments(struct reading *reading)
{
    ElfW(Ehdr) head;
    if (reading->bytes < sizeof(head) || read_at(reading, 0, &head, sizeof(head)) ||
        !is_core(&head))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s is no core file of a program of this machine",
                           reading->path);
    cohort_status status = count_segments(reading, &head);
    if (status)
        return status;
    if (reading->num_segments > reading->bytes / sizeof(*reading->segments))
        return fail_as_cut(reading);
    const size_t bytes = reading->num_segments * sizeof(*reading->segments);
    reading->segments = malloc(bytes ? bytes : 1);
    if (!reading->segments)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: out of memory", reading->path);
    return read_at(reading, head.e_phoff, reading->segments, bytes);
}

/* The ledger ------------------------------------------------------------------------------------
 */

/* The segment that ADDRESS is in; NULL: none. */
static const ElfW(Phdr) * find_segment(const struct reading *reading, uint64_t address)
{
    for (uint64_t i = 0; i < reading->num_segments; i++) {
        const ElfW(Phdr) *segment = &reading->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_memsz)
            return segment;
    }
    return NULL;
}

/* BYTES at FROM of the file to TO of the memory. What is all zero takes none. */
static cohort_status copy(const struct reading *reading, uint64_t from, uint64_t to, uint64_t bytes)
{
    static const char zero[COPY_BYTES];
    static char buffer[COPY_BYTES];
    while (bytes > 0) {
        const size_t part = bytes < COPY_BYTES ? bytes : COPY_BYTES;
        cohort_status status = read_at(reading, from, buffer, part);
        if (status)
            return status;
        if (memcmp(buffer, zero, part) != 0 &&
            pwrite(reading->memory, buffer, part, (off_t)to) != (ssize_t)part)
            return cohort_fail(COHORT_ERR_SYSTEM, "%s: copying its ledger: %s", reading->path,
                               strerror(errno));
        from += part;
        to += part;
        bytes -= part;
    }
    return COHORT_OK;
}

/* BYTES at BEGIN of the process are those at PLACE of the ledger's memory. */
static cohort_status take_range(struct reading *reading, uint64_t begin, uint64_t bytes,
                                uint64_t place)
{
    const ElfW(Phdr) *segment = find_segment(reading, begin);
    const uint64_t to = place % COHORT__LEDGER_REGION_BYTES;
    const uint64_t before = segment ? begin - segment->p_vaddr : 0;
    reading->has_ledger = true;
    if (bytes > COHORT__LEDGER_REGION_BYTES - to)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: its ledger is damaged", reading->path);
    if (!segment || segment->p_filesz < before || bytes > segment->p_filesz - before)
        return cohort_fail(
            COHORT_ERR_PROTOCOL,
            "%s has no shared memory, and so no ledger: see coredump_filter in core(5)",
            reading->path);
    return copy(reading, segment->p_offset + before, to, bytes);
}

/* The note with the files: their number, the bytes of a page, for each its begin and end and which
 * page of the file that is, and then their names. */
static cohort_status take_files(struct reading *reading, const char *note, size_t bytes)
{
    static const char name[] = "/memfd:" COHORT__LEDGER_NAME " ";
    uint64_t head[2];
    if (bytes < sizeof(head))
        return COHORT_OK;
    memcpy(head, note, sizeof(head));
    const uint64_t num = head[0], page = head[1];
    if (num > (bytes - sizeof(head)) / sizeof(uint64_t[3]))
        return COHORT_OK;
    const char *text = note + sizeof(head) + num * sizeof(uint64_t[3]), *end = note + bytes;
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; i < num && text < end && !status; i++) {
        uint64_t range[3];
        memcpy(range, note + sizeof(head) + i * sizeof(range), sizeof(range));
        const size_t length = strnlen(text, (size_t)(end - text));
        if (length >= sizeof(name) - 1 && memcmp(text, name, sizeof(name) - 1) == 0 &&
            range[0] < range[1])
            status = take_range(reading, range[0], range[1] - range[0], range[2] * page);
        text += length + 1;
    }
    return status;
}

/* Notes -----------------------------------------------------------------------------------------
 */

/* The first thread is the one that has got the signal. */
static void take_signal(struct reading *reading, const char *note, size_t bytes)
{
    struct elf_prstatus of;
    if (reading->core->signal || bytes < sizeof(of))
        return;
    memcpy(&of, note, sizeof(of));
    reading->core->signal = of.pr_cursig;
}

static void take_program(struct reading *reading, const char *note, size_t bytes)
{
    struct elf_prpsinfo of;
    char *program = reading->core->program;
    if (bytes < sizeof(of))
        return;
    memcpy(&of, note, sizeof(of));
    size_t length = strnlen(of.pr_psargs, sizeof(of.pr_psargs));
    while (length > 0 && of.pr_psargs[length - 1] == ' ')
        length--;
    memcpy(program, of.pr_psargs, length);
    program[length] = '\0';
    for (char *at = program; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

static cohort_status take_note(struct reading *reading, uint32_t type, const char *note,
                               size_t bytes)
{
    if (type == NT_FILE)
        return take_files(reading, note, bytes);
    if (type == NT_PRSTATUS)
        take_signal(reading, note, bytes);
    else if (type == NT_PRPSINFO)
        take_program(reading, note, bytes);
    return COHORT_OK;
}

static cohort_status take_notes(struct reading *reading, const char *notes, size_t bytes)
{
    cohort_status status = COHORT_OK;
    while (bytes >= sizeof(ElfW(Nhdr)) && !status) {
        ElfW(Nhdr) head;
        memcpy(&head, notes, sizeof(head));
        const uint64_t at = sizeof(head) + ((uint64_t)head.n_namesz + 3) / 4 * 4;
        const uint64_t end = at + ((uint64_t)head.n_descsz + 3) / 4 * 4;
        if (end > bytes)
            break;
        if (head.n_namesz == sizeof("CORE") &&
            memcmp(notes + sizeof(head), "CORE", sizeof("CORE")) == 0)
            status = take_note(reading, head.n_type, notes + at, head.n_descsz);
        notes += end;
        bytes -= end;
    }
    return status;
}

static cohort_status read_notes(struct reading *reading, const ElfW(Phdr) * segment)
{
    const size_t bytes = segment->p_filesz < MOST_NOTES ? segment->p_filesz : MOST_NOTES;
    char *notes = malloc(bytes ? bytes : 1);
    if (!notes)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: out of memory", reading->path);
    cohort_status status = read_at(reading, segment->p_offset, notes, bytes);
    if (!status)
        status = take_notes(reading, notes, bytes);
    free(notes);
    return status;
}

/* -----------------------------------------------------------------------------------------------
 */

static cohort_status read_all(struct reading *reading)
{
    cohort_status status = read_segments(reading);
    for (uint64_t i = 0; i < reading->num_segments && !status; i++)
        if (reading->segments[i].p_type == PT_NOTE)
            status = read_notes(reading, &reading->segments[i]);
    if (!status && !reading->has_ledger)
        status = cohort_fail(COHORT_ERR_PROTOCOL,
                             "%s has no ledger: its program is none of Cohort, or had not begun, "
                             "or had ended",
                             reading->path);
    return status;
}

static cohort_status open_both(struct reading *reading)
{
    struct stat stat;
    reading->file = open(reading->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reading->file < 0 || fstat(reading->file, &stat) != 0)
        return fail_to_read(reading);
    if (!S_ISREG(stat.st_mode))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s is no core file", reading->path);
    reading->bytes = (uint64_t)stat.st_size;
    reading->memory = memfd_create("cohort-core", MFD_CLOEXEC);
    if (reading->memory < 0 || ftruncate(reading->memory, COHORT__LEDGER_REGION_BYTES) != 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: memory for its ledger: %s", reading->path,
                           strerror(errno));
    return COHORT_OK;
}

cohort_status core_read(struct core *ret_core, const char *path)
{
    struct core core = {.memory = -1};
    struct reading reading = {.path = path, .file = -1, .memory = -1, .core = &core};
    cohort_status status = open_both(&reading);
    if (!status)
        status = read_all(&reading);
    free(reading.segments);
    if (reading.file >= 0)
        close(reading.file);
    if (status) {
        if (reading.memory >= 0)
            close(reading.memory);
        return status;
    }
    core.memory = reading.memory;
    *ret_core = core;
    return COHORT_OK;
}

/* A job is not larger: what says so is damaged. */
enum { MOST_LOCALITIES = 1 << 20 };

struct file {
    const char *path;
    struct core core;
    struct cohort__ledger_head head;
};

struct status_cores {
    struct status_job job;
    uint32_t num;
    struct file files[];
};

static cohort_status open_file(struct file *file, const char *path)
{
    struct cohort__ledger_view view;
    file->path = path;
    cohort_status status = core_read(&file->core, path);
    if (status)
        return status;
    status = cohort__ledger_view_init(&view, file->core.memory, 0);
    if (status)
        return cohort_fail(status, "%s: %s", path, cohort_error_message());
    file->head = view.head;
    if (view.head.size == 0 || view.head.size > MOST_LOCALITIES || view.head.rank >= view.head.size)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: its ledger is damaged: locality %u of %u",
                           path, (unsigned)view.head.rank, (unsigned)view.head.size);
    return COHORT_OK;
}

static cohort_status check_fit(const struct file *first, const struct file *other)
{
    const struct cohort__ledger_head *a = &first->head, *b = &other->head;
    if (a->key != b->key || a->size != b->size)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s is of a job of %u localities, and %s of another one, of %u",
                           first->path, (unsigned)a->size, other->path, (unsigned)b->size);
    if (a->epoch != b->epoch)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s is of program %u of its job, and %s of program %u", first->path,
                           (unsigned)a->epoch, other->path, (unsigned)b->epoch);
    if (a->rank == b->rank)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s and %s are both of locality %u",
                           first->path, other->path, (unsigned)a->rank);
    return COHORT_OK;
}

/* The ages that are said are those at the last moment that any of the processes knew. */
static uint64_t find_now(const struct status_cores *cores)
{
    uint64_t now = 0;
    for (uint32_t i = 0; i < cores->num; i++)
        if (cores->files[i].head.last.real > now)
            now = cores->files[i].head.last.real;
    return now;
}

static cohort_status look_at(struct status_cores *cores, const struct file *file, uint64_t now)
{
    struct status_locality *locality = &cores->job.localities[file->head.rank];
    locality->pid = file->head.pid;
    locality->core = file->path;
    locality->signal = file->core.signal;
    cohort_status status = look_read_dead(&locality->look, file->core.memory, 0, now);
    return status ? cohort_fail(status, "%s: %s", file->path, cohort_error_message()) : COHORT_OK;
}

static cohort_status read_files(struct status_cores *cores, const char *const *paths)
{
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; i < cores->num && !status; i++) {
        status = open_file(&cores->files[i], paths[i]);
        for (uint32_t k = 0; k < i && !status; k++)
            status = check_fit(&cores->files[k], &cores->files[i]);
    }
    if (status)
        return status;
    struct status_job *job = &cores->job;
    job->num = cores->files[0].head.size;
    job->num_cores = cores->num;
    job->program = cores->files[0].core.program;
    job->localities = calloc(job->num, sizeof(*job->localities));
    if (!job->localities)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t rank = 0; rank < job->num; rank++)
        job->localities[rank].why = "no core file of it is given";
    const uint64_t now = find_now(cores);
    for (uint32_t i = 0; i < cores->num && !status; i++)
        status = look_at(cores, &cores->files[i], now);
    return status;
}

cohort_status status_cores_create(struct status_cores **ret_cores, const char *const *paths,
                                  uint32_t num)
{
    struct status_cores *cores = calloc(1, sizeof(*cores) + num * sizeof(cores->files[0]));
    if (!cores)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    cores->num = num;
    for (uint32_t i = 0; i < num; i++)
        cores->files[i].core.memory = -1;
    cohort_status status = read_files(cores, paths);
    if (status)
        status_cores_destroy(cores);
    else
        *ret_cores = cores;
    return status;
}

void status_cores_destroy(struct status_cores *cores)
{
    if (!cores)
        return;
    for (uint32_t i = 0; i < cores->num; i++)
        if (cores->files[i].core.memory >= 0)
            close(cores->files[i].core.memory);
    for (uint32_t rank = 0; cores->job.localities && rank < cores->job.num; rank++)
        look_destroy(cores->job.localities[rank].look);
    free(cores->job.localities);
    free(cores);
}

const struct status_job *status_cores_job(const struct status_cores *cores)
{
    return &cores->job;
}
