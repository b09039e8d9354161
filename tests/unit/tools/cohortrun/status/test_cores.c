/* SPDX-License-Identifier: Apache-2.0 */

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/ledger_format.h"
#include "tests/support/test.h"
#include "tools/cohortrun/status/cores.h"

/* Core files that are made up: a ledger whose head is mapped at one address, and its only chunk, of
 * a wait, at another one. */

enum { BASE = 0x10000, AT = 0x7000, NOTES = 1024, PAGE = 4096, FILES = 3, SLOT = 2 };
static const uint64_t second = 1000000000;

static struct image {
    ElfW(Ehdr) head;
    ElfW(Phdr) segments[4]; /* the notes, the head, the chunk, and one without a file */
    ElfW(Shdr) section;
    char notes[NOTES];
    struct cohort__ledger_head ledger;
    struct cohort__wait_line lines[2];
} image;

static size_t note_bytes;
enum { LINES_PAGE = COHORT__LEDGER_PAGE_BYTES / PAGE };
/* Where the note says that the lines are in the region, in pages, and how many bytes. */
static uint64_t place_of_lines = LINES_PAGE, bytes_of_lines = sizeof(image.lines);
/* Two files, without names. */
static int files[2];
static char path[32], other[32];

static void add_note(uint32_t type, const void *data, size_t bytes)
{
    const ElfW(Nhdr) head = {.n_namesz = 5, .n_descsz = (uint32_t)bytes, .n_type = type};
    memcpy(image.notes + note_bytes, &head, sizeof(head));
    memcpy(image.notes + note_bytes + sizeof(head), "CORE", 5);
    memcpy(image.notes + note_bytes + sizeof(head) + 8, data, bytes);
    note_bytes += sizeof(head) + 8 + (bytes + 3) / 4 * 4;
    image.segments[0].p_filesz = note_bytes;
}

static void add_files(void)
{
    static const char names[] =
        "/usr/lib/libhas-a-long-name.so\0/memfd:" COHORT__LEDGER_NAME " (deleted)\0"
        "/memfd:" COHORT__LEDGER_NAME " (deleted)";
    const uint64_t region = SLOT * COHORT__LEDGER_REGION_BYTES / PAGE;
    const uint64_t ranges[2 + 3 * FILES] = {
        FILES,
        PAGE,
        BASE + 0x4000,
        BASE + 0x5000,
        0,
        BASE,
        BASE + sizeof(image.ledger),
        region,
        AT,
        AT + bytes_of_lines,
        region + place_of_lines,
    };
    char note[sizeof(ranges) + sizeof(names)];
    memcpy(note, ranges, sizeof(ranges));
    memcpy(note + sizeof(ranges), names, sizeof(names));
    add_note(NT_FILE, note, sizeof(note));
}

static ElfW(Phdr) segment(uint64_t address, const void *from, uint64_t bytes)
{
    return (ElfW(Phdr)){.p_type = PT_LOAD,
                        .p_offset = (uint64_t)((const char *)from - (const char *)&image),
                        .p_vaddr = address,
                        .p_filesz = bytes,
                        .p_memsz = bytes};
}

/* Of locality RANK of SIZE, which has waited for five seconds at its last tick. */
static void begin(uint32_t rank, uint32_t size)
{
    struct elf_prstatus status = {.pr_cursig = 11}, later = {.pr_cursig = 6};
    struct elf_prpsinfo info = {.pr_psargs = "./heat a\n b "};
    memset(&image, 0, sizeof(image));
    note_bytes = 0;
    image.head = (ElfW(Ehdr)){.e_type = ET_CORE,
                              .e_phoff = offsetof(struct image, segments),
                              .e_shoff = offsetof(struct image, section),
                              .e_phentsize = sizeof(ElfW(Phdr)),
                              .e_phnum = 4};
    memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    image.head.e_ident[EI_DATA] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    image.section.sh_info = 4;
    image.segments[0] = (ElfW(Phdr)){.p_type = PT_NOTE, .p_offset = offsetof(struct image, notes)};
    image.segments[1] = segment(BASE, &image.ledger, sizeof(image.ledger));
    image.segments[2] = segment(AT, image.lines, sizeof(image.lines));
    image.segments[3] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = BASE + 0x4000, .p_memsz = PAGE};
    add_note(NT_PRSTATUS, &status, sizeof(status));
    add_note(NT_PRPSINFO, &info, sizeof(info));
    add_files();
    add_note(NT_PRSTATUS, &later, sizeof(later));
    image.ledger = (struct cohort__ledger_head){.magic = COHORT__LEDGER_MAGIC,
                                                .version = COHORT__LEDGER_VERSION,
                                                .rank = rank,
                                                .size = size,
                                                .pid = 100 + (int)rank,
                                                .key = UINT64_C(7) << 40,
                                                .stage = COHORT__LEDGER_RUNNING,
                                                .first = {1000, 100 * second, 1000 * second},
                                                .last = {11000, 110 * second, 1010 * second},
                                                .num_chunks = 1};
    image.ledger.chunks[0] = (struct cohort__ledger_chunk){
        .kind = COHORT__LEDGER_WAITS, .stride = sizeof(image.lines[0]), .num = 2, .page = 1};
    image.lines[1] = (struct cohort__wait_line){
        .since = 6000, .caller = 0x10, .what = 0x900 + COHORT__WAIT_LATCH, .task = 0x100};
}

