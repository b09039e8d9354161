/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/file.h"

#include <fcntl.h>
#include <string.h>

#include <uv.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/io/object.h"
#include "runtime/loop/guest.h"

/* All of it is done by libuv's threads. All but the object's references, and the path, is the
 * holder's. */
struct cohort_file {
    struct cohort__io_object object; /* first: it is freed as an object */
    uv_file fd;
    unsigned num_calls; /* that have begun, and keep it from being closed */
    uv_fs_t close;
    char path[];
};

/* A call about a file. */
struct file_call {
    struct cohort__io_object_call call;
    uv_fs_t request;
    int64_t offset;
    uv_buf_t rest; /* of the buffer, or of the data */
    size_t done;   /* bytes before that */
    union {
        size_t *ret_bytes;
        uint64_t *ret_size;
    };
};

static struct file_call *file_call_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct file_call, call.call);
}

static cohort_file *file_of(struct cohort__io_object *object)
{
    return COHORT_CONTAINER_OF(object, cohort_file, object);
}

/* --- its life --- */

static void closed(uv_fs_t *request)
{
    cohort_file *file = COHORT_CONTAINER_OF(request, cohort_file, close);
    cohort_status status = COHORT_OK;
    cohort__loop_note(file->object.loop);
    if (request->result < 0)
        status = cohort__loop_fail((int)request->result, "cohort_file_close: %s", file->path);
    uv_fs_req_cleanup(request);
    cohort__io_object_closed(&file->object, status);
}

static void close_now(cohort_file *file)
{
    uv_fs_close(cohort__loop_uv(file->object.loop), &file->close, file->fd, closed);
}

/* Calls that have begun are not ended: a thread may be using the descriptor. */
static void close_file(struct cohort__io_object *object)
{
    cohort_file *file = file_of(object);
    if (file->num_calls == 0)
        close_now(file);
}

static const struct cohort__io_object_kind file_kind = {
    .noun = "file",
    .name = "cohort_file_close",
    .close = close_file,
};

/* For a public FUNCTION. */
__attribute__((always_inline)) static inline void check(const cohort_file *file,
                                                        const char *function)
{
    cohort__io_object_check(&file->object, "file", function);
}

cohort_file *cohort_file_ref(cohort_file *file)
{
    if (!file)
        return NULL;
    check(file, "cohort_file_ref");
    cohort__io_object_ref(&file->object);
    return file;
}

void cohort_file_unref(cohort_file *file)
{
    if (!file)
        return;
    check(file, "cohort_file_unref");
    cohort__io_object_unref(&file->object);
}

cohort_future *cohort_file_close(cohort_file *file)
{
    if (!file)
        return cohort__io_refuse(file_kind.name, COHORT_ERR_BAD_PARAMETER, "file is NULL");
    check(file, file_kind.name);
    return cohort__io_object_close_call(&file->object);
}

/* --- opening --- */

struct open_call {
    struct cohort__io_call call;
    uv_fs_t request;
    cohort_file **ret_file;
    cohort_file *file; /* allocated before the file is open, so that nothing can fail after that */
    int flags, mode;
};

static struct open_call *open_call_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct open_call, call);
}

/* The runtime has ended, and nobody would close it. */
static int close_late(struct open_call *open, int fd)
{
    uv_fs_close(cohort__loop_uv(open->call.loop), &open->request, fd, NULL);
    uv_fs_req_cleanup(&open->request);
    return UV_ECANCELED;
}

static void opened(uv_fs_t *request)
{
    struct open_call *open = COHORT_CONTAINER_OF(request, struct open_call, request);
    cohort_file *file = open->file;
    int result = (int)request->result;
    cohort__loop_note(open->call.loop);
    uv_fs_req_cleanup(request);
    if (result >= 0 && !cohort__loop_attached())
        result = close_late(open, result);
    if (result >= 0) {
        open->file = NULL;
        file->fd = result;
        cohort__io_object_open(&file->object, &file_kind, open->call.loop, file->path);
        cohort__io_object_give(&file->object);
        *open->ret_file = file;
    }
    if (result == UV_ECANCELED)
        cohort__io_call_end_early(&open->call, file->path);
    else
        cohort__io_call_end_uv(&open->call, result, file->path);
}

static void open_begin(struct cohort__io_call *call)
{
    struct open_call *open = open_call_of(call);
    int error = uv_fs_open(cohort__loop_uv(call->loop), &open->request, open->file->path,
                           open->flags | O_CLOEXEC, open->mode, opened);
    if (error)
        cohort__io_call_end_uv(call, error, open->file->path);
}

