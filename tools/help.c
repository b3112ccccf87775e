/* SPDX-License-Identifier: MIT */
/* Print topics that the build made of the manual page. */
#include "tools/help.h"

#include <stddef.h>
#include <string.h>

struct help_topic {
	const char *name;
	const char *summary;
	const char *const *lines;
};

/* made from docs/tenon.1.scd by scripts/help-topics.awk */
#include "generated/help_topics.h"

#define TOPICS (sizeof(topics) / sizeof(topics[0]))

bool help_print_topic(const char *name, FILE *out)
{
	for (size_t i = 0; i < TOPICS; i++) {
		if (strcmp(topics[i].name, name) != 0)
			continue;
		for (const char *const *line = topics[i].lines; *line; line++)
			fprintf(out, "%s\n", *line);
		return true;
	}
	return false;
}

void help_list_topics(FILE *out)
{
	for (size_t i = 0; i < TOPICS; i++)
		fprintf(out, "  tenon help %-12s %s\n", topics[i].name, topics[i].summary);
}

void help_offer_topics(struct nearest_name *nearest)
{
	for (size_t i = 0; i < TOPICS; i++)
		nearest_name_offer(nearest, tenon_slice_of(topics[i].name));
}
