/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cohort/cohort.h>

/* Remote tasks in a real job. The argument says what locality 0 does; the others only return, so
 * all that they run comes from elsewhere after their program is over. */

static const char *mode;

static void report(const char *what, cohort_status status)
{
    printf("%s: %s%s%s\n", what, cohort_status_name(status), status ? ": " : "",
           status ? cohort_error_message() : "");
}

static cohort_status reverse(const cohort_object *in, cohort_object *ret_out, void *context)
{
    unsigned char *data = malloc(in->bytes + 1);
    if (!data)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "reverse: no memory");
    for (size_t i = 0; i < in->bytes; i++)
        data[i] = ((const unsigned char *)in->data)[in->bytes - 1 - i];
    *ret_out = (cohort_object){data, in->bytes};
    return COHORT_OK;
}

static cohort_status where(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t *number = malloc(sizeof(*number));
    if (!number)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "where: no memory");
    *number = cohort_locality();
    *ret_out = (cohort_object){number, sizeof(*number)};
    return COHORT_OK;
}

/* Calls all from where it is. Each result is in its place. */
static cohort_status ask_all(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t num = cohort_num_localities();
    cohort_object *outs = calloc(num, sizeof(*outs));
    if (!outs)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "ask_all: no memory");
    cohort_status status = cohort_await(cohort_async_everywhere("where", NULL, outs));
    for (uint32_t i = 0; !status && i < num; i++)
        if (outs[i].bytes != sizeof(i) || memcmp(outs[i].data, &i, sizeof(i)) != 0)
            status = cohort_fail(COHORT_ERR_FAILED, "the result of %u is wrong", (unsigned)i);
    cohort_objects_fini(outs, num);
    free(outs);
    return status;
}

static cohort_status refuse(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return cohort_locality() < 2
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_NOT_SUPPORTED, "not in %u", (unsigned)cohort_locality());
}

static cohort_status die(const cohort_object *in, cohort_object *ret_out, void *context)
{
    raise(SIGKILL);
    return COHORT_OK;
}

/* Tells the next locality to say where it is, in a task that nobody awaits. */
static cohort_status print_later(void *arg)
{
    for (int i = 0; i < 1000; i++)
        cohort_yield();
    printf("late %u\n", (unsigned)cohort_locality());
    return COHORT_OK;
}

static cohort_status leave_task(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t next = cohort_locality() + 1;
    cohort_future_unref(cohort_async(print_later, NULL));
    if (next < cohort_num_localities())
        cohort_future_unref(cohort_async_at(next, "leave_task", NULL, NULL));
    return COHORT_OK;
}

static void check_reverse(uint32_t locality, size_t bytes)
{
    unsigned char *data = malloc(bytes + 1);
    cohort_object out = {0};
    if (!data)
        abort();
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 13 + (i >> 8));
    cohort_status status =
        cohort_await(cohort_async_at(locality, "reverse", &(cohort_object){data, bytes}, &out));
    bool is_right = status == COHORT_OK && out.bytes == bytes;
    for (size_t i = 0; is_right && i < bytes; i++)
        is_right = ((unsigned char *)out.data)[bytes - 1 - i] == data[i];
    if (status)
        report("reverse", status);
    else if (!is_right)
        printf("reverse of %zu bytes at %u is wrong\n", bytes, (unsigned)locality);
    cohort_object_fini(&out);
    free(data);
}

