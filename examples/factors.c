/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cohort/cohort.h>

/* Cohort inside a program that has an event loop of its own, here one of poll. It reads numbers
 * from standard input, a line each, and prints the factors of each as soon as a task has found
 * them. At the end of the input the localities add up how many factors they have found.
 *
 * The loop, at the end of this file, is what is new. Everything in struct program belongs to its
 * thread, without locks, since callbacks run there, too. A task has only its question. */

enum { MOST_QUESTIONS = 64, LINE_BYTES = 32 };

struct question {
    struct program *program;
    struct question *next_free;
    uint64_t number;
    uint64_t factors[64];
    unsigned num_factors;
};

struct program {
    cohort_callbacks *callbacks;
    struct question questions[MOST_QUESTIONS]; /* tasks use them until the runtime has stopped */
    struct question *free;
    char line[LINE_BYTES];
    size_t line_bytes;
    unsigned num_pending; /* callbacks */
    bool is_read;         /* all of the input, or as much as is wanted */
    bool is_summing;
    uint64_t num_factors, sum;
    cohort_comm *comm;
    cohort_status status; /* the first error, with its message */
    char message[256];
};

/* Nothing more begins, and the loop ends when nothing is pending. */
static void fail(struct program *program, cohort_status status)
{
    program->is_read = true;
    if (program->status)
        return;
    program->status = status;
    snprintf(program->message, sizeof(program->message), "%s", cohort_error_message());
}

static void call_back(struct program *program, cohort_future *future,
                      cohort_callback_function *function, void *arg)
{
    cohort_status status = cohort_callbacks_add(program->callbacks, future, function, arg);
    if (status)
        fail(program, status);
    else
        program->num_pending++;
}

/* --- a number --- */

/* The task. */
static cohort_status factorise(void *arg)
{
    struct question *question = arg;
    uint64_t rest = question->number;
    for (uint64_t divisor = 2; divisor <= rest / divisor; divisor += divisor == 2 ? 1 : 2)
        for (; rest % divisor == 0; rest /= divisor)
            question->factors[question->num_factors++] = divisor;
    if (rest > 1)
        question->factors[question->num_factors++] = rest;
    return COHORT_OK;
}

/* Its callback. */
static void answer(cohort_status status, void *value, void *arg)
{
    struct question *question = arg;
    struct program *program = question->program;
    (void)value;
    program->num_pending--;
    if (status) {
        fail(program, status);
        return;
    }
    printf("%" PRIu64 " =", question->number);
    for (unsigned i = 0; i < question->num_factors; i++)
        printf(" %" PRIu64, question->factors[i]);
    printf("\n");
    program->num_factors += question->num_factors;
    question->next_free = program->free;
    program->free = question;
}

/* There is a free question: else the loop reads nothing. */
static void ask(struct program *program, const char *line)
{
    char *end;
    struct question *question = program->free;
    errno = 0;
    question->number = strtoull(line, &end, 10);
    question->num_factors = 0;
    if (errno || *end || line[0] < '0' || line[0] > '9' || question->number == 0) {
        fail(program,
             cohort_fail(COHORT_ERR_BAD_PARAMETER, "no number from 1 to 2^64 - 1: %s", line));
        return;
    }
    program->free = question->next_free;
    call_back(program, cohort_async(factorise, question), answer, question);
}

/* --- the end: a collective, one callback after the other --- */

static void print_sum(cohort_status status, void *value, void *arg)
{
    struct program *program = arg;
    (void)value;
    program->num_pending--;
    if (status)
        fail(program, status);
    else if (cohort_locality() == 0)
        printf("factors in all localities: %" PRIu64 "\n", program->sum);
}

static void sum(cohort_status status, void *value, void *arg)
{
    struct program *program = arg;
    (void)value;
    program->num_pending--;
    if (status)
        fail(program, status);
    else
        call_back(program,
                  cohort_all_reduce(program->comm, &program->num_factors, &program->sum, 1,
                                    COHORT_UINT64, COHORT_SUM, 1),
                  print_sum, program);
}

static void begin_sum(struct program *program)
{
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality()};
    program->is_summing = true;
    call_back(program, cohort_comm_create(&program->comm, "factors", &options), sum, program);
}

/* --- the loop --- */

static void end_line(struct program *program)
{
    program->line[program->line_bytes] = '\0';
    program->line_bytes = 0;
    ask(program, program->line);
}

static void read_byte(struct program *program, char byte)
{
    if (byte == '\n') {
        end_line(program);
    } else if (program->line_bytes + 1 < LINE_BYTES) {
        program->line[program->line_bytes++] = byte;
    } else {
        fail(program,
             cohort_fail(COHORT_ERR_BAD_PARAMETER, "a line of more than %d bytes", LINE_BYTES - 1));
    }
}

static void end_input(struct program *program)
{
    program->is_read = true;
    if (program->line_bytes > 0) /* the last line need not end */
        end_line(program);
}

/* One byte at a time, so that no line is read that can't be asked yet. */
static void read_input(struct program *program)
{
    char byte;
    ssize_t bytes = read(STDIN_FILENO, &byte, 1);
    if (bytes == 1)
        read_byte(program, byte);
    else if (bytes == 0)
        end_input(program);
    else if (errno != EINTR && errno != EAGAIN)
        fail(program, cohort_fail(COHORT_ERR_SYSTEM, "standard input: %s", strerror(errno)));
}

static void turn(struct program *program)
{
    bool wants_input = !program->is_read && program->free;
    struct pollfd entries[] = {
        {.fd = cohort_callbacks_fd(program->callbacks), .events = POLLIN},
        {.fd = wants_input ? STDIN_FILENO : -1, .events = POLLIN},
    };
    if (poll(entries, 2, -1) < 0)
        return; /* by a signal */
    if (entries[0].revents)
        cohort_callbacks_run(program->callbacks, 0, NULL);
    if (entries[1].revents)
        read_input(program);
}

static void loop(struct program *program)
{
    while (!program->is_read || program->num_pending > 0) {
        turn(program);
        if (program->is_read && program->num_pending == 0 && !program->is_summing &&
            !program->status)
            begin_sum(program);
    }
}

int main(void)
{
    static struct program program;
    /* A launcher prints the error of its job: cohortrun, or one with PMIx. */
    const bool is_launched = getenv("COHORT_LOCALITY") || getenv("PMIX_RANK");
    for (int i = 0; i < MOST_QUESTIONS; i++) {
        program.questions[i] = (struct question){.program = &program, .next_free = program.free};
        program.free = &program.questions[i];
    }
    cohort_status status = cohort_start(NULL);
    if (!status) {
        status = cohort_callbacks_create(&program.callbacks);
        if (!status) {
            loop(&program);
            cohort_comm_unref(program.comm);
            status =
                program.status ? cohort_fail(program.status, "%s", program.message) : COHORT_OK;
        }
        status = cohort_stop(status); /* returns an error that it gets */
    }
    if (status && !is_launched)
        fprintf(stderr, "factors: %s\n", cohort_error_message());
    cohort_callbacks_destroy(program.callbacks);
    return status ? 1 : 0;
}
