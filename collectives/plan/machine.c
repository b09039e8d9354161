/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/machine.h"

#include <stdlib.h>
#include <string.h>

/* More than that tell a reader nothing new. */
enum { MOST_SUBGROUPS = 16, MOST_RANGES = 8 };

/* Sites with consecutive numbers are one range. */
static void print_sites(FILE *file, struct cohort__members members)
{
    uint32_t begin = 0;
    for (uint32_t ranges = 0; begin < members.num && ranges < MOST_RANGES; ranges++) {
        uint32_t end = begin + 1;
        while (end < members.num && members.sites[end] == members.sites[end - 1] + 1)
            end++;
        fprintf(file, "%s%u", ranges > 0 ? "," : "", members.sites[begin]);
        if (end - begin > 1)
            fprintf(file, "-%u", members.sites[end - 1]);
        begin = end;
    }
    if (begin < members.num)
        fprintf(file, " and %u more", members.num - begin);
}

static void print_subgroups(FILE *file, const struct cohort__machine *machine, uint32_t level,
                            uint32_t root, uint64_t turn)
{
    uint32_t num = cohort__machine_num_subgroups(machine, level);
    for (uint32_t i = 0; i < num && i < MOST_SUBGROUPS; i++) {
        struct cohort__members members = cohort__machine_members(machine, level, i);
        fprintf(file, "  %u leads ", cohort__machine_leader(machine, level, i, root, turn));
        print_sites(file, members);
        fputc('\n', file);
    }
    if (num > MOST_SUBGROUPS)
        fprintf(file, "  and %u more\n", num - MOST_SUBGROUPS);
}

void cohort__machine_print(FILE *file, const struct cohort__machine *machine, uint32_t root,
                           uint64_t turn)
{
    for (uint32_t level = 0; level < cohort__machine_num_levels(machine); level++) {
        uint32_t num = cohort__machine_num_subgroups(machine, level);
        fprintf(file, "%s: %u", cohort__machine_name(machine, level), num);
        /* Each lies in one of these, so if there are as many, they are the same. */
        if (level > 0 && num == cohort__machine_num_subgroups(machine, level - 1)) {
            fprintf(file, ", as %s\n", cohort__machine_name(machine, level - 1));
            continue;
        }
        fprintf(file, ", at most %u in one, %s\n", cohort__machine_largest(machine, level),
                cohort__machine_keeps_order(machine, level) ? "in order" : "scattered");
        print_subgroups(file, machine, level, root, turn);
    }
}

struct level {
    const char *name;
    uint32_t num; /* of subgroups */
    /* The first child of each subgroup, and where the children of the last one end. Children are
     * subgroups of the next finer level. Those of level 0 are places in `order`. */
    uint32_t *first;
    uint32_t largest;
    bool keeps_order;
};

struct cohort__machine {
    uint32_t num_sites;
    uint32_t num_levels;
    uint32_t *order; /* the sites, subgroup by subgroup */
    uint32_t *place; /* by site: where it is in `order` */
    struct level levels[];
};

/* What the creation needs for a level. */
struct draft {
    const uint32_t *group_of; /* NULL: level 0 */
    uint32_t num;
    uint32_t *number_plus_1; /* by what group_of says: in the order of the lowest sites */
    uint32_t *parent; /* by number: the number of its parent; then its place among all subgroups */
};

void cohort__machine_destroy(struct cohort__machine *machine)
{
    if (!machine)
        return;
    for (uint32_t level = 0; level < machine->num_levels; level++)
        free(machine->levels[level].first);
    free(machine->order);
    free(machine->place);
    free(machine);
}

static void drafts_destroy(struct draft *drafts, uint32_t num)
{
    for (uint32_t level = 0; drafts && level < num; level++) {
        free(drafts[level].number_plus_1);
        free(drafts[level].parent);
    }
    free(drafts);
}

/* NULL: out of memory. */
static struct draft *drafts_create(uint32_t num, uint32_t num_localities,
                                   const struct cohort__machine_level *outer)
{
    struct draft *drafts = calloc(num, sizeof(*drafts));
    for (uint32_t level = 0; drafts && level < num; level++) {
        struct draft *draft = &drafts[level];
        draft->group_of = level == 0 ? NULL : outer[level - 1].group_of;
        draft->number_plus_1 = calloc(num_localities, sizeof(*draft->number_plus_1));
        draft->parent = calloc(num_localities, sizeof(*draft->parent));
        if (!draft->number_plus_1 || !draft->parent) {
            drafts_destroy(drafts, num);
            return NULL;
        }
    }
    return drafts;
}

