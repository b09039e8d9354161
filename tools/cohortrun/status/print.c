/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: says who waits for whom, as text. */
#include "tools/cohortrun/status/print.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cohortrun/status/symbols.h"
#include "tools/share/wait_words.h"

/* So many lines, or numbers in a list, before "and N more"; so many steps from one wait to what it
 * waits for. */
enum { MAX_LOCALITIES = 16, MAX_COMMS = 20, MAX_SITES = 8, MAX_GROUPS = 20, MAX_STEPS = 16 };

/* So many functions in which a locality computes; so many of the inputs of a combinator; so many
 * that were listed and not printed yet. */
enum { MAX_FUNCTIONS = 8, MAX_INPUTS = 4, MAX_OPEN = 32 };

/* The localities that were named, whose processes are the first in the list at the end. */
struct named {
    uint32_t ranks[MAX_LOCALITIES];
    uint32_t num;
};

struct printer {
    FILE *file;
    const struct status_model *model;
    struct symbols *symbols;
    struct named *named;
};

static bool is_named(const struct named *named, uint32_t rank)
{
    for (uint32_t i = 0; i < named->num; i++)
        if (named->ranks[i] == rank)
            return true;
    return false;
}

static void note_named(const struct printer *printer, uint32_t rank)
{
    struct named *named = printer->named;
    if (!is_named(named, rank) && named->num < MAX_LOCALITIES)
        named->ranks[named->num++] = rank;
}

/* Pieces of sentences ------------------------------------------------------------------------ */

static void print_age(const struct printer *printer, uint64_t age)
{
    const double seconds = (double)age / 1e9;
    if (seconds < 100)
        fprintf(printer->file, "%.1f s", seconds);
    else if (seconds < 6000)
        fprintf(printer->file, "%.0f s", seconds);
    else
        fprintf(printer->file, "%.1f h", seconds / 3600);
}

static void print_for(const struct printer *printer, uint64_t age)
{
    if (age == STATUS_NEVER)
        return;
    fputs(", for ", printer->file);
    print_age(printer, age);
}

/* Names are whatever programs have given: no control characters reach a terminal. */
static void print_name(const struct printer *printer, const char *name)
{
    fputc('"', printer->file);
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        if (*at < ' ' || *at == 0x7f || *at == '"' || *at == '\\')
            fprintf(printer->file, "\\x%02x", *at);
        else
            fputc(*at, printer->file);
    fputc('"', printer->file);
}

/* Numbers in ascending order: "0-2, 5, 7 and 12 more". NUMBER gives number I of NUM. */
static void print_list(const struct printer *printer, uint32_t num, uint64_t total,
                       uint32_t (*number)(const void *list, uint32_t i), const void *list)
{
    uint32_t shown = 0, i = 0;
    for (uint32_t end; i < num && shown < MAX_SITES; i = end, shown++) {
        const uint32_t first = number(list, i);
        end = i + 1;
        while (end < num && number(list, end) == first + (end - i))
            end++;
        fprintf(printer->file, end - i > 1 ? "%s%u-%u" : "%s%u", shown ? ", " : "", (unsigned)first,
                (unsigned)(first + (end - i) - 1));
    }
    if (i < total)
        fprintf(printer->file, " and %llu more", (unsigned long long)(total - i));
}

static const struct look *look_of(const struct printer *printer, uint32_t rank)
{
    return printer->model->job->localities[rank].look;
}

/* "in exchange_rows (heat.c:91) (task worker)"; "in exchange_rows+0x91" where the line is not
 * known; "to begin the task worker". */
static void print_place(const struct printer *printer, uint32_t rank, const struct look_wait *wait)
{
    struct status_place place;
    note_named(printer, rank);
    status_place_find(&place, printer->symbols, look_of(printer, rank), wait);
    if (!place.caller[0]) {
        fprintf(printer->file, "to begin the task %s", place.function);
        return;
    }
    fputs("in ", printer->file);
    if (place.is_at_end) {
        fprintf(printer->file, "%s (at its end)", place.function);
        return;
    }
    fputs(place.caller, printer->file);
    if (place.line[0])
        fprintf(printer->file, " (%s)", place.line);
    if (!place.function[0])
        fputs(" (outside of tasks)", printer->file);
    else if (!place.is_in_function)
        fprintf(printer->file, " (task %s)", place.function);
}

/* "the task solve has not paused on "; of locality RANK. */
static void print_not_paused(const struct printer *printer, uint32_t rank, uint64_t function)
{
    char name[STATUS_NAME_BYTES];
    note_named(printer, rank);
    status_place_function(name, printer->symbols, look_of(printer, rank), function);
    if (function)
        fprintf(printer->file, "the task %s", name);
    else
        fputs("what is no task", printer->file);
    fputs(" has not paused on ", printer->file);
}

