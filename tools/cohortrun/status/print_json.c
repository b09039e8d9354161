/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the same as JSON, for programs. */
#include "tools/cohortrun/status/print.h"

#include "tools/cohortrun/status/symbols.h"
#include "tools/share/json.h"
#include "tools/share/wait_words.h"

struct writer {
    struct json json;
    const struct status_model *model;
    struct symbols *symbols;
};

static void write_seconds(struct writer *writer, const char *key, uint64_t age)
{
    if (age != STATUS_NEVER)
        json_rounded(&writer->json, key, (double)age / 1e9, 3);
}

/* Numbers of 64 bits are texts, since not all readers have them as numbers. */
static void write_address(struct writer *writer, const char *key, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
    json_text(&writer->json, key, text);
}

static void begin_list(struct writer *writer, const char *key)
{
    json_break(&writer->json, 1);
    json_begin(&writer->json, key, '[');
}

/* An element of a list of the whole, on a line of its own. */
static void begin_element(struct writer *writer)
{
    json_break(&writer->json, 2);
    json_begin(&writer->json, NULL, '{');
}

/* Waits -------------------------------------------------------------------------------------- */

static const char *creation_word(enum cohort__join_kind kind)
{
    return kind == COHORT__JOIN_AGREEMENT ? "agreement"
           : kind == COHORT__JOIN_SHRINK  ? "shrink"
           : kind == COHORT__JOIN_SPLIT   ? "split"
                                          : "creation";
}

static void write_inputs(struct writer *writer, const struct look_inputs *inputs)
{
    struct json *json = &writer->json;
    json_count(json,
               inputs->is_range ? "parts_left"
               : inputs->scope  ? "tasks_left"
                                : "pending",
               inputs->num);
    if (inputs->is_range)
        return;
    if (inputs->scope) {
        json_bool(json, "cancelled", inputs->is_cancelled);
    } else {
        json_count(json, "wanted", inputs->wanted);
        write_address(writer, "combinator", inputs->of);
    }
}

static void write_target(struct writer *writer, struct status_task task)
{
    struct json *json = &writer->json;
    const struct status_target target = status_model_target(writer->model, task);
    const struct look_pending *pending = target.pending;
    json_text(json, "for",
              target.inputs && target.inputs->is_range     ? "range"
              : target.inputs && target.inputs->scope      ? "scope"
              : target.creation && target.creation->parent ? creation_word(target.creation->kind)
              : target.creation                            ? wait_words[COHORT__WAIT_CREATION].word
                                                           : wait_words[task.wait->kind].word);
    if (wait_words[task.wait->kind].object)
        json_text(json, "object", wait_words[task.wait->kind].object);
    if (target.inputs)
        write_inputs(writer, target.inputs);
    if (target.name)
        json_text(json, "communicator", target.name);
    else if (target.creation)
        json_text(json, "communicator", target.creation->name);
    if (pending && pending->kind == COHORT__WAIT_REMOTE) {
        json_text(json, "function", pending->name);
        json_count(json, "locality", pending->peer);
    } else if (pending && pending->kind != COHORT__WAIT_COLLECTIVE) {
        if (pending->peer != UINT32_MAX)
            json_count(json, "site", pending->peer);
        json_count(json, "tag", pending->number);
    } else if (pending || target.comm) {
        json_count(json, "generation", pending ? pending->number : target.comm->generation);
    }
    if (target.task)
        write_address(writer, "awaits", target.task);
    if (target.serving.wait)
        write_address(writer, "serving_task", target.serving.wait->task & COHORT__LEDGER_ADDRESS);
    if (target.has_peer)
        json_count(json,
                   task.wait->kind == COHORT__WAIT_SET ? "receiver_locality" : "sender_locality",
                   target.peer.rank);
}