/* The number of LOCALITY's subgroup at the first level of DRAFTS. A new subgroup gets the next
 * number, and so do those above it that are new. */
static uint32_t number(struct draft *drafts, uint32_t num_levels, uint32_t locality)
{
    if (num_levels == 0)
        return 0; /* all sites together */
    uint32_t group = drafts->group_of ? drafts->group_of[locality] : locality;
    if (drafts->number_plus_1[group] == 0) {
        drafts->number_plus_1[group] = drafts->num + 1;
        drafts->parent[drafts->num++] = number(drafts + 1, num_levels - 1, locality);
    }
    return drafts->number_plus_1[group] - 1;
}

/* Sorts NUM children by their parents, without changing the order of those with the same one.
 * PARENT_OF has the parent of each, and then its place. FIRST, of NUM_PARENTS + 1 zeros, gets the
 * place of each parent's first child. */
static void sort(uint32_t *parent_of, uint32_t num, uint32_t *first, uint32_t num_parents)
{
    for (uint32_t i = 0; i < num; i++)
        first[parent_of[i] + 1]++;
    for (uint32_t parent = 0; parent < num_parents; parent++)
        first[parent + 1] += first[parent];
    for (uint32_t i = 0; i < num; i++)
        parent_of[i] = first[parent_of[i]]++;
    /* Now each parent has the place of the next one's first child. */
    memmove(first + 1, first, num_parents * sizeof(*first));
    first[0] = 0;
}

/* Sorts the subgroups of each level, the coarsest first, and then the sites. */
static void sort_all(struct cohort__machine *machine, const uint32_t *locality_of,
                     struct draft *drafts)
{
    uint32_t top = machine->num_levels - 1;
    for (uint32_t level = top; level-- > 0;) {
        struct draft *draft = &drafts[level], *above = draft + 1;
        for (uint32_t i = 0; i < draft->num; i++)
            draft->parent[i] = above->parent[draft->parent[i]];
        sort(draft->parent, draft->num, machine->levels[level + 1].first, above->num);
    }
    for (uint32_t site = 0; site < machine->num_sites; site++)
        machine->place[site] = drafts->parent[drafts->number_plus_1[locality_of[site]] - 1];
    sort(machine->place, machine->num_sites, machine->levels[0].first, drafts->num);
    for (uint32_t site = 0; site < machine->num_sites; site++)
        machine->order[machine->place[site]] = site;
}

static void survey(struct cohort__machine *machine, uint32_t level)
{
    struct level *here = &machine->levels[level];
    here->keeps_order = true;
    for (uint32_t subgroup = 0; subgroup < here->num; subgroup++) {
        struct cohort__members members = cohort__machine_members(machine, level, subgroup);
        if (members.num > here->largest)
            here->largest = members.num;
        for (uint32_t i = 0; here->keeps_order && i < members.num; i++)
            here->keeps_order = members.sites[i] - members.sites[0] < members.num;
    }
}

static bool allocate(struct cohort__machine *machine, const struct draft *drafts)
{
    machine->order = malloc(machine->num_sites * sizeof(*machine->order));
    machine->place = malloc(machine->num_sites * sizeof(*machine->place));
    bool is_complete = machine->order && machine->place;
    for (uint32_t level = 0; is_complete && level < machine->num_levels; level++) {
        struct level *here = &machine->levels[level];
        here->num = drafts[level].num;
        here->first = calloc((size_t)here->num + 1, sizeof(*here->first));
        is_complete = here->first;
    }
    return is_complete;
}

/* The subgroups of the coarsest level are in the order of their numbers. */
static void number_all(const struct cohort__machine *machine, const uint32_t *locality_of,
                       struct draft *drafts)
{
    struct draft *top = &drafts[machine->num_levels - 1];
    for (uint32_t site = 0; site < machine->num_sites; site++)
        (void)number(drafts, machine->num_levels, locality_of[site]);
    for (uint32_t i = 0; i < top->num; i++)
        top->parent[i] = i;
}

