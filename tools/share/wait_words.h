/* SPDX-License-Identifier: Apache-2.0 */
/* tools: the words for what a task waits for. */
#ifndef COHORT_TOOLS_SHARE_WAIT_WORDS_H
#define COHORT_TOOLS_SHARE_WAIT_WORDS_H

#include "runtime/base/ledger_format.h"

struct wait_words {
    const char *text;   /* "a mutex"; tools/gdb/cohort.py has the same ones */
    const char *word;   /* of JSON */
    const char *object; /* the same of what is in cohort/sync.h, but a mutex; NULL: nothing is */
};

/* By enum cohort__wait_kind. */
extern const struct wait_words wait_words[COHORT__WAIT_KINDS];

#endif