/* "the task solve has not paused on worker 0, for 9.0 s"; for WORKER of locality RANK. */
static void print_busy(const struct printer *printer, uint32_t rank,
                       const struct look_worker *worker)
{
    print_not_paused(printer, rank, worker->function);
    fprintf(printer->file, "worker %u", (unsigned)worker->index);
    print_for(printer, worker->age);
}

static void print_kind(const struct printer *printer, struct status_task task)
{
    struct status_target target = status_model_target(printer->model, task);
    if (target.inputs && target.inputs->scope) {
        fputs(target.inputs->is_range ? "the end of a range" : "the end of a scope", printer->file);
        return;
    }
    if (target.creation && target.creation->parent) {
        fputs(target.creation->kind == COHORT__JOIN_SHRINK ? "a shrink" : "an agreement",
              printer->file);
        return;
    }
    fputs(wait_words[target.creation ? COHORT__WAIT_CREATION : task.wait->kind].text,
          printer->file);
}

/* "site 3 of "halo"". */
static void print_site_of(const struct printer *printer, const struct look_pending *pending,
                          const char *name)
{
    if (pending->peer == UINT32_MAX)
        fputs("any site of ", printer->file);
    else
        fprintf(printer->file, "site %u of ", (unsigned)pending->peer);
    print_name(printer, name ? name : "?");
}

/* "all of 12 futures"; "the end of a cancelled scope with 1 task left". */
static void print_inputs(const struct printer *printer, const struct look_inputs *inputs)
{
    const unsigned long long num = inputs->num, wanted = inputs->wanted;
    FILE *file = printer->file;
    if (inputs->is_range)
        fprintf(file, "the end of a range with %llu %s left", num, num == 1 ? "part" : "parts");
    else if (inputs->scope)
        fprintf(file, "the end of a %sscope with %llu %s left",
                inputs->is_cancelled ? "cancelled " : "", num, num == 1 ? "task" : "tasks");
    else if (num == 1)
        fputs("one future", file);
    else if (wanted == num)
        fprintf(file, "all of %llu futures", num);
    else if (wanted == 1)
        fprintf(file, "one of %llu futures", num);
    else
        fprintf(file, "%llu of %llu futures", wanted, num);
}

/* "a collective of "halo", generation 17". */
static void print_target(const struct printer *printer, struct status_task task)
{
    struct status_target target = status_model_target(printer->model, task);
    const struct look_pending *pending = target.pending;
    FILE *file = printer->file;
    if (target.inputs) {
        print_inputs(printer, target.inputs);
        return;
    }
    if (pending && pending->kind == COHORT__WAIT_REMOTE) {
        fputs("the remote task ", file);
        if (pending->name[0])
            print_name(printer, pending->name);
        fprintf(file, pending->name[0] ? " of locality %u" : "of locality %u",
                (unsigned)pending->peer);
        return;
    }
    if (pending && pending->kind == COHORT__WAIT_GET) {
        fputs("a block from ", file);
        print_site_of(printer, pending, target.name);
        fprintf(file, ", tag %llu (cohort_channel_get)", (unsigned long long)pending->number);
        return;
    }
    if (pending && pending->kind == COHORT__WAIT_SET) {
        print_site_of(printer, pending, target.name);
        fprintf(file, " to get a block, tag %llu (cohort_channel_set)",
                (unsigned long long)pending->number);
        return;
    }
    print_kind(printer, task);
    if (target.name) {
        fputs(" of ", file);
        print_name(printer, target.name);
        fprintf(file, ", generation %llu",
                (unsigned long long)(pending ? pending->number : target.comm->generation));
    } else if (target.creation) {
        fputs(target.creation->parent ? " of " : ": ", file);
        print_name(printer, target.creation->name);
    }
}

/* " in f+0x91 for a mutex, for 12.2 s" */
static void print_wait(const struct printer *printer, struct status_task task)
{
    fputc(' ', printer->file);
    print_place(printer, task.rank, task.wait);
    fputs(" for ", printer->file);
    print_target(printer, task);
    print_for(printer, task.wait->age);
}

/* In front of a line about what the line above says. */
static void print_indent(const struct printer *printer, int depth)
{
    fprintf(printer->file, "    %*s", 2 * depth, "");
}

/* Who TASK waits for, if that is one task: "the task of site 3 (locality 1)". False: it is not. */
static bool print_next(const struct printer *printer, struct status_task task, int depth,
                       struct status_task *ret_next)
{
    struct status_target target = status_model_target(printer->model, task);
    if (target.has_peer || target.serving.wait || target.task)
        print_indent(printer, depth);
    if (target.has_peer) {
        fprintf(printer->file, "the task of site %u (locality %u)", (unsigned)target.pending->peer,
                (unsigned)target.peer.rank);
        *ret_next = target.peer;
        return true;
    }
    if (target.serving.wait) {
        fprintf(printer->file, "that task, of locality %u,", (unsigned)target.serving.rank);
        *ret_next = target.serving;
        return true;
    }
    if (!target.task)
        return false;
    fputs(task.wait->kind == COHORT__WAIT_MUTEX
              ? "the task that has the mutex, or is before it in line,"
              : "that task",
          printer->file);
    *ret_next =
        (struct status_task){task.rank, look_find_wait(look_of(printer, task.rank), target.task)};
    return true;
}

