/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_SANITIZER_H
#define COHORT_RUNTIME_BASE_SANITIZER_H

/* Which sanitizer this build has. gcc and clang tell it in different ways. */
#if defined(__SANITIZE_ADDRESS__)
#define COHORT__ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COHORT__ASAN 1
#endif
#endif
#ifndef COHORT__ASAN
#define COHORT__ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define COHORT__TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COHORT__TSAN 1
#endif
#endif
#ifndef COHORT__TSAN
#define COHORT__TSAN 0
#endif

#endif
