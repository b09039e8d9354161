/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/memory.h"

#include <stdlib.h>
#include <string.h>

#include "cohort/scope.h"
#include "cohort/task.h"
#include "runtime/net/shm.h"
#include "runtime/proc/memory.h"
#include "runtime/proc/peer.h"
#include "runtime/remote/private.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"

/* Reading and writing the memory of other localities. Where this locality can see it, it does that
 * itself, in the call, or in a task if it is long. Else a task asks the owner, by remote tasks of
 * the library, piece by piece: so an operation of any size takes the memory of few pieces. */

enum {
    ON_THE_SPOT = 64 * 1024,
    PIECE = (1 << 20) - 32, /* with what is asked before it, one fetch within a host */
    PIECES = 4,             /* of one operation, that are under way at the same time */
};

enum kind { GET, PUT, ADD, NUM_KINDS };

static const char *const names[NUM_KINDS] = {"cohort_memory_get", "cohort_memory_put",
                                             "cohort_memory_add"};
static cohort__any_function *const shown[NUM_KINDS] = {(cohort__any_function *)cohort_memory_get,
                                                       (cohort__any_function *)cohort_memory_put,
                                                       (cohort__any_function *)cohort_memory_add};

/* A task carries it. */
struct operation {
    struct cohort__process *process;
    enum kind kind;
    uint32_t owner;
    uint32_t slot;      /* of the owner, if that is a peer of this host */
    uint64_t of_handle; /* how many bytes the handle has */
    struct cohort__block_name name;
    size_t offset; /* in the handle's memory */
    size_t bytes;
    void *mine;     /* of add: where the number before goes, or NULL */
    uint64_t value; /* to be added */
};

/* What the owner is asked; the bytes of a put follow. */
struct request {
    uint64_t id;
    uint64_t offset; /* in the block */
    uint64_t bytes;
    uint64_t value;
};
_Static_assert(PIECE + sizeof(struct request) == 1 << 20, "see there");

static bool is_word(const void *memory, size_t bytes)
{
    return bytes == sizeof(uint64_t) && (uintptr_t)memory % sizeof(uint64_t) == 0;
}

/* From THERE, where others may be at work. */
static void read_there(void *mine, const void *there, size_t bytes)
{
    uint64_t word;
    if (is_word(there, bytes)) {
        word = __atomic_load_n((const uint64_t *)there, __ATOMIC_SEQ_CST);
        memcpy(mine, &word, bytes);
    } else if (bytes > 0) {
        memcpy(mine, there, bytes);
    }
}

static void write_there(void *there, const void *mine, size_t bytes)
{
    uint64_t word;
    if (is_word(there, bytes)) {
        memcpy(&word, mine, bytes);
        __atomic_store_n((uint64_t *)there, word, __ATOMIC_SEQ_CST);
    } else if (bytes > 0) {
        memcpy(there, mine, bytes);
    }
}

/* The owner's side ----------------------------------------------------------------------------- */

static const char given_back[] = "the memory was given back";

/* *RET_THERE is what IN asks for. */
static cohort_status open_request(struct cohort__process *process, const cohort_object *in,
                                  struct request *ret_request, unsigned char **ret_there)
{
    if (in->bytes < sizeof(*ret_request))
        return cohort_fail(COHORT_ERR_PROTOCOL, "a request of %zu bytes", in->bytes);
    memcpy(ret_request, in->data, sizeof(*ret_request));
    *ret_there = cohort__blocks_find(&process->blocks, ret_request->id, ret_request->offset,
                                     ret_request->bytes);
    return *ret_there ? COHORT_OK : cohort_fail(COHORT_ERR_GONE, "%s", given_back);
}

static cohort_status give_copy(cohort_object *ret_out, const void *there, size_t bytes)
{
    void *data = malloc(bytes);
    if (!data && bytes > 0)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu bytes", bytes);
    read_there(data, there, bytes);
    *ret_out = (cohort_object){data, bytes};
    return COHORT_OK;
}

static cohort_status serve_get(const cohort_object *in, cohort_object *ret_out, void *process)
{
    struct request request;
    unsigned char *there = NULL;
    cohort_status status = open_request(process, in, &request, &there);
    return status ? status : give_copy(ret_out, there, request.bytes);
}