/* As far as no thread has begun it; then libuv calls back with UV_ECANCELED. */
static void open_cancel(struct cohort__io_call *call)
{
    uv_cancel((uv_req_t *)&open_call_of(call)->request);
}

static void open_release(struct cohort__io_call *call)
{
    cohort__slab_free(open_call_of(call)->file);
}

static const struct cohort__io_call_kind open_kind = {
    .name = "cohort_file_open",
    .begin = open_begin,
    .cancel = open_cancel,
    .release = open_release,
};

cohort_future *cohort_file_open(const char *path, int flags, int mode, cohort_file **ret_file)
{
    if (!path || !ret_file)
        return cohort__io_refuse(open_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 path ? "ret_file is NULL" : "path is NULL");
    size_t bytes = strlen(path) + 1;
    struct open_call *open = cohort__io_call_create(sizeof(*open), &open_kind);
    cohort_file *file = cohort__slab_alloc_zero(sizeof(*file) + bytes);
    if (!open || !file) {
        cohort__slab_free(open);
        cohort__slab_free(file);
        return cohort__io_refuse(open_kind.name, COHORT_ERR_NO_MEMORY, "out of memory");
    }
    memcpy(file->path, path, bytes);
    open->file = file;
    open->ret_file = ret_file;
    open->flags = flags;
    open->mode = mode;
    return cohort__io_call_start(&open->call);
}

/* --- what calls about a file have in common --- */

/* As far as no thread has begun it. One that has been done in part goes on to its end. */
static void file_cancel(struct cohort__io_call *call)
{
    if (file_call_of(call)->done == 0)
        uv_cancel((uv_req_t *)&file_call_of(call)->request);
}

/* Whether CALL may begin. If not, it has ended. */
static bool is_open(struct cohort__io_call *call)
{
    if (!cohort__io_object_admits(call))
        return false;
    file_of(cohort__io_object_of(call))->num_calls++;
    return true;
}

/* ERROR is libuv's, or not negative. */
static void end(struct file_call *call, int64_t error)
{
    cohort_file *file = file_of(call->call.object);
    bool is_last = --file->num_calls == 0 && file->object.is_closing;
    uv_fs_req_cleanup(&call->request);
    if (error == UV_ECANCELED)
        cohort__io_call_end_early(&call->call.call, file->path);
    else
        cohort__io_call_end_uv(&call->call.call, error < 0 ? (int)error : 0, file->path);
    if (is_last)
        close_now(file);
}

/* --- reading and writing --- */

static void go_on(struct file_call *call);

/* The system may do a part of it. */
static void moved(uv_fs_t *request)
{
    struct file_call *call = COHORT_CONTAINER_OF(request, struct file_call, request);
    ssize_t result = request->result;
    cohort__loop_note(call->call.call.loop);
    if (result > 0) {
        call->done += (size_t)result;
        call->rest.base += result;
        call->rest.len -= (size_t)result;
    }
    if (result > 0 && call->rest.len > 0) {
        uv_fs_req_cleanup(request);
        go_on(call);
    } else {
        if (result >= 0 && call->ret_bytes)
            *call->ret_bytes = call->done;
        end(call, result == 0 && call->rest.len > 0 && !call->ret_bytes ? UV_EIO : result);
    }
}

static void go_on(struct file_call *call)
{
    const cohort_file *file = file_of(call->call.object);
    uv_loop_t *loop = cohort__loop_uv(file->object.loop);
    int64_t offset = call->offset + (int64_t)call->done;
    int error = call->ret_bytes
                    ? uv_fs_read(loop, &call->request, file->fd, &call->rest, 1, offset, moved)
                    : uv_fs_write(loop, &call->request, file->fd, &call->rest, 1, offset, moved);
    if (error)
        end(call, error);
}

static void move_begin(struct cohort__io_call *call)
{
    if (is_open(call))
        go_on(file_call_of(call));
}

static const struct cohort__io_call_kind read_kind = {
    .name = "cohort_file_read",
    .begin = move_begin,
    .cancel = file_cancel,
    .release = cohort__io_object_call_release,
};

static const struct cohort__io_call_kind write_kind = {
    .name = "cohort_file_write",
    .begin = move_begin,
    .cancel = file_cancel,
    .release = cohort__io_object_call_release,
};

