/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SELECT_H
#define COHORT_COLLECTIVES_MODEL_SELECT_H

#include "collectives/algo/algorithm.h"

/* Whether a communicator of these parameters is flat: fewer sites than the threshold, or so few
 * that the tree is one leaf. Every hierarchical operation on it then is the flat one. */
bool cohort__select_is_flat(uint32_t num_sites, uint32_t arity, uint32_t flat_fallback_threshold);

/* The row that carries out REQUEST, flat or over the tree. Looks only at what is equal at all
 * sites, so that all of them choose the same one. Never NULL. */
const struct cohort__algorithm *cohort__select(const struct cohort__request *request, bool flat);

#endif