/* A task of locality RANK does not wait. */
static void print_running(const struct printer *printer, uint32_t rank)
{
    const struct look *look = look_of(printer, rank);
    const struct look_worker *busy = look ? status_find_busy(look) : NULL;
    fputs(" does not wait: it runs or has ended", printer->file);
    if (busy) {
        fputs("; ", printer->file);
        print_busy(printer, rank, busy);
    }
    fputc('\n', printer->file);
}

/* Inputs of combinators that are still to be printed, the next one last, and how far to the right.
 * One without a wait stands for `num` more. */
struct open {
    struct {
        struct status_task task;
        uint64_t num; /* among so many */
        int depth;
    } inputs[MAX_OPEN];
    uint32_t num;
};

/* Opens the inputs of what TASK waits for, if that is a combinator. */
static void open_inputs(const struct printer *printer, struct status_task task, int depth,
                        struct open *open)
{
    const struct look_inputs *inputs = status_model_target(printer->model, task).inputs;
    const struct look *look = look_of(printer, task.rank);
    if (!inputs || inputs->scope || open->num + MAX_INPUTS + 1 > MAX_OPEN)
        return;
    const uint32_t num = inputs->num_listed < MAX_INPUTS ? inputs->num_listed : MAX_INPUTS;
    for (uint32_t i = num + (inputs->num > num); i > 0; i--) {
        const bool is_rest = i > num;
        open->inputs[open->num].task.rank = task.rank;
        open->inputs[open->num].task.wait = is_rest ? NULL : &look->listed[inputs->first + i - 1];
        open->inputs[open->num].num = is_rest ? inputs->num - num : inputs->num;
        open->inputs[open->num++].depth = depth;
    }
}

/* The next input that is open, on a line of its own. False: there is none. */
static bool print_open(const struct printer *printer, struct open *open,
                       struct status_task *ret_task, int *ret_depth)
{
    while (open->num > 0) {
        open->num--;
        const struct status_task task = open->inputs[open->num].task;
        const uint64_t num = open->inputs[open->num].num;
        *ret_depth = open->inputs[open->num].depth + 1;
        print_indent(printer, *ret_depth - 1);
        if (!task.wait) {
            fprintf(printer->file, "and %llu more\n", (unsigned long long)num);
            continue;
        }
        const struct look_inputs *inputs = status_model_target(printer->model, task).inputs;
        fputs(num == 1 ? "it " : "one ", printer->file);
        fputs(inputs && !inputs->scope ? "needs " : "is ", printer->file);
        print_target(printer, task);
        fputc('\n', printer->file);
        *ret_task = task;
        return true;
    }
    return false;
}

/* Who *TASK waits for, and what for in turn. True: that one, *TASK from now on, waits. */
static bool print_step(const struct printer *printer, struct status_task *task, int depth)
{
    if (!print_next(printer, *task, depth, task))
        return false;
    if (!task->wait) {
        print_running(printer, task->rank);
        return false;
    }
    fputs(" waits", printer->file);
    print_wait(printer, *task);
    fputc('\n', printer->file);
    return true;
}

static bool was_seen(const struct look_wait *const *seen, int num, const struct look_wait *wait)
{
    for (int i = 0; i < num; i++)
        if (seen[i] == wait)
            return true;
    return false;
}

/* What TASK waits for in turn, and so on, DEPTH steps to the right; of each only once. */
static void print_steps_below(const struct printer *printer, struct status_task task, int depth)
{
    const struct look_wait *seen[MAX_STEPS];
    struct open open = {.num = 0};
    int step = 0, inner = depth;
    for (; step < MAX_STEPS; step++) {
        const bool is_new = !was_seen(seen, step, task.wait);
        seen[step] = task.wait;
        if (is_new)
            open_inputs(printer, task, inner, &open);
        inner = depth + 1;
        if (is_new && print_step(printer, &task, depth))
            continue;
        if (!print_open(printer, &open, &task, &depth))
            return;
        inner = depth;
    }
    if (open.num > 0) {
        print_indent(printer, open.inputs[0].depth);
        fputs("and more\n", printer->file);
    }
}

static void print_steps(const struct printer *printer, struct status_task task)
{
    print_steps_below(printer, task, 0);
}

/* Localities --------------------------------------------------------------------------------- */

/* Whether locality RANK can't be read for the reason WHY. */
static bool is_unread(const struct status_locality *locality, const char *why)
{
    return !locality->look && !locality->end && locality->why &&
           (!why || strcmp(locality->why, why) == 0);
}

