/* SPDX-License-Identifier: MIT */
/* Lists of texts that a reader has to refuse, each with its status and reason. */
#ifndef TESTS_LLM_REFUSED_H
#define TESTS_LLM_REFUSED_H

#include "tests/unit/suite.h"

/* a text that is refused, with this status and words */
struct refused {
	int status;
	const char *words;
	const char *text;
};

/* Return: how many are not refused as they should be */
static inline int count_wrong(const struct refused *list, size_t count,
			      int (*read)(struct tenon_slice text))
{
	int wrong = 0, err;

	for (size_t i = 0; i < count; i++) {
		err = read(tenon_slice_of(list[i].text));
		if (err != list[i].status || !message_has(list[i].words)) {
			print_error("%s: %d, want %d and \"%s\" in: %s\n", list[i].text, err,
				    list[i].status, list[i].words, tenon_error_message());
			wrong++;
		}
		tenon_error_clear();
	}
	return wrong;
}

#endif /* TESTS_LLM_REFUSED_H */
