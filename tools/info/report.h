/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: the facts and the variables as text. */
#ifndef COHORT_TOOLS_INFO_REPORT_H
#define COHORT_TOOLS_INFO_REPORT_H

struct facts;

void report_print(const struct facts *facts);

#endif
