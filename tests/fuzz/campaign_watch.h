/* SPDX-License-Identifier: MIT */
/* The parent of a campaign: it waits for the child that runs mutants, and says what ended it. */
#ifndef TESTS_FUZZ_CAMPAIGN_WATCH_H
#define TESTS_FUZZ_CAMPAIGN_WATCH_H

#include <stddef.h>

#include "tests/fuzz/campaign.h"

/* bytes that a mutant has at most */
#define CAMPAIGN_ROOM (1 << 20)

/* what the parent sees of the child, however it ends */
struct campaign_page {
	uint64_t number; /* of the mutant that runs */
	size_t size;
	uint8_t input[CAMPAIGN_ROOM];
};

/*
 * Call @run in a child process, which is to go through the numbers from @first on, and watch it. What ends
 * it or takes too long is reported, kept as a file, and skipped. Returns the number of failures.
 */
unsigned int campaign_watch(const struct campaign *c,
			    void (*run)(void *context, uint64_t first, struct campaign_page *page),
			    void *context);

#endif /* TESTS_FUZZ_CAMPAIGN_WATCH_H */