static uint32_t rank_of(const void *list, uint32_t i)
{
    return ((const uint32_t *)list)[i];
}

/* Those from RANK on that can't be read for the same reason, if RANK is the first of them. */
static bool print_unread(const struct printer *printer, uint32_t rank)
{
    const struct status_job *job = printer->model->job;
    const char *why = job->localities[rank].why;
    uint32_t unread[64], num = 0, total = 0;
    for (uint32_t i = 0; i < rank; i++)
        if (is_unread(&job->localities[i], why))
            return false;
    for (uint32_t i = rank; i < job->num; i++)
        if (is_unread(&job->localities[i], why)) {
            if (num < sizeof(unread) / sizeof(unread[0]))
                unread[num++] = i;
            total++;
        }
    fputs(total > 1 ? "localities " : "locality ", printer->file);
    print_list(printer, num, total, rank_of, unread);
    fprintf(printer->file, " can't be read: %s\n", why);
    return true;
}

/* All lines of TEXT in one. */
static void print_lines(const struct printer *printer, const char *text)
{
    for (const char *line = text; *line;) {
        size_t bytes = strcspn(line, "\n"), shown = bytes;
        while (shown > 0 && (line[shown - 1] == ';' || line[shown - 1] == ' '))
            shown--;
        fputs(line > text ? "; " : "", printer->file);
        for (size_t i = 0; i < shown; i++)
            if ((unsigned char)line[i] >= ' ' && line[i] != 0x7f)
                fputc(line[i], printer->file);
        line += bytes + (line[bytes] == '\n');
    }
    fputc('\n', printer->file);
}

/* The end of a line: ": " and why LOOK's program has failed, if it has. */
static void print_words(const struct printer *printer, const struct look *look)
{
    fputs(look && look->words[0] ? ": " : "", printer->file);
    print_lines(printer, look ? look->words : "");
}

/* False: there is nothing to say of it. */
static bool print_locality(const struct printer *printer, uint32_t rank)
{
    const struct status_locality *locality = &printer->model->job->localities[rank];
    const struct look *look = locality->look;
    FILE *file = printer->file;
    if (locality->end) {
        fputs(locality->end, file);
        print_words(printer, look);
        return true;
    }
    if (!look)
        return is_unread(locality, NULL) && print_unread(printer, rank);
    if (!locality->core && !look->is_stopped && !look->is_cut &&
        look->stage == COHORT__LEDGER_RUNNING)
        return false;
    fprintf(file, "locality %u (pid %d)", (unsigned)rank, locality->pid);
    if (locality->core)
        fprintf(file, ": read from %s", locality->core);
    if (locality->signal)
        fprintf(file, ", signal %d (%s)", locality->signal, strsignal(locality->signal));
    if (look->stage == COHORT__LEDGER_STARTING)
        fputs(": its program is starting", file);
    else if (look->stage >= COHORT__LEDGER_RETURNED) {
        fprintf(file, ": its program has returned%s, ", look->status ? " an error" : "");
        print_age(printer, look->stage_age);
        fputs(" ago", file);
    }
    if (look->is_stopped)
        fputs(": it is stopped, by a signal or a debugger", file);
    if (look->is_cut)
        fputs(": it had no memory to say all", file);
    print_words(printer, look);
    return true;
}