static void write_wait(struct writer *writer, const char *key, struct status_task task)
{
    struct json *json = &writer->json;
    const struct look_wait *wait = task.wait;
    struct status_place place;
    status_place_find(&place, writer->symbols, writer->model->job->localities[task.rank].look,
                      wait);
    json_begin(json, key, '{');
    if (place.is_at_end)
        json_bool(json, "at_end", true);
    else if (!place.caller[0])
        json_bool(json, "has_to_begin", true);
    else
        json_text(json, "in", place.caller);
    if (place.line[0])
        json_text(json, "line", place.line);
    if (place.function[0])
        json_text(json, "task_function", place.function);
    if (wait->task)
        write_address(writer, "task", wait->task & COHORT__LEDGER_ADDRESS);
    write_target(writer, task);
    write_seconds(writer, "seconds", wait->age);
    json_end(json, '}');
}

static void write_input(struct writer *writer, const char *key, struct status_task input)
{
    json_begin(&writer->json, key, '{');
    write_target(writer, input);
    json_end(&writer->json, '}');
}

/* In a list, not in what waits for it: combinators may be nested deeply. */
static void write_combinator(struct writer *writer, uint32_t rank, const struct look_inputs *inputs)
{
    struct json *json = &writer->json;
    const struct look *look = writer->model->job->localities[rank].look;
    begin_element(writer);
    json_count(json, "locality", rank);
    write_inputs(writer, inputs);
    write_seconds(writer, "seconds", inputs->age);
    json_begin(json, "inputs", '[');
    for (uint32_t i = 0; i < inputs->num_listed; i++)
        write_input(writer, NULL, (struct status_task){rank, &look->listed[inputs->first + i]});
    json_end(json, ']');
    json_end(json, '}');
}

static void write_combinators(struct writer *writer)
{
    const struct status_job *job = writer->model->job;
    begin_list(writer, "combinators");
    for (uint32_t rank = 0; rank < job->num; rank++) {
        const struct look *look = job->localities[rank].look;
        for (uint32_t i = 0; look && i < look->num_inputs; i++)
            if (!look->inputs[i].scope)
                write_combinator(writer, rank, &look->inputs[i]);
    }
    json_end(&writer->json, ']');
}

/* Localities --------------------------------------------------------------------------------- */

static const char *stage_word(enum cohort__ledger_stage stage)
{
    return stage == COHORT__LEDGER_STARTING   ? "starting"
           : stage == COHORT__LEDGER_RUNNING  ? "running"
           : stage == COHORT__LEDGER_RETURNED ? "returned"
                                              : "over";
}