static void call_each(void)
{
    static const size_t sizes[] = {0, 1, 8, 256, 257, 4096, 5000, 20000, 65536, 1 << 20, 5 << 20};
    for (uint32_t to = 0; to < cohort_num_localities(); to++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            check_reverse(to, sizes[i]);
    printf("called\n");
}

static void call_all(void)
{
    uint32_t num = cohort_num_localities();
    for (uint32_t i = 0; i < num; i++)
        report("everywhere", cohort_await(cohort_async_at(i, "ask_all", NULL, NULL)));
    report("refuse", cohort_await(cohort_async_everywhere("refuse", NULL, NULL)));
    report("unknown", cohort_await(cohort_async_at(1, "unknown", NULL, NULL)));
    report("far away", cohort_await(cohort_async_at(num, "where", NULL, NULL)));
}

enum { NUM_AT_ONCE = 20000 };

static void call_many(void)
{
    cohort_future **futures = calloc(NUM_AT_ONCE, sizeof(cohort_future *));
    if (!futures)
        abort();
    for (uint32_t i = 0; i < NUM_AT_ONCE; i++)
        futures[i] = cohort_async_at(i % cohort_num_localities(), "reverse",
                                     &(cohort_object){&i, sizeof(i)}, NULL);
    report("many", cohort_await(cohort_when_all(futures, NUM_AT_ONCE)));
    free(futures);
}

/* In a scope: a tree of tasks, each in the next locality. */

static _Atomic uint32_t num_grown;

enum { DEPTH = 8 };

static cohort_status grow(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t depth;
    memcpy(&depth, in->data, sizeof(depth));
    num_grown++;
    if (depth == DEPTH / 2 && cohort_locality() == 1 && strcmp(mode, "scope_dies") == 0)
        raise(SIGKILL);
    depth++;
    for (uint32_t i = 1; depth <= DEPTH && i <= 2; i++) {
        uint32_t to = (cohort_locality() + i) % cohort_num_localities();
        cohort_status status = cohort_scope_async_at(cohort_scope_current(), to, "grow",
                                                     &(cohort_object){&depth, sizeof(depth)});
        if (status)
            return status;
    }
    return COHORT_OK;
}

static cohort_status count_grown(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t *number = malloc(sizeof(*number));
    if (!number)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "count_grown: no memory");
    *number = num_grown;
    *ret_out = (cohort_object){number, sizeof(*number)};
    return COHORT_OK;
}

/* How many there were. All are counted, since the scope's end is the end of all of them. */
static void print_grown(void)
{
    uint32_t num = cohort_num_localities(), sum = 0;
    cohort_object *outs = calloc(num, sizeof(*outs));
    if (!outs)
        abort();
    report("count", cohort_await(cohort_async_everywhere("count_grown", NULL, outs)));
    for (uint32_t i = 0; i < num && outs[i].bytes == sizeof(uint32_t); i++)
        sum += *(const uint32_t *)outs[i].data;
    printf("grown: %u\n", (unsigned)sum);
    cohort_objects_fini(outs, num);
    free(outs);
}

static void call_in_scope(void)
{
    uint32_t depth = 0;
    cohort_scope *scope = NULL;
    if (cohort_scope_create(NULL, &scope))
        abort();
    if (cohort_scope_async_at(scope, 1, "grow", &(cohort_object){&depth, sizeof(depth)}))
        abort();
    cohort_status status = cohort_scope_await(scope);
    report("scope", status);
    if (!status)
        print_grown();
}

static cohort_status program(void *arg)
{
    cohort_status status = cohort_remote_register("late", where, NULL);
    if (status != COHORT_ERR_STATE)
        return cohort_fail(COHORT_ERR_FAILED, "registered after the start");
    if (cohort_locality() > 0)
        return COHORT_OK;
    if (strcmp(mode, "each") == 0)
        call_each();
    else if (strcmp(mode, "all") == 0)
        call_all();
    else if (strcmp(mode, "many") == 0)
        call_many();
    else if (strcmp(mode, "leave") == 0)
        cohort_future_unref(cohort_async_at(1, "leave_task", NULL, NULL));
    else if (strcmp(mode, "die") == 0)
        report("die", cohort_await(cohort_async_at(1, "die", NULL, NULL)));
    else if (strncmp(mode, "scope", 5) == 0)
        call_in_scope();
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    if (cohort_remote_register("reverse", reverse, NULL) ||
        cohort_remote_register("where", where, NULL) ||
        cohort_remote_register("ask_all", ask_all, NULL) ||
        cohort_remote_register("refuse", refuse, NULL) ||
        cohort_remote_register("leave_task", leave_task, NULL) ||
        cohort_remote_register("grow", grow, NULL) ||
        cohort_remote_register("count_grown", count_grown, NULL) ||
        cohort_remote_register("die", die, NULL))
        return 2;
    if (strcmp(mode, "state") == 0)
        report("before", cohort_await(cohort_async_at(0, "where", NULL, NULL)));
    int exit_status = cohort_main(argc, argv, program, NULL);
    if (strcmp(mode, "state") == 0)
        report("after", cohort_await(cohort_async_at(0, "where", NULL, NULL)));
    return exit_status;
}
