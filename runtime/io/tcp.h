/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_IO_TCP_H
#define COHORT_RUNTIME_IO_TCP_H

#include <stdbool.h>
#include <uv.h>

#include "cohort/tcp.h"
#include "runtime/base/list.h"
#include "runtime/io/object.h"

/* Room for "[ADDRESS%INTERFACE]:PORT". */
enum { COHORT__ADDRESS_BYTES = 96 };

/* A connection. All but the object's references, and the peer's name, is the holder's. */
struct cohort_tcp {
    struct cohort__io_object object; /* first: it is freed as an object */
    uv_tcp_t uv;
    char peer[COHORT__ADDRESS_BYTES];
    struct cohort__list reads; /* calls, the oldest first */
    bool is_reading;
    int read_end;               /* how reading has ended for good, UV_EOF or another error; or 0 */
    struct cohort__list writes; /* calls, the oldest first; libuv has that one only */
    bool is_writing;            /* libuv has it */
    bool is_shut;               /* for writing */
    uv_write_t write;
};

#endif