static void put_at(const char *to, size_t bytes)
{
    const int file = files[to == other];
    CHECK_INT(ftruncate(file, 0), 0);
    CHECK_INT(pwrite(file, &image, bytes, 0), (long long)bytes);
}

static void check_fails(cohort_status status, const char *why)
{
    struct core core;
    char want[200];
    put_at(path, sizeof(image));
    CHECK_INT(core_read(&core, path), status);
    snprintf(want, sizeof(want), why, path);
    CHECK_TEXT(cohort_error_message(), want);
}

static void check_reads(void)
{
    struct status_cores *cores = NULL;
    put_at(path, sizeof(image));
    CHECK_OK(status_cores_create(&cores, &(const char *){path}, 1));
    const struct status_job *job = status_cores_job(cores);
    CHECK(job->num == 3 && job->num_cores == 1 && job->pid == 0);
    CHECK_TEXT(job->program, "./heat a? b");
    const struct status_locality *locality = &job->localities[1];
    CHECK(locality->pid == 101 && locality->signal == 11);
    CHECK_TEXT(locality->core, path);
    CHECK(!job->localities[0].look && job->localities[0].why);
    const struct look *look = locality->look;
    CHECK(look && look->num_waits == 1 && look->tick_age == 0);
    CHECK(look->waits[0].caller == 0x10 && look->waits[0].age == 5 * second);
    status_cores_destroy(cores);
}

TEST(one)
{
    begin(1, 3);
    check_reads();
    image.head.e_phnum = PN_XNUM; /* a process with very many mappings */
    check_reads();
    status_cores_destroy(NULL);
}

TEST(no_core)
{
    struct core core;
    CHECK_INT(core_read(&core, "/none/core"), COHORT_ERR_SYSTEM);
    CHECK_TEXT(cohort_error_message(), "/none/core: No such file or directory");
    CHECK_INT(core_read(&core, "/tmp"), COHORT_ERR_PROTOCOL);
    const char *none = "%s is no core file of a program of this machine";
    begin(1, 3);
    image.head.e_ident[0] = 'x';
    check_fails(COHORT_ERR_PROTOCOL, none);
    begin(1, 3);
    image.head.e_type = ET_EXEC;
    check_fails(COHORT_ERR_PROTOCOL, none);
    begin(1, 3);
    image.head.e_ident[EI_CLASS] ^= 3;
    check_fails(COHORT_ERR_PROTOCOL, none);
    begin(1, 3);
    image.head.e_ident[EI_DATA] ^= 3;
    check_fails(COHORT_ERR_PROTOCOL, none);
    begin(1, 3);
    image.head.e_phentsize--;
    check_fails(COHORT_ERR_PROTOCOL, none);
}

TEST(no_ledger)
{
    const char *none = "%s has no ledger: its program is none of Cohort, or had not begun, or had "
                       "ended";
    const char *left_out =
        "%s has no shared memory, and so no ledger: see coredump_filter in core(5)";
    begin(1, 3);
    image.segments[0].p_type = PT_NULL;
    check_fails(COHORT_ERR_PROTOCOL, none);
    begin(1, 3);
    memset(image.notes, 0, sizeof(image.notes));
    check_fails(COHORT_ERR_PROTOCOL, none);
    begin(1, 3);
    image.segments[1].p_filesz = 0;
    check_fails(COHORT_ERR_PROTOCOL, left_out);
    begin(1, 3);
    image.segments[2].p_type = PT_NULL;
    check_fails(COHORT_ERR_PROTOCOL, left_out);
}