/* RET_BYTES NULL: a write. */
static cohort_future *start_move(cohort_file *file, uint64_t offset, void *buffer, size_t bytes,
                                 size_t *ret_bytes, const struct cohort__io_call_kind *kind)
{
    if (offset > INT64_MAX || bytes > INT64_MAX - offset)
        return cohort__io_refuse(kind->name, COHORT_ERR_BAD_PARAMETER,
                                 "the end is above INT64_MAX");
    struct file_call *call = cohort__io_call_create(sizeof(*call), kind);
    if (!call)
        return cohort__io_refuse(kind->name, COHORT_ERR_NO_MEMORY, "out of memory");
    call->offset = (int64_t)offset;
    call->rest = (uv_buf_t){.base = buffer, .len = bytes};
    call->ret_bytes = ret_bytes;
    return cohort__io_object_call_start(&call->call, &file->object);
}

cohort_future *cohort_file_read(cohort_file *file, uint64_t offset, void *buffer, size_t bytes,
                                size_t *ret_bytes)
{
    static char nothing;
    if (!file || (!buffer && bytes > 0) || !ret_bytes)
        return cohort__io_refuse(read_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 !file       ? "file is NULL"
                                 : ret_bytes ? "buffer is NULL"
                                             : "ret_bytes is NULL");
    check(file, read_kind.name);
    return start_move(file, offset, buffer ? buffer : &nothing, bytes, ret_bytes, &read_kind);
}

cohort_future *cohort_file_write(cohort_file *file, uint64_t offset, const void *data, size_t bytes)
{
    if (!file || (!data && bytes > 0))
        return cohort__io_refuse(write_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 file ? "data is NULL" : "file is NULL");
    check(file, write_kind.name);
    return start_move(file, offset, (void *)(data ? data : ""), bytes, NULL, &write_kind);
}

/* --- the rest --- */

static void synced(uv_fs_t *request)
{
    struct file_call *sync = COHORT_CONTAINER_OF(request, struct file_call, request);
    cohort__loop_note(sync->call.call.loop);
    end(sync, request->result);
}

static void sync_begin(struct cohort__io_call *call)
{
    struct file_call *sync = file_call_of(call);
    if (!is_open(call))
        return;
    int error = uv_fs_fsync(cohort__loop_uv(call->loop), &sync->request,
                            file_of(sync->call.object)->fd, synced);
    if (error)
        end(sync, error);
}

static void measured(uv_fs_t *request)
{
    struct file_call *size = COHORT_CONTAINER_OF(request, struct file_call, request);
    cohort__loop_note(size->call.call.loop);
    if (request->result >= 0)
        *size->ret_size = request->statbuf.st_size;
    end(size, request->result);
}

static void size_begin(struct cohort__io_call *call)
{
    struct file_call *size = file_call_of(call);
    if (!is_open(call))
        return;
    int error = uv_fs_fstat(cohort__loop_uv(call->loop), &size->request,
                            file_of(size->call.object)->fd, measured);
    if (error)
        end(size, error);
}

static const struct cohort__io_call_kind sync_kind = {
    .name = "cohort_file_sync",
    .begin = sync_begin,
    .cancel = file_cancel,
    .release = cohort__io_object_call_release,
};

static const struct cohort__io_call_kind size_kind = {
    .name = "cohort_file_size",
    .begin = size_begin,
    .cancel = file_cancel,
    .release = cohort__io_object_call_release,
};

/* RET_SIZE NULL: a sync. */
static cohort_future *start_other(cohort_file *file, uint64_t *ret_size,
                                  const struct cohort__io_call_kind *kind)
{
    struct file_call *call = cohort__io_call_create(sizeof(*call), kind);
    if (!call)
        return cohort__io_refuse(kind->name, COHORT_ERR_NO_MEMORY, "out of memory");
    call->ret_size = ret_size;
    return cohort__io_object_call_start(&call->call, &file->object);
}

cohort_future *cohort_file_sync(cohort_file *file)
{
    if (!file)
        return cohort__io_refuse(sync_kind.name, COHORT_ERR_BAD_PARAMETER, "file is NULL");
    check(file, sync_kind.name);
    return start_other(file, NULL, &sync_kind);
}

cohort_future *cohort_file_size(cohort_file *file, uint64_t *ret_bytes)
{
    if (!file || !ret_bytes)
        return cohort__io_refuse(size_kind.name, COHORT_ERR_BAD_PARAMETER,
                                 file ? "ret_bytes is NULL" : "file is NULL");
    check(file, size_kind.name);
    return start_other(file, ret_bytes, &size_kind);
}
