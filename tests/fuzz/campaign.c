/* SPDX-License-Identifier: MIT */
/* Run mutants of the seeds of a target in a child process, from any number on. */
#include "tests/fuzz/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/fuzz/campaign_watch.h"
#include "tests/fuzz/command.h"
#include "tests/fuzz/execution.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

/* Changes that are made to a seed at most; half of the mutants have one, and get furthest. */
#define CHANGES_MOST 4

/* Seeds that are larger are chosen less often: they take longer, and most of their bytes say nothing. */
#define USUAL_SEED (16 << 10)

struct seeds {
	struct tenon_slice *list;
	size_t count;
};

/* ---- seeds */

static bool is_known(const struct seeds *s, struct tenon_slice bytes)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (tenon_slice_equal(s->list[i], bytes))
			return true;
	return false;
}

static void add_seed(void *context, struct tenon_slice bytes)
{
	struct seeds *s = context;
	struct tenon_slice *list;
	char *copy;

	if (!bytes.size || bytes.size > CAMPAIGN_ROOM / 2 || is_known(s, bytes))
		return;
	list = realloc(s->list, (s->count + 1) * sizeof(*list));
	copy = malloc(bytes.size);
	if (!list || !copy)
		abort();
	s->list = list;
	s->list[s->count++] =
		(struct tenon_slice){ memcpy(copy, bytes.data, bytes.size), bytes.size };
}

static void add_named_seed(void *context, const char *name, struct tenon_slice bytes)
{
	(void)name;
	add_seed(context, bytes);
}

static void seeds_open(struct seeds *s, const char *target)
{
	*s = (struct seeds){ NULL, 0 };
	seeds_each(target, add_named_seed, s);
	fuzz_fixtures(add_seed, s);
	if (s->count)
		return;
	fprintf(stderr, "%s: no seeds\n", target);
	exit(2);
}

static void seeds_close(struct seeds *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		free((char *)(uintptr_t)s->list[i].data);
	free(s->list);
}

static struct tenon_slice choose(const struct seeds *s, struct random *r)
{
	struct tenon_slice seed;

	do
		seed = s->list[random_below(r, s->count)];
	while (random_below(r, seed.size) > USUAL_SEED);
	return seed;
}

/* ---- mutants */

static struct tenon_slice make_mutant(const struct campaign *c, const struct seeds *s,
				      uint64_t number, uint8_t *room)
{
	struct mutant m = { .data = room, .room = CAMPAIGN_ROOM };
	struct random start = { c->seed };
	struct tenon_slice seed;
	uint64_t changes;

	m.random.state = random_next(&start) ^ number;
	seed = choose(s, &m.random);
	m.donor = choose(s, &m.random);
	m.size = seed.size;
	memcpy(room, seed.data, seed.size);
	changes = random_one_in(&m.random, 2) ? 1 : 1 + random_below(&m.random, CHANGES_MOST);
	while (changes--)
		fuzz_mutate(&m);
	return (struct tenon_slice){ (const char *)m.data, m.size };
}

static void run_number(const struct campaign *c, const struct seeds *s, uint64_t number,
		       struct campaign_page *page)
{
	struct tenon_slice mutant;

	page->size = 0;
	page->number = number;
	mutant = make_mutant(c, s, number, page->input);
	page->size = mutant.size;
	if (!execution_run(mutant))
		abort();
}

/* the child's part; what is not freed at its end is found by a sanitizer when it exits */
static void run_from(void *context, uint64_t first, struct campaign_page *page)
{
	const struct campaign *c = context;
	struct seeds seeds;
	uint64_t i;

	seeds_open(&seeds, c->target);
	for (i = first; i < c->first + c->count; i++)
		run_number(c, &seeds, i, page);
	page->number = i;
	seeds_close(&seeds);
	if (!c->quiet)
		command_report();
}

void campaign_run_one(const struct campaign *c)
{
	static struct campaign_page page;
	struct seeds seeds;

	seeds_open(&seeds, c->target);
	run_number(c, &seeds, c->first, &page);
	seeds_close(&seeds);
	printf("%s: number %llu of seed %llu: %zu bytes, nothing was found\n", c->target,
	       (unsigned long long)c->first, (unsigned long long)c->seed, page.size);
}

unsigned int campaign_run(const struct campaign *c)
{
	return campaign_watch(c, run_from, (void *)(uintptr_t)c);
}