/* A worker whose task has made a call that blocks its thread. False: there is none. */
static bool print_blocked(const struct printer *printer, uint32_t rank)
{
    const struct status_locality *locality = &printer->model->job->localities[rank];
    const struct look *look = locality->look;
    FILE *file = printer->file;
    bool any = false;
    for (uint32_t i = 0; look && !locality->end && !look->is_stopped && i < look->num_workers;
         i++) {
        const struct look_worker *worker = &look->workers[i];
        if (!look_is_blocked(worker))
            continue;
        fprintf(file, "locality %u (pid %d): a task blocks worker %u", (unsigned)rank,
                locality->pid, (unsigned)worker->index);
        print_for(printer, worker->age);
        fputs(strstr(worker->kernel_function, "futex")
                  ? ", in a lock or a condition of pthreads: its holder may be a task that waits "
                    "for this worker"
                  : ", in a call of the system: other tasks wait for this worker",
              file);
        if (worker->kernel_function[0])
            fprintf(file, " (%s)", worker->kernel_function);
        fputc('\n', file);
        any = true;
    }
    return any;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Those of LOOK's workers that compute in a task of FUNCTION, in order; *RET_AGE: for how long at
 * most. Returns how many there are, of which the first so many are in RET_WORKERS. */
enum { WORKERS_LISTED = 256 };
static uint32_t find_computing(const struct look *look, uint64_t function,
                               uint32_t ret_workers[WORKERS_LISTED], uint64_t *ret_age)
{
    uint32_t num = 0;
    uint64_t age = 0;
    for (uint32_t i = 0; i < look->num_workers; i++) {
        const struct look_worker *worker = &look->workers[i];
        if (!look_is_busy(worker) || worker->function != function)
            continue;
        if (num < WORKERS_LISTED)
            ret_workers[num] = worker->index;
        num++;
        age = worker->age > age ? worker->age : age;
    }
    qsort(ret_workers, num < WORKERS_LISTED ? num : WORKERS_LISTED, sizeof(*ret_workers),
          compare_numbers);
    *ret_age = age;
    return num;
}

/* Whether worker I of LOOK is the first that computes in a task of its function. */
static bool is_first_of_function(const struct look *look, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (look_is_busy(&look->workers[k]) &&
            look->workers[k].function == look->workers[i].function)
            return false;
    return look_is_busy(&look->workers[i]);
}

/* The workers that compute without a pause, by the functions of their tasks. False: none does. */
static bool print_computing(const struct printer *printer, uint32_t rank)
{
    const struct status_locality *locality = &printer->model->job->localities[rank];
    const struct look *look = locality->look;
    FILE *file = printer->file;
    uint32_t shown = 0;
    for (uint32_t i = 0; look && !locality->end && i < look->num_workers; i++) {
        uint32_t workers[WORKERS_LISTED];
        uint64_t age;
        if (!is_first_of_function(look, i) || shown++ >= MAX_FUNCTIONS)
            continue;
        const uint32_t num = find_computing(look, look->workers[i].function, workers, &age);
        fprintf(file, "locality %u (pid %d): ", (unsigned)rank, locality->pid);
        print_not_paused(printer, rank, look->workers[i].function);
        fputs(num > 1 ? "workers " : "worker ", file);
        print_list(printer, num < WORKERS_LISTED ? num : WORKERS_LISTED, num, rank_of, workers);
        print_for(printer, age);
        fputs(num > 1 ? " at most\n" : "\n", file);
    }
    if (shown > MAX_FUNCTIONS)
        fprintf(file, "locality %u: and tasks of %u more functions\n", (unsigned)rank,
                (unsigned)shown - MAX_FUNCTIONS);
    return shown > 0;
}

static void print_localities(const struct printer *printer)
{
    uint32_t rank = 0, shown = 0;
    for (; rank < printer->model->job->num && shown < MAX_LOCALITIES; rank++) {
        shown += print_locality(printer, rank);
        shown += print_blocked(printer, rank);
        shown += print_computing(printer, rank);
    }
    if (rank < printer->model->job->num)
        fprintf(printer->file, "(not said of localities %u-%u whether they run)\n", (unsigned)rank,
                (unsigned)printer->model->job->num - 1);
}

/* Whether any locality could be read. */
static bool any_is_read(const struct status_job *job)
{
    for (uint32_t rank = 0; rank < job->num; rank++)
        if (job->localities[rank].look)
            return true;
    return false;
}

/* A locality of a job of another launcher, the others of which are not known. */
static bool is_part(const struct status_job *job)
{
    return !job->pid && !job->num_cores && job->localities[0].look &&
           job->localities[0].look->size > 1;
}

/* Whether each locality that runs could be read. */
static bool all_are_read(const struct status_job *job)
{
    if (is_part(job))
        return false;
    for (uint32_t rank = 0; rank < job->num; rank++)
        if (!job->localities[rank].look && !job->localities[rank].end)
            return false;
    return true;
}

/* Communicators ------------------------------------------------------------------------------ */

static uint32_t missing_site(const void *list, uint32_t i)
{
    return ((const struct status_site *)list)[i].site;
}

static void print_fate(const struct printer *printer, const struct status_site *site)
{
    FILE *file = printer->file;
    switch (site->fate) {
    case STATUS_WAITS:
        fputs(site->wait->function ? "its task waits" : "its thread waits", file);
        print_wait(printer, (struct status_task){site->rank, site->wait});
        break;
    case STATUS_COMPUTES:
        fputs("its task computes or has ended: ", file);
        print_busy(printer, site->rank, site->worker);
        break;
    case STATUS_STOPPED:
        fputs("its process is stopped", file);
        if (site->wait) {
            fputs(site->wait->function ? ", and its task waits" : ", and its thread waits", file);
            print_wait(printer, (struct status_task){site->rank, site->wait});
        } else if (site->worker) {
            fputs(", and its task computes or has ended: ", file);
            print_busy(printer, site->rank, site->worker);
        }
        break;
    case STATUS_RETURNED:
        fputs("its program has returned, ", file);
        print_age(printer, site->age);
        fputs(" ago", file);
        break;
    case STATUS_ENDED:
        fputs("its locality has ended", file);
        break;
    default:
        fputs("its task does not wait: it runs or has ended", file);
    }
}

/* Those without a line are listed together. */
static void print_absent(const struct printer *printer, const struct status_comm *comm)
{
    struct status_site absent[STATUS_MAX_MISSING];
    uint32_t num = 0, num_present = 0;
    for (uint32_t i = 0; i < comm->num_listed; i++)
        if (comm->missing[i].fate == STATUS_LEFT)
            absent[num++] = comm->missing[i];
        else
            num_present++;
    if (num == 0)
        return;
    fprintf(printer->file, num > 1 ? "  sites " : "  site ");
    print_list(printer, num, comm->num_missing - num_present, missing_site, absent);
    fputs(all_are_read(printer->model->job) ? ": not there any more, or not yet\n"
                                            : ": not known, as not all localities can be read\n",
          printer->file);
}

/* "site 2 (locality 2): " and what its task does, and what that waits for in turn. HAS_CALLED: with
 * the last generation that it has called. */
static void print_site(const struct printer *printer, const struct status_site *site,
                       bool has_called)
{
    note_named(printer, site->rank);
    fprintf(printer->file, "  site %u (locality %u): ", (unsigned)site->site, (unsigned)site->rank);
    if (has_called && site->last_called == 0)
        fputs("has called nothing; ", printer->file);
    else if (has_called)
        fprintf(printer->file, "last called %llu; ", (unsigned long long)site->last_called);
    print_fate(printer, site);
    fputc('\n', printer->file);
    if (site->fate == STATUS_WAITS || (site->fate == STATUS_STOPPED && site->wait))
        print_steps(printer, (struct status_task){site->rank, site->wait});
}

static void print_missing(const struct printer *printer, const struct status_comm *comm)
{
    uint32_t shown = 0, more = 0;
    for (uint32_t i = 0; i < comm->num_listed; i++) {
        const struct status_site *site = &comm->missing[i];
        if (site->fate == STATUS_LEFT)
            continue;
        if (shown++ >= MAX_SITES) {
            more++;
            continue;
        }
        print_site(printer, site, true);
    }
    if (more > 0)
        fprintf(printer->file, "  and %u more sites\n", (unsigned)more);
    print_absent(printer, comm);
}

static void print_comm(const struct printer *printer, const struct status_comm *comm)
{
    FILE *file = printer->file;
    fputs("communicator ", file);
    print_name(printer, comm->name);
    if (comm->is_ambiguous)
        fprintf(file, " (instance %llx)", (unsigned long long)comm->instance);
    fprintf(file, ", generation %llu: ", (unsigned long long)comm->generation);
    if (comm->num_missing == 0)
        fprintf(file, "all %u sites have called, and the tasks of %u wait",
                (unsigned)comm->num_sites, (unsigned)comm->num_waiting);
    else
        fprintf(file,
                comm->num_come == 1 ? "%u of %u sites has called"
                                    : "%u of %u sites have "
                                      "called",
                (unsigned)comm->num_come, (unsigned)comm->num_sites);
    print_for(printer, comm->age);
    fputs(comm->num_missing ? "; missing:\n" : "\n", file);
    print_missing(printer, comm);
    if (comm->account) {
        fprintf(file, "  site %u says: ", (unsigned)comm->account->site);
        print_lines(printer, comm->account->text);
    }
}

/* Creations ---------------------------------------------------------------------------------- */

static uint32_t joined_site(const void *list, uint32_t i)
{
    return ((const struct status_join *)list)[i].site;
}

static void print_not_joined(const struct printer *printer, const struct status_creation *creation)
{
    uint32_t absent[MAX_SITES + 1], num = 0;
    uint64_t next = 0;
    for (uint32_t i = 0; i <= creation->num_joins; i++) {
        uint64_t end =
            i < creation->num_joins ? creation->joins[i].site : (uint64_t)creation->num_sites;
        if (next < end && num <= MAX_SITES)
            absent[num++] = i; /* the gap before join I */
        next = end + 1;
    }
    for (uint32_t k = 0; k < num && k < MAX_SITES; k++) {
        uint32_t i = absent[k];
        uint64_t first = i > 0 ? (uint64_t)creation->joins[i - 1].site + 1 : 0;
        uint64_t last =
            (i < creation->num_joins ? creation->joins[i].site : creation->num_sites) - UINT64_C(1);
        fprintf(printer->file, last > first ? "%s%llu-%llu" : "%s%llu", k ? ", " : "",
                (unsigned long long)first, (unsigned long long)last);
    }
    fputs(num > MAX_SITES ? " and more" : "", printer->file);
}

static void print_hint(const struct printer *printer, const struct status_creation *creation)
{
    FILE *file = printer->file;
    if (creation->alike && strcmp(creation->alike, creation->name) == 0) {
        fprintf(file, "  others create it with %u sites\n", (unsigned)creation->alike_sites);
    } else if (creation->alike) {
        fputs("  looks like ", file);
        print_name(printer, creation->alike);
        fprintf(file, ", which %s (%u sites)\n",
                creation->is_alike_pending ? "waits for sites, too" : "exists",
                (unsigned)creation->alike_sites);
    } else if (creation->lacks_last && creation->kind == COHORT__JOIN_NAME) {
        fputs("  no name looks like it: num_sites may be too large, or a task waits for one site "
              "before it joins as the next, or the others have not come so far\n",
              file);
    }
}

static void print_joins(const struct printer *printer, const struct status_creation *creation)
{
    FILE *file = printer->file;
    for (uint32_t i = 0; i < creation->num_joins && i < MAX_SITES; i++) {
        const struct status_join *join = &creation->joins[i];
        fprintf(file,
                creation->parent ? "  site %u has called it in locality %u"
                                 : "  site %u joined in locality %u",
                (unsigned)join->site, (unsigned)join->rank);
        if (join->wait) {
            fputs(", where its task waits ", file);
            print_place(printer, join->rank, join->wait);
        }
        fputc('\n', file);
    }
    if (creation->num_joins > MAX_SITES)
        fprintf(file, "  and %u more sites\n", (unsigned)(creation->num_joins - MAX_SITES));
}

/* What those that live do without the dead: a shrink, or an agreement. */
static void print_survivors(const struct printer *printer, const struct status_creation *creation)
{
    FILE *file = printer->file;
    const uint32_t num_known = creation->num_joins + creation->num_missing;
    fputs(creation->kind == COHORT__JOIN_SHRINK ? "shrink of " : "agreement of ", file);
    print_name(printer, creation->name);
    fprintf(file, ": %u of %u sites that live %s called it", (unsigned)creation->num_joins,
            (unsigned)creation->num_sites, creation->num_joins == 1 ? "has" : "have");
    print_for(printer, creation->age);
    fputs(creation->num_joins < creation->num_sites ? "; missing:\n" : "\n", file);
    for (uint32_t i = 0; i < creation->num_missing && i < MAX_SITES; i++)
        print_site(printer, &creation->missing[i], false);
    if (creation->num_missing > MAX_SITES)
        fprintf(file, "  and %u more sites\n", (unsigned)(creation->num_missing - MAX_SITES));
    if (num_known < creation->num_sites)
        fprintf(file, "  of %u of them nothing is known\n",
                (unsigned)(creation->num_sites - num_known));
    print_joins(printer, creation);
}

static void print_creation(const struct printer *printer, const struct status_creation *creation)
{
    FILE *file = printer->file;
    fputs(creation->kind == COHORT__JOIN_SPLIT ? "split of a communicator " : "creation of ", file);
    print_name(printer, creation->name);
    fprintf(file, ", %u sites: ", (unsigned)creation->num_sites);
    if (creation->num_joins >= creation->num_sites) {
        fputs("all have joined", file);
    } else {
        print_list(printer, creation->num_joins, creation->num_joins, joined_site, creation->joins);
        fputs(creation->num_joins == 1 ? " has joined" : " have joined", file);
    }
    print_for(printer, creation->age);
    if (creation->num_joins < creation->num_sites) {
        fputs("; missing: ", file);
        print_not_joined(printer, creation);
    }
    fputc('\n', file);
    print_joins(printer, creation);
    if (creation->num_returned > 0) {
        fputs(creation->num_returned > 1
                  ? "  programs that have returned without joining: localities "
                  : "  a program that has returned without joining: locality ",
              file);
        print_list(printer, creation->num_returned, creation->num_returned, rank_of,
                   creation->returned);
        fputc('\n', file);
    }
    print_hint(printer, creation);
}

/* Deadlocks ---------------------------------------------------------------------------------- */

static void print_cycle(const struct printer *printer, const struct status_cycle *cycle)
{
    FILE *file = printer->file;
    fputs(cycle->is_certain ? "deadlock: " : "perhaps a deadlock: ", file);
    if (cycle->num == 1)
        fprintf(file, "a task waits for %s:\n",
                cycle->tasks[0].wait->outer ? "one that awaits it" : "itself");
    else
        fputs("each of these tasks waits for the next, the last for the first:\n", file);
    for (uint32_t i = 0; i < cycle->num; i++) {
        const struct status_task task = cycle->tasks[i];
        if (look_is_listed(look_of(printer, task.rank), task.wait)) {
            fputs("    that is, for ", file);
            print_target(printer, task);
        } else {
            fprintf(file, "  locality %u:", (unsigned)task.rank);
            print_wait(printer, task);
        }
        fputc('\n', file);
    }
}

/* Tasks -------------------------------------------------------------------------------------- */

/* Of several that wait for a combinator: what TASK waits for. */
static void print_one_of(const struct printer *printer, struct status_task task)
{
    const struct look_inputs *inputs = status_model_target(printer->model, task).inputs;
    if (!inputs || inputs->scope)
        return;
    fprintf(printer->file, "    one of them, of locality %u, for ", (unsigned)task.rank);
    print_inputs(printer, inputs);
    fputs(":\n", printer->file);
    print_steps_below(printer, task, 1);
}

static void print_group(const struct printer *printer, const struct status_group *group)
{
    FILE *file = printer->file;
    const struct status_task task = {group->rank, group->wait};
    fprintf(file, "  %llu", (unsigned long long)group->num);
    if (group->num_localities == 1 && printer->model->job->num > 1)
        fprintf(file, " (locality %u)", (unsigned)group->rank);
    else if (printer->model->job->num > 1)
        fprintf(file, " (%u localities)", (unsigned)group->num_localities);
    fputc(' ', file);
    print_place(printer, group->rank, group->wait);
    fputs(" for ", file);
    if (group->num == 1)
        print_target(printer, task);
    else
        print_kind(printer, task);
    print_for(printer, group->age);
    fputs(group->num > 1 ? " at most\n" : "\n", file);
    if (group->num > 1)
        print_one_of(printer, task);
    else
        print_steps(printer, task);
}

static void print_groups(const struct printer *printer)
{
    const struct status_model *model = printer->model;
    if (model->num_groups == 0) {
        fputs(any_is_read(model->job) ? "no task waits\n" : "", printer->file);
        return;
    }
    fputs("waiting tasks:\n", printer->file);
    for (uint32_t i = 0; i < model->num_groups && i < MAX_GROUPS; i++)
        print_group(printer, &model->groups[i]);
    if (model->num_groups > MAX_GROUPS)
        fprintf(printer->file, "  and at %u other places\n",
                (unsigned)model->num_groups - MAX_GROUPS);
}

/* ------------------------------------------------------------------------------------------- */

/* Counts locality RANK in *NUM, and lists it if there is room, unless it has no process any more.
 */
static void print_process(const struct printer *printer, uint32_t rank, uint32_t *num)
{
    const struct status_locality *locality = &printer->model->job->localities[rank];
    if (locality->end || !locality->look || ++*num > MAX_LOCALITIES)
        return;
    fprintf(printer->file,
            *num > 1 ? ", %d (locality %u" : "processes, for gdb -p: %d (locality %u",
            locality->look->pid ? locality->look->pid : locality->pid, (unsigned)rank);
    if (locality->host)
        fprintf(printer->file, " on host %s", locality->host);
    fputc(')', printer->file);
}

/* Which processes the localities are, for whoever wants to look into one: those that were named,
 * and the others in which a task waits or computes. */
static void print_processes(const struct printer *printer)
{
    const struct status_job *job = printer->model->job;
    uint32_t num = 0;
    if (!job->pid)
        return;
    for (uint32_t i = 0; i < printer->named->num; i++)
        print_process(printer, printer->named->ranks[i], &num);
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        if (look && !is_named(printer->named, rank) &&
            (look->num_waits > 0 || status_find_busy(look)))
            print_process(printer, rank, &num);
    }
    if (num > MAX_LOCALITIES)
        fprintf(printer->file, " and %u more", (unsigned)num - MAX_LOCALITIES);
    fputs(num ? "\n" : "", printer->file);
}

