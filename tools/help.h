/* SPDX-License-Identifier: MIT */
/* Topics of "tenon help TOPIC": sections of tenon(1), so the two cannot differ. */
#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/nearest_name.h"

/** help_print_topic - print the topic with this name; false if there is none */
bool help_print_topic(const char *name, FILE *out);

/** help_list_topics - print name and summary of each topic, a line each */
void help_list_topics(FILE *out);

/** help_offer_topics - offer the names of topics as corrections of a misspelt name */
void help_offer_topics(struct nearest_name *nearest);

#endif /* TOOLS_HELP_H */
