/* SPDX-License-Identifier: MIT */
/* Takes the orders of a model away, one by one, and explores whether something breaks. */
#include <stdio.h>
#include <string.h>

#include "tests/model/explore_state.h"

static bool is_listed(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

/* Explore until one of the models breaks; returns what did, NULL for nothing. */
static const char *explore_some(const struct explore_model *models, size_t count)
{
	const char *broken = NULL;
	size_t i;

	for (i = 0; i < count && !broken; i++)
		broken = explore(&models[i], false);
	return broken;
}

bool explore_each_half(const struct explore_model *models, size_t count,
		       const char *const *survivors)
{
	static const char *const names[] = { [EXPLORE_RELEASE] = "release",
					     [EXPLORE_ACQUIRE] = "acquire",
					     [EXPLORE_WAKE] = "wakes" };
	struct explore_site *s;
	const char *broken;
	unsigned int half;
	char name[100];
	bool right = true;

	for (s = explore_sites; s; s = s->next) {
		for (half = 1; half <= EXPLORE_WAKE; half *= 2) {
			if (!(s->halves & half))
				continue;
			s->weak = half;
			broken = explore_some(models, count);
			s->weak = 0;
			snprintf(name, sizeof(name), "%s %s %s", s->function, s->operation,
				 names[half]);
			fprintf(stderr, "# %s: %s\n", name, broken ? broken : "nothing breaks");
			if (!broken != is_listed(name, survivors)) {
				fprintf(stderr, "# that is not what is known of it\n");
				right = false;
			}
		}
	}
	return right;
}