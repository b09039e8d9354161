/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_MULTI_PLUGIN_H
#define COHORT_TESTS_MULTI_PLUGIN_H

/* Of the plugin that uses Cohort. Starts and stops it once. Returns 0 if all is well. */
typedef int plugin_function(void);
__attribute__((visibility("default"))) plugin_function plugin_run;

#endif