static cohort_status serve_put(const cohort_object *in, cohort_object *ret_out, void *process)
{
    struct request request;
    unsigned char *there = NULL;
    (void)ret_out;
    cohort_status status = open_request(process, in, &request, &there);
    if (!status && request.bytes != in->bytes - sizeof(request))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes instead of %llu",
                             in->bytes - sizeof(request), (unsigned long long)request.bytes);
    if (!status)
        write_there(there, (const unsigned char *)in->data + sizeof(request), request.bytes);
    return status;
}

static cohort_status serve_add(const cohort_object *in, cohort_object *ret_out, void *process)
{
    struct request request;
    unsigned char *there = NULL;
    cohort_status status = open_request(process, in, &request, &there);
    if (status)
        return status;
    if (!is_word(there, request.bytes))
        return cohort_fail(COHORT_ERR_PROTOCOL, "an add to no number");
    uint64_t before =
        __atomic_fetch_add((uint64_t *)(void *)there, request.value, __ATOMIC_SEQ_CST);
    return give_copy(ret_out, &before, sizeof(before));
}

cohort_status cohort__remote_memory_register(void)
{
    static cohort_remote_function *const functions[NUM_KINDS] = {serve_get, serve_put, serve_add};
    cohort_status status = COHORT_OK;
    for (int kind = 0; !status && kind < NUM_KINDS; kind++)
        status = cohort__remote_register_own(names[kind], functions[kind]);
    return status;
}

/* Asking the owner ----------------------------------------------------------------------------- */

/* A part of an operation. */
struct piece {
    cohort_future *future; /* NULL: it is over */
    void *request;         /* from malloc */
    size_t at;
    size_t bytes;
    cohort_object out;
};

static cohort_status piece_begin(const struct operation *operation, struct piece *piece, size_t at)
{
    const size_t left = operation->bytes - at;
    const struct cohort__remote_name name = {cohort__remote_hash(names[operation->kind]),
                                             names[operation->kind]};
    piece->at = at;
    piece->bytes = left < PIECE ? left : PIECE;
    const size_t data = operation->kind == PUT ? piece->bytes : 0;
    struct request *request = malloc(sizeof(*request) + data);
    if (!request)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for a piece of %zu bytes",
                           name.text, piece->bytes);
    *request = (struct request){.id = operation->name.id,
                                .offset = operation->name.offset + operation->offset + at,
                                .bytes = piece->bytes,
                                .value = operation->value};
    if (data > 0)
        memcpy(request + 1, (const unsigned char *)operation->mine + at, data);
    piece->request = request;
    piece->future =
        cohort__remote_call(cohort__remote_tasks_of(operation->process), operation->owner, 1, &name,
                            &(cohort_object){request, sizeof(*request) + data}, &piece->out);
    return COHORT_OK;
}

/* Waits for PIECE, if it is under way. */
static cohort_status piece_end(const struct operation *operation, struct piece *piece)
{
    if (!piece->future)
        return COHORT_OK;
    cohort_status status = cohort_await(piece->future);
    piece->future = NULL;
    free(piece->request);
    if (status || operation->kind == PUT)
        return status;
    if (piece->out.bytes != piece->bytes)
        status =
            cohort_fail(COHORT_ERR_PROTOCOL, "%s: locality %u has given %zu bytes, not %zu",
                        names[operation->kind], operation->owner, piece->out.bytes, piece->bytes);
    else if (operation->mine && piece->bytes > 0)
        memcpy((unsigned char *)operation->mine + piece->at, piece->out.data, piece->bytes);
    cohort_object_fini(&piece->out);
    return status;
}

static cohort_status ask(const struct operation *operation)
{
    struct piece pieces[PIECES] = {0};
    struct cohort__error first = {0};
    unsigned turn = 0;
    size_t at = 0;
    do { /* one at least: the owner says whether it has the block */
        struct piece *piece = &pieces[turn++ % PIECES];
        if (piece_end(operation, piece) || piece_begin(operation, piece, at))
            cohort__error_copy(&first, cohort__error_slot());
        at += PIECE;
    } while (!first.status && at < operation->bytes);
    for (unsigned i = 0; i < PIECES; i++)
        if (piece_end(operation, &pieces[turn++ % PIECES]) && !first.status)
            cohort__error_copy(&first, cohort__error_slot());
    cohort_status status = first.status;
    if (status)
        cohort__error_copy(cohort__error_slot(), &first);
    cohort__error_fini(&first);
    return status;
}