cohort_status cohort__machine_create(struct cohort__machine **ret_machine,
                                     const uint32_t *locality_of, uint32_t num_sites,
                                     uint32_t num_localities,
                                     const struct cohort__machine_level *outer, uint32_t num_outer)
{
    uint32_t num_levels = 1 + num_outer;
    struct cohort__machine *machine =
        calloc(1, sizeof(*machine) + num_levels * sizeof(machine->levels[0]));
    struct draft *drafts = drafts_create(num_levels, num_localities, outer);
    if (!machine || !drafts)
        goto fail;
    machine->num_sites = num_sites;
    machine->num_levels = num_levels;
    number_all(machine, locality_of, drafts);
    if (!allocate(machine, drafts))
        goto fail;
    sort_all(machine, locality_of, drafts);
    for (uint32_t level = 0; level < num_levels; level++) {
        machine->levels[level].name = level == 0 ? "locality" : outer[level - 1].name;
        survey(machine, level);
    }
    drafts_destroy(drafts, num_levels);
    *ret_machine = machine;
    return COHORT_OK;
fail:
    drafts_destroy(drafts, num_levels);
    cohort__machine_destroy(machine);
    return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the places of %u sites",
                       (unsigned)num_sites);
}

uint32_t cohort__machine_num_sites(const struct cohort__machine *machine)
{
    return machine->num_sites;
}

uint32_t cohort__machine_num_levels(const struct cohort__machine *machine)
{
    return machine->num_levels;
}

uint32_t cohort__machine_find(const struct cohort__machine *machine, const char *name)
{
    uint32_t level = 0;
    while (level < machine->num_levels && strcmp(machine->levels[level].name, name) != 0)
        level++;
    return level;
}

const char *cohort__machine_name(const struct cohort__machine *machine, uint32_t level)
{
    return machine->levels[level].name;
}

uint32_t cohort__machine_num_subgroups(const struct cohort__machine *machine, uint32_t level)
{
    return machine->levels[level].num;
}

uint32_t cohort__machine_largest(const struct cohort__machine *machine, uint32_t level)
{
    return machine->levels[level].largest;
}

bool cohort__machine_keeps_order(const struct cohort__machine *machine, uint32_t level)
{
    return machine->levels[level].keeps_order;
}

/* The place of the first site of SUBGROUP, or where the last subgroup ends. */
static uint32_t first_place(const struct cohort__machine *machine, uint32_t level,
                            uint32_t subgroup)
{
    uint32_t first = machine->levels[level].first[subgroup];
    while (level-- > 0)
        first = machine->levels[level].first[first];
    return first;
}

struct cohort__members cohort__machine_members(const struct cohort__machine *machine,
                                               uint32_t level, uint32_t subgroup)
{
    uint32_t first = first_place(machine, level, subgroup);
    uint32_t end = first_place(machine, level, subgroup + 1);
    return (struct cohort__members){.sites = &machine->order[first], .num = end - first};
}

struct cohort__children cohort__machine_children(const struct cohort__machine *machine,
                                                 uint32_t level, uint32_t subgroup, uint32_t finer)
{
    uint32_t first = subgroup, end = subgroup + 1;
    if (level == machine->num_levels)
        return (struct cohort__children){.first = 0, .num = machine->levels[finer].num};
    for (; level > finer; level--) {
        first = machine->levels[level].first[first];
        end = machine->levels[level].first[end];
    }
    return (struct cohort__children){.first = first, .num = end - first};
}

const uint32_t *cohort__machine_order(const struct cohort__machine *machine)
{
    return machine->order;
}

uint32_t cohort__machine_place(const struct cohort__machine *machine, uint32_t site)
{
    return machine->place[site];
}

/* The subgroup that CHILD is in. */
static uint32_t parent_of(const struct level *level, uint32_t child)
{
    uint32_t low = 0, high = level->num;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (level->first[middle] <= child)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t cohort__machine_subgroup(const struct cohort__machine *machine, uint32_t level,
                                  uint32_t site)
{
    uint32_t at = machine->place[site];
    for (uint32_t i = 0; i <= level; i++)
        at = parent_of(&machine->levels[i], at);
    return at;
}

uint32_t cohort__machine_rank(const struct cohort__machine *machine, uint32_t level, uint32_t site)
{
    uint32_t subgroup = cohort__machine_subgroup(machine, level, site);
    return machine->place[site] - first_place(machine, level, subgroup);
}

uint32_t cohort__machine_leader(const struct cohort__machine *machine, uint32_t level,
                                uint32_t subgroup, uint32_t root, uint64_t turn)
{
    if (root != COHORT__NO_ROOT && cohort__machine_subgroup(machine, level, root) == subgroup)
        return root;
    uint32_t at = subgroup;
    for (uint32_t i = level + 1; i-- > 0;) {
        const uint32_t *first = &machine->levels[i].first[at];
        at = first[0] + (uint32_t)(turn % (first[1] - first[0]));
    }
    return machine->order[at];
}