/* What lies within the file is read, and what does not is said. No byte behind the end is. */
TEST(cut)
{
    struct core core;
    begin(1, 3);
    for (size_t bytes = 0; bytes < sizeof(image); bytes += bytes < 2048 ? 1 : 61) {
        put_at(path, bytes);
        CHECK_FAILS(core_read(&core, path), COHORT_ERR_PROTOCOL,
                    bytes < sizeof(image.head) ? "is no core file" : "is cut off: it has only ");
    }
    begin(1, 3);
    image.head.e_phnum = PN_XNUM;
    image.section.sh_info = UINT32_MAX;
    put_at(path, sizeof(image));
    CHECK_INT(core_read(&core, path), COHORT_ERR_PROTOCOL);
    begin(1, 3);
    image.segments[0].p_filesz = UINT64_MAX;
    put_at(path, sizeof(image));
    CHECK_FAILS(core_read(&core, path), COHORT_ERR_PROTOCOL, " is cut off: it has only ");
}

/* A range that is said to lie behind the end of the region. */
TEST(outside)
{
    place_of_lines = COHORT__LEDGER_REGION_BYTES / PAGE - 1;
    bytes_of_lines = PAGE + 1;
    begin(1, 3);
    image.segments[2].p_filesz = image.segments[2].p_memsz = bytes_of_lines;
    image.segments[2].p_offset = 0;
    check_fails(COHORT_ERR_PROTOCOL, "%s: its ledger is damaged");
    bytes_of_lines = sizeof(image.lines);
    place_of_lines = LINES_PAGE;
}

/* Anything else that is wrong is an error, or is not looked at. */
TEST(damaged)
{
    for (size_t at = 0; at < offsetof(struct image, ledger); at++)
        for (int flip = 1; flip < 256; flip += 127) {
            struct core core;
            begin(1, 3);
            ((unsigned char *)&image)[at] ^= (unsigned char)flip;
            put_at(path, sizeof(image));
            if (core_read(&core, path) == COHORT_OK)
                close(core.memory);
        }
}

static void check_job_fails(const char *why)
{
    struct status_cores *cores = NULL;
    const char *const paths[] = {path, other};
    CHECK(status_cores_create(&cores, paths, 2) != COHORT_OK);
    CHECK_CONTAINS(cohort_error_message(), why);
    CHECK(!cores);
}

/* Two of one job: ages are those at the last tick of the one that has lived longer. */
TEST(two)
{
    struct status_cores *cores = NULL;
    const char *const paths[] = {path, other};
    begin(1, 3);
    put_at(path, sizeof(image));
    begin(2, 3);
    image.ledger.last.real += 2 * second;
    image.ledger.last.mono += 2 * second; /* of another host */
    put_at(other, sizeof(image));
    CHECK_OK(status_cores_create(&cores, paths, 2));
    const struct status_job *job = status_cores_job(cores);
    CHECK(job->num == 3 && job->num_cores == 2);
    const struct look *first = job->localities[1].look, *second_one = job->localities[2].look;
    CHECK(first->tick_age == 2 * second && second_one->tick_age == 0);
    CHECK(first->waits[0].age == 7 * second && second_one->waits[0].age == 6 * second);
    status_cores_destroy(cores);
    CHECK_OK(status_cores_create(&cores, (const char *const[]){other, path}, 2));
    CHECK_INT((long long)status_cores_job(cores)->localities[1].look->tick_age,
              (long long)(2 * second));
    status_cores_destroy(cores);
    begin(1, 3);
    put_at(other, sizeof(image));
    check_job_fails(" are both of locality 1");
    begin(2, 3);
    image.ledger.epoch = 1;
    put_at(other, sizeof(image));
    check_job_fails(" is of program 0 of its job, and ");
    begin(2, 3);
    image.ledger.key++; /* a job of the same size */
    put_at(other, sizeof(image));
    check_job_fails(" of another one, of 3");
    begin(1, 4);
    put_at(other, sizeof(image));
    check_job_fails(" is of a job of 3 localities, and ");
    begin(4, 4);
    put_at(other, sizeof(image));
    check_job_fails(": its ledger is damaged: locality 4 of 4");
    begin(1, UINT32_MAX);
    put_at(other, sizeof(image));
    check_job_fails(": its ledger is damaged: locality 1 of 4294967295");
    begin(2, 3);
    image.ledger.version++;
    put_at(other, sizeof(image));
    check_job_fails(": its program has another version of the library: its ledger has version ");
    begin(2, 3);
    put_at(other, 100);
    check_job_fails(" is cut off: it has only 100 bytes");
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 2; i++) {
        files[i] = memfd_create("core", 0);
        CHECK(files[i] >= 0);
        snprintf(i == 0 ? path : other, sizeof(path), "/proc/self/fd/%d", files[i]);
    }
    return tests_run(argc, argv);
}