static void write_blocked(struct writer *writer, const struct look *look)
{
    struct json *json = &writer->json;
    json_begin(json, "blocked", '[');
    for (uint32_t i = 0; i < look->num_workers; i++) {
        const struct look_worker *worker = &look->workers[i];
        if (!look_is_blocked(worker))
            continue;
        json_begin(json, NULL, '{');
        json_count(json, "worker", worker->index);
        write_seconds(writer, "seconds", worker->age);
        if (worker->kernel_function[0])
            json_text(json, "kernel_function", worker->kernel_function);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_computing(struct writer *writer, const struct look *look)
{
    struct json *json = &writer->json;
    char name[STATUS_NAME_BYTES];
    json_begin(json, "computing", '[');
    for (uint32_t i = 0; i < look->num_workers; i++) {
        const struct look_worker *worker = &look->workers[i];
        if (!look_is_busy(worker))
            continue;
        json_begin(json, NULL, '{');
        json_count(json, "worker", worker->index);
        status_place_function(name, writer->symbols, look, worker->function);
        if (worker->function)
            json_text(json, "task_function", name);
        write_seconds(writer, "seconds", worker->age);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_locality(struct writer *writer, uint32_t rank)
{
    struct json *json = &writer->json;
    const struct status_locality *locality = &writer->model->job->localities[rank];
    const struct look *look = locality->look;
    begin_element(writer);
    json_count(json, "locality", rank);
    if (locality->pid || !writer->model->job->num_cores)
        json_count(json, "pid", (uint64_t)locality->pid);
    if (look && look->pid && look->pid != locality->pid)
        json_count(json, "member_pid", (uint64_t)look->pid);
    if (locality->host)
        json_text(json, "host", locality->host);
    if (locality->end)
        json_text(json, "end", locality->end);
    if (locality->core)
        json_text(json, "core", locality->core);
    if (locality->signal)
        json_count(json, "signal", (uint64_t)locality->signal);
    if (!look && locality->why)
        json_text(json, "unread", locality->why);
    if (look) {
        json_text(json, "stage", stage_word(look->stage));
        write_seconds(writer, "stage_seconds", look->stage_age);
        json_number(json, "status", look->status);
        if (look->words[0])
            json_text(json, "error", look->words);
        json_bool(json, "stopped", look->is_stopped);
        json_bool(json, "cut", look->is_cut);
        json_count(json, "waiting", look->num_waits);
        write_blocked(writer, look);
        write_computing(writer, look);
    }
    json_end(json, '}');
}

/* Communicators ------------------------------------------------------------------------------ */

static const char *fate_word(enum status_fate fate)
{
    static const char *const words[] = {
        [STATUS_WAITS] = "waits",       [STATUS_RUNS] = "runs",
        [STATUS_COMPUTES] = "computes", [STATUS_STOPPED] = "stopped",
        [STATUS_RETURNED] = "returned", [STATUS_ENDED] = "ended",
        [STATUS_LEFT] = "absent",
    };
    return words[fate];
}

static void write_missing(struct writer *writer, const struct status_site *missing, uint32_t num)
{
    struct json *json = &writer->json;
    json_begin(json, "missing", '[');
    for (uint32_t i = 0; i < num; i++) {
        const struct status_site *site = &missing[i];
        if (site->fate == STATUS_LEFT)
            continue; /* see write_absent */
        json_break(json, 3);
        json_begin(json, NULL, '{');
        json_count(json, "site", site->site);
        json_count(json, "locality", site->rank);
        json_count(json, "last_called", site->last_called);
        json_text(json, "fate", fate_word(site->fate));
        write_seconds(writer, "seconds", site->age);
        if (site->fate == STATUS_WAITS || (site->fate == STATUS_STOPPED && site->wait))
            write_wait(writer, "wait", (struct status_task){site->rank, site->wait});
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void write_range(struct writer *writer, uint64_t next, uint64_t end)
{
    if (next >= end)
        return;
    json_begin(&writer->json, NULL, '[');
    json_count(&writer->json, NULL, next);
    json_count(&writer->json, NULL, end - 1);
    json_end(&writer->json, ']');
}

/* Sites that have no line anywhere, as pairs of the first and the last one. */
static void write_absent(struct writer *writer, const struct status_comm *comm)
{
    uint32_t num;
    const struct status_entry *entries =
        status_find_sites(writer->model->index, comm->instance, &num);
    uint64_t next = 0;
    json_begin(&writer->json, "absent", '[');
    for (uint32_t i = 0; i < num; i++) {
        const struct cohort__site_line *site = entries[i].site;
        if (site->site < next)
            continue;
        write_range(writer, next, site->site);
        next = (uint64_t)site->site + 1;
    }
    write_range(writer, next, comm->num_sites);
    json_end(&writer->json, ']');
}

static void write_comm(struct writer *writer, const struct status_comm *comm)
{
    struct json *json = &writer->json;
    begin_element(writer);
    json_text(json, "name", comm->name);
    write_address(writer, "instance", comm->instance);
    json_count(json, "num_sites", comm->num_sites);
    json_count(json, "generation", comm->generation);
    json_count(json, "num_called", comm->num_come);
    json_count(json, "num_waiting", comm->num_waiting);
    write_seconds(writer, "seconds", comm->age);
    json_count(json, "num_missing", comm->num_missing);
    write_missing(writer, comm->missing, comm->num_listed);
    write_absent(writer, comm);
    if (comm->account) {
        json_begin(json, "says", '{');
        json_count(json, "site", comm->account->site);
        json_text(json, "text", comm->account->text);
        json_end(json, '}');
    }
    json_end(json, '}');
}

static void write_creation(struct writer *writer, const struct status_creation *creation)
{
    struct json *json = &writer->json;
    begin_element(writer);
    json_text(json, "name", creation->name);
    json_count(json, "num_sites", creation->num_sites);
    json_text(json, "kind", creation_word(creation->kind));
    json_bool(json, "split", creation->kind == COHORT__JOIN_SPLIT);
    write_seconds(writer, "seconds", creation->age);
    json_begin(json, "joined", '[');
    for (uint32_t i = 0; i < creation->num_joins; i++) {
        const struct status_join *join = &creation->joins[i];
        json_break(json, 3);
        json_begin(json, NULL, '{');
        json_count(json, "site", join->site);
        json_count(json, "locality", join->rank);
        write_seconds(writer, "seconds", join->age);
        if (join->wait)
            write_wait(writer, "wait", (struct status_task){join->rank, join->wait});
        json_end(json, '}');
    }
    json_end(json, ']');
    if (creation->parent)
        write_missing(writer, creation->missing, creation->num_missing);
    json_begin(json, "returned", '[');
    for (uint32_t i = 0; i < creation->num_returned; i++)
        json_count(json, NULL, creation->returned[i]);
    json_end(json, ']');
    if (creation->alike) {
        json_begin(json, "looks_like", '{');
        json_text(json, "name", creation->alike);
        json_count(json, "num_sites", creation->alike_sites);
        json_bool(json, "exists", !creation->is_alike_pending);
        json_end(json, '}');
    }
    json_end(json, '}');
}

/* Tasks -------------------------------------------------------------------------------------- */

static void write_cycle(struct writer *writer, const struct status_cycle *cycle)
{
    struct json *json = &writer->json;
    begin_element(writer);
    json_bool(json, "certain", cycle->is_certain);
    json_begin(json, "tasks", '[');
    for (uint32_t i = 0; i < cycle->num; i++) {
        json_begin(json, NULL, '{');
        const struct status_task task = cycle->tasks[i];
        json_count(json, "locality", task.rank);
        if (look_is_listed(writer->model->job->localities[task.rank].look, task.wait)) {
            json_bool(json, "is_input", true);
            write_input(writer, "wait", task);
        } else {
            write_wait(writer, "wait", task);
        }
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

static void write_group(struct writer *writer, const struct status_group *group)
{
    struct json *json = &writer->json;
    begin_element(writer);
    json_count(json, "num", group->num);
    json_count(json, "num_localities", group->num_localities);
    json_count(json, "locality", group->rank);
    write_seconds(writer, "seconds", group->age);
    /* Of several it is the place and the kind only that they share. */
    write_wait(writer, group->num == 1 ? "wait" : "one_of_them",
               (struct status_task){group->rank, group->wait});
    json_end(json, '}');
}

/* -------------------------------------------------------------------------------------------- */

void status_json(FILE *file, const struct status_model *model, struct symbols *symbols)
{
    struct writer writer = {.json = {.file = file}, .model = model, .symbols = symbols};
    struct json *json = &writer.json;
    const struct status_job *job = model->job;
    json_begin(json, NULL, '{');
    json_count(json, "version", STATUS_JSON_VERSION);
    if (job->pid)
        json_count(json, "job", (uint64_t)job->pid);
    json_text(json, "program", job->program);
    begin_list(&writer, "localities");
    for (uint32_t rank = 0; rank < job->num; rank++)
        write_locality(&writer, rank);
    json_end(json, ']');
    begin_list(&writer, "communicators");
    for (uint32_t i = 0; i < model->num_comms; i++)
        write_comm(&writer, &model->comms[i]);
    json_end(json, ']');
    begin_list(&writer, "creations");
    for (uint32_t i = 0; i < model->num_creations; i++)
        write_creation(&writer, &model->creations[i]);
    json_end(json, ']');
    begin_list(&writer, "deadlocks");
    for (uint32_t i = 0; i < model->num_cycles; i++)
        write_cycle(&writer, &model->cycles[i]);
    json_end(json, ']');
    begin_list(&writer, "waiting");
    for (uint32_t i = 0; i < model->num_groups; i++)
        write_group(&writer, &model->groups[i]);
    json_end(json, ']');
    write_combinators(&writer);
    json_end(json, '}');
    fputc('\n', file);
}
