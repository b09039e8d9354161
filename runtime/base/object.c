/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/object.h"

#include <stdlib.h>

void cohort_object_fini(cohort_object *object)
{
    if (!object)
        return;
    free(object->data);
    *object = (cohort_object){0};
}

void cohort_objects_fini(cohort_object *objects, size_t count)
{
    for (size_t i = 0; objects && i < count; i++)
        cohort_object_fini(&objects[i]);
}

void cohort_site_objects_fini(cohort_site_objects *objects)
{
    if (!objects)
        return;
    for (size_t i = 0; i < objects->num; i++)
        cohort_object_fini(&objects->list[i].object);
    free(objects->list);
    *objects = (cohort_site_objects){0};
}