void status_print(FILE *file, const struct status_model *model, struct symbols *symbols)
{
    struct named named = {.num = 0};
    const struct printer printer = {file, model, symbols, &named};
    const struct status_job *job = model->job;
    if (job->num_cores && job->num == 1)
        fprintf(file, "core file of process %d, alone: %s\n", job->localities[0].pid, job->program);
    else if (job->num_cores)
        fprintf(file, "core files of %u of %u localities: %s\n", (unsigned)job->num_cores,
                (unsigned)job->num, job->program);
    else if (job->pid)
        fprintf(file, "job %d, %u %s: %s\n", job->pid, (unsigned)job->num,
                job->num == 1 ? "locality" : "localities", job->program);
    else if (is_part(job))
        fprintf(file, "process %d, locality %u of %u, the others of which are not read: %s\n",
                job->localities[0].pid, (unsigned)job->localities[0].look->rank,
                (unsigned)job->localities[0].look->size, job->program);
    else
        fprintf(file, "process %d, alone: %s\n", job->localities[0].pid, job->program);
    print_localities(&printer);
    for (uint32_t i = 0; i < model->num_comms && i < MAX_COMMS; i++)
        print_comm(&printer, &model->comms[i]);
    if (model->num_comms > MAX_COMMS)
        fprintf(file, "and %u more communicators\n", (unsigned)model->num_comms - MAX_COMMS);
    for (uint32_t i = 0; i < model->num_creations && i < MAX_COMMS; i++)
        if (model->creations[i].parent)
            print_survivors(&printer, &model->creations[i]);
        else
            print_creation(&printer, &model->creations[i]);
    if (model->num_creations > MAX_COMMS)
        fprintf(file, "and %u more creations\n", (unsigned)model->num_creations - MAX_COMMS);
    for (uint32_t i = 0; i < model->num_cycles; i++)
        print_cycle(&printer, &model->cycles[i]);
    print_groups(&printer);
    print_processes(&printer);
}