/* Memory that this locality can see ------------------------------------------------------------ */

static cohort_status fail(const struct operation *operation, cohort_status status, const char *why)
{
    return cohort_fail(status, "%s: %zu bytes at %zu of %llu bytes of locality %u: %s",
                       names[operation->kind], operation->bytes, operation->offset,
                       (unsigned long long)operation->of_handle, operation->owner, why);
}

/* Whether what was read, or done, is worth nothing: the owner has ended, and another locality,
 * which knew of it before this one, has given its memory back. Then it is asked, too. What was
 * read before this look is what was there; what was written may be lost in that moment, but then
 * nobody can look for it any more. */
static bool is_gone(const struct operation *operation)
{
    atomic_thread_fence(memory_order_acquire);
    return operation->owner != operation->process->options.rank &&
           cohort__shm_heap_is_gone(operation->process->net->near, operation->slot);
}

/* *RET_THERE is NULL where this locality has no way to the heap of the owner, which is another one.
 * There is none to that of a dead one, either, since it is no peer any more: who asks it hears so.
 */
static cohort_status look_in_heap(const struct operation *operation, unsigned char **ret_there)
{
    const struct cohort__block_name *name = &operation->name;
    struct cohort__net *near = operation->process->net ? operation->process->net->near : NULL;
    const uint64_t at = name->in_heap + operation->offset;
    const uint32_t slot = operation->slot;
    *ret_there = NULL;
    if (!near || name->word == COHORT__BLOCKS_NO_WORD ||
        !cohort__shm_is_peer(near, slot, operation->owner))
        return COHORT_OK;
    const unsigned char *word = cohort__shm_heap_read(near, slot, name->word, sizeof(uint64_t));
    unsigned char *there =
        operation->kind == GET
            ? (unsigned char *)(uintptr_t)cohort__shm_heap_read(near, slot, at, operation->bytes)
            : cohort__shm_heap_write(near, slot, at, operation->bytes);
    if (!word || !there)
        return COHORT_OK;
    if (__atomic_load_n((const uint64_t *)(const void *)word, __ATOMIC_SEQ_CST) == name->id)
        *ret_there = there;
    else if (!is_gone(operation))
        return fail(operation, COHORT_ERR_GONE, given_back);
    return COHORT_OK;
}

static cohort_status find(const struct operation *operation, unsigned char **ret_there)
{
    const uint32_t rank = operation->owner;
    const struct cohort__block_name *name = &operation->name;
    if (rank == operation->process->options.rank) {
        *ret_there = cohort__blocks_find(&operation->process->blocks, name->id,
                                         name->offset + operation->offset, operation->bytes);
        return *ret_there ? COHORT_OK : fail(operation, COHORT_ERR_GONE, given_back);
    }
    return look_in_heap(operation, ret_there);
}

static void move(const struct operation *operation, unsigned char *there)
{
    uint64_t before;
    if (operation->kind == GET)
        read_there(operation->mine, there, operation->bytes);
    else if (operation->kind == PUT)
        write_there(there, operation->mine, operation->bytes);
    if (operation->kind != ADD)
        return;
    before = __atomic_fetch_add((uint64_t *)(void *)there, operation->value, __ATOMIC_SEQ_CST);
    if (operation->mine)
        memcpy(operation->mine, &before, sizeof(before));
}

/* In a task. Others have their turn between two pieces; the owner may die then, and the scope be
 * cancelled. */
static cohort_status run(void *arg)
{
    const struct operation *operation = arg;
    struct operation piece = *operation;
    for (size_t done = 0;; cohort_yield()) {
        unsigned char *there;
        const size_t left = operation->bytes - done;
        piece.offset = operation->offset + done;
        piece.bytes = left < PIECE ? left : PIECE;
        if (cohort_cancelled())
            return fail(operation, COHORT_ERR_CANCELLED, "the scope was cancelled");
        cohort_status status = find(&piece, &there);
        if (status || !there)
            return status ? status : ask(operation);
        move(&piece, there);
        if (is_gone(&piece))
            return ask(operation);
        done += piece.bytes;
        if (done == operation->bytes)
            return COHORT_OK;
        piece.mine = (unsigned char *)operation->mine + done;
    }
}

