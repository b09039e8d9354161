/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include <cohort/cohort.h>

/* One site in each locality. It prints how it explains some collectives, one line each, and makes
 * the calls. They would fail if the sites chose differently. */

static const struct question {
    const char *collective;
    size_t count;
} questions[] = {{"all_to_all", 1}, {"all_to_all", 40000}, {"broadcast", 1}, {"broadcast", 40000}};

enum { NUM_QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

static cohort_status print(cohort_comm *comm, const struct question *question)
{
    char *text = NULL;
    cohort_status status =
        cohort_explain(comm, question->collective, question->count, COHORT_DOUBLE, NULL, &text);
    if (status)
        return status;
    printf("%u ", cohort_comm_this_site(comm));
    for (const char *c = text; *c; c++)
        putchar(*c == '\n' ? '|' : *c);
    puts("");
    free(text);
    return COHORT_OK;
}

static cohort_status call(cohort_comm *comm, const struct question *question, uint64_t generation)
{
    size_t elements = question->count * cohort_comm_num_sites(comm);
    double *in = calloc(elements, sizeof(double)), *out = calloc(elements, sizeof(double));
    cohort_future *future;
    if (question->collective[0] == 'a')
        future = cohort_all_to_all(comm, in, out, question->count, COHORT_DOUBLE, generation);
    else if (cohort_comm_this_site(comm) == 0)
        future = cohort_broadcast_to(comm, in, question->count, COHORT_DOUBLE, generation);
    else
        future = cohort_broadcast_from(comm, out, question->count, COHORT_DOUBLE, generation);
    cohort_status status = cohort_await(future);
    free(in);
    free(out);
    return status;
}

static cohort_status run(void *arg)
{
    cohort_comm *comm = NULL;
    const cohort_comm_options options = {
        .num_sites = cohort_num_localities(),
        .this_site = cohort_locality(),
        .arity = 2,
        .flat_fallback_threshold = 1,
    };
    cohort_status status = cohort_await(cohort_comm_create(&comm, "explain", &options));
    for (unsigned i = 0; !status && i < NUM_QUESTIONS; i++) {
        status = print(comm, &questions[i]);
        if (!status)
            status = call(comm, &questions[i], i + 1);
    }
    cohort_comm_unref(comm);
    return status;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, run, NULL);
}
