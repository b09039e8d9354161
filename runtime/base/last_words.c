/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/last_words.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "runtime/base/text.h"

static _Atomic bool are_said;

static void write_line(const char *begin, const char *words)
{
    char line[2048];
    struct cohort__safe_text text = cohort__safe_text_begin(line, sizeof(line) - 1);
    cohort__safe_text_add(&text, begin);
    cohort__safe_text_add(&text, words);
    line[text.used++] = '\n'; /* also where the words were cut */
    (void)!write(STDERR_FILENO, line, text.used);
}

void cohort__last_words_say(const char *words)
{
    cohort__ledger_say(words);
    write_line("cohort: ", words);
}

void cohort__last_words_add(const char *words)
{
    write_line("cohort:     ", words);
}

void cohort__last_words_abort(const char *words)
{
    cohort__last_words_say(words);
    atomic_store(&are_said, true);
    abort();
}

bool cohort__last_words_are_said(void)
{
    return atomic_load(&are_said);
}
