/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/object.h"

#include <stdlib.h>

#include "tests/support/test.h"

TEST(fini)
{
    cohort_object object = {malloc(7), 7};
    cohort_object_fini(&object);
    CHECK(!object.data && object.bytes == 0);
    cohort_object_fini(&object); /* empty */
    cohort_object_fini(NULL);
}

TEST(array)
{
    cohort_object objects[3] = {{malloc(1), 1}, {NULL, 0}, {malloc(100), 100}};
    cohort_objects_fini(objects, 2);
    CHECK(!objects[0].data && objects[2].data);
    cohort_objects_fini(objects, 3);
    CHECK(!objects[2].data && objects[2].bytes == 0);
    cohort_objects_fini(NULL, 3);
}
