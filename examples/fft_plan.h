/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FFT_PLAN_H
#define COHORT_EXAMPLES_FFT_PLAN_H

#include <complex.h>
#include <stddef.h>

#include <cohort/status.h>

/* Fourier transforms by FFTW, in place and not normalised. In FFTW only fftw_execute may be called
 * by several threads at once. Here, planning and freeing plans take turns, so any task may call. */

enum fft_direction { FFT_FORWARD, FFT_BACKWARD };

/* COUNT rows, one behind the other, each of LENGTH; either may be 0. COHORT_ERR_FAILED: FFTW has no
 * plan. */
cohort_status fft_rows(double complex *rows, size_t count, size_t length,
                       enum fft_direction direction) COHORT_MUST_USE;

/* All of a picture of HEIGHT rows of WIDTH, in both dimensions at once. */
cohort_status fft_picture(double complex *picture, size_t height, size_t width,
                          enum fft_direction direction) COHORT_MUST_USE;

#endif
