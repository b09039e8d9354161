/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "runtime/base/hash.h"
#include "runtime/base/map.h"

/* usage: map_empty NUM: fills a map with NUM nodes and empties it. linear_growth.py counts. */
int main(int argc, char **argv)
{
    size_t num = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    struct cohort__map_node *nodes = calloc(num + 1, sizeof(*nodes)), *node;
    struct cohort__map map;
    if (!nodes)
        return 1;
    cohort__map_init(&map);
    for (size_t i = 0; i < num; i++)
        cohort__map_insert(&map, &nodes[i], cohort__hash_u64(i));
    while ((node = cohort__map_some(&map)))
        cohort__map_remove(&map, node);
    cohort__map_fini(&map);
    free(nodes);
    return 0;
}
