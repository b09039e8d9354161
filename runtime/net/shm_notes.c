/* SPDX-License-Identifier: Apache-2.0 */
/* Notes in the memory that this end shares with others. */
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/net/shm_end.h"

cohort_status cohort__shm_notes_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__notes *ret_notes)
{
    struct cohort__shm *shm = (struct cohort__shm *)net;
    uint32_t size = shm->hub->size;
    void *memory =
        cohort__shm_map(shm, cohort__shm_notes_offset(size, number), cohort__notes_bytes(size));
    if (!memory)
        return cohort__error_slot()->status;
    *ret_notes = (struct cohort__notes){size, memory};
    return COHORT_OK;
}

void cohort__shm_notes_close(struct cohort__notes *notes)
{
    if (notes->memory)
        munmap(notes->memory, cohort__notes_bytes(notes->size));
    notes->memory = NULL;
}

void cohort__shm_notes_clear(const struct cohort__notes *notes, uint32_t slot)
{
    unsigned char *own = cohort__notes_slot(notes, slot);
    if (madvise(own, cohort__notes_slot_bytes(), MADV_REMOVE) != 0)
        memset(own, 0, cohort__notes_clear_bytes());
}
