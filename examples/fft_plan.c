/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/fft_plan.h"

#include <pthread.h>

#include <fftw3.h>

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

/* With FFTW_ESTIMATE the planner neither measures nor touches the data. */
static cohort_status run(double complex *data, int rank, const int *lengths, int count,
                         int distance, enum fft_direction direction)
{
    int sign = direction == FFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD;
    pthread_mutex_lock(&planner);
    fftw_plan plan = fftw_plan_many_dft(rank, lengths, count, data, NULL, 1, distance, data, NULL,
                                        1, distance, sign, FFTW_ESTIMATE);
    pthread_mutex_unlock(&planner);
    if (!plan)
        return cohort_fail(COHORT_ERR_FAILED, "FFTW has no plan for %d transforms of %d values",
                           count, distance);
    fftw_execute(plan);
    pthread_mutex_lock(&planner);
    fftw_destroy_plan(plan);
    pthread_mutex_unlock(&planner);
    return COHORT_OK;
}

cohort_status fft_rows(double complex *rows, size_t count, size_t length,
                       enum fft_direction direction)
{
    if (count == 0 || length == 0)
        return COHORT_OK;
    int lengths[] = {(int)length};
    return run(rows, 1, lengths, (int)count, (int)length, direction);
}

cohort_status fft_picture(double complex *picture, size_t height, size_t width,
                          enum fft_direction direction)
{
    int lengths[] = {(int)height, (int)width};
    return run(picture, 2, lengths, 1, (int)(height * width), direction);
}