/* Calls ---------------------------------------------------------------------------------------- */

static cohort_status check(struct operation *operation, const cohort_memory_handle *handle)
{
    const char *name = names[operation->kind];
    if (!operation->process || cohort__scheduler_is_closed())
        return cohort__scheduler_refuse(name);
    if (!handle)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: handle is NULL", name);
    operation->owner = handle->locality;
    operation->slot = handle->reserved;
    operation->of_handle = handle->bytes;
    if (!cohort__memory_name(operation->process, handle, &operation->name))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: the handle, which says %llu bytes of locality %u, is none that "
                           "cohort_memory_share has made in this job",
                           name, (unsigned long long)handle->bytes, handle->locality);
    if (operation->offset > handle->bytes || operation->bytes > handle->bytes - operation->offset)
        return fail(operation, COHORT_ERR_BAD_PARAMETER, "it has no such bytes");
    if (operation->kind != ADD && operation->bytes > 0 && !operation->mine)
        return fail(operation, COHORT_ERR_BAD_PARAMETER, "no memory here is given (NULL)");
    /* Blocks begin at multiples of 64. */
    if (operation->kind == ADD && (operation->name.offset + operation->offset) % 8 != 0)
        return fail(operation, COHORT_ERR_BAD_PARAMETER, "its address is no multiple of 8");
    return COHORT_OK;
}

static cohort_future *start_held(struct operation *operation, const cohort_memory_handle *handle)
{
    unsigned char *there = NULL;
    cohort_status status = check(operation, handle);
    if (!status)
        status = find(operation, &there);
    if (status)
        return cohort__future_of_status(status, cohort__error_slot());
    cohort_scope *scope = cohort__scope_current();
    if (there && operation->bytes <= ON_THE_SPOT && !(scope && cohort__scope_is_cancelled(scope))) {
        move(operation, there);
        if (!is_gone(operation))
            return cohort_future_of_value(NULL);
    }
    return cohort__task_start_carrying(scope, 0, run, shown[operation->kind], operation,
                                       sizeof(*operation));
}

/* A process that is NULL is this one's, if the runtime is up. No initializer, which would set all
 * to zero first: that takes as long as the rest of 8 bytes. */
static cohort_future *start(struct cohort__process *process, enum kind kind,
                            const cohort_memory_handle *handle, size_t offset, size_t bytes,
                            void *mine, uint64_t value)
{
    struct operation operation;
    if (cohort__fork_is_child())
        return cohort__fork_refused(names[kind]);
    if (cohort__scheduler_hold() && !process)
        process = cohort__process_current();
    operation.process = process;
    operation.kind = kind;
    operation.offset = offset;
    operation.bytes = bytes;
    operation.mine = mine;
    operation.value = value;
    cohort_future *future = start_held(&operation, handle);
    cohort__scheduler_release();
    return future;
}

cohort_future *cohort__memory_get_from(struct cohort__process *process,
                                       const cohort_memory_handle *handle, size_t offset, void *to,
                                       size_t bytes)
{
    return start(process, GET, handle, offset, bytes, to, 0);
}

cohort_future *cohort__memory_put_from(struct cohort__process *process,
                                       const cohort_memory_handle *handle, size_t offset,
                                       const void *from, size_t bytes)
{
    return start(process, PUT, handle, offset, bytes, (void *)(uintptr_t)from, 0);
}

cohort_future *cohort__memory_add_from(struct cohort__process *process,
                                       const cohort_memory_handle *handle, size_t offset,
                                       uint64_t value, uint64_t *ret_before)
{
    return start(process, ADD, handle, offset, sizeof(value), ret_before, value);
}

cohort_future *cohort_memory_get(const cohort_memory_handle *handle, size_t offset, void *to,
                                 size_t bytes)
{
    return cohort__memory_get_from(NULL, handle, offset, to, bytes);
}

cohort_future *cohort_memory_put(const cohort_memory_handle *handle, size_t offset,
                                 const void *from, size_t bytes)
{
    return cohort__memory_put_from(NULL, handle, offset, from, bytes);
}

cohort_future *cohort_memory_add(const cohort_memory_handle *handle, size_t offset, uint64_t value,
                                 uint64_t *ret_before)
{
    return cohort__memory_add_from(NULL, handle, offset, value, ret_before);
}
