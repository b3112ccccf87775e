/* SPDX-License-Identifier: MIT */
/* Replace each key and value of a JSON text by values of other kinds, to test that a reader refuses all of them. */
#ifndef TESTS_LLM_REPLACED_VALUE_H
#define TESTS_LLM_REPLACED_VALUE_H

#include <stdio.h>
#include <stdlib.h>

#include "lib/json_read.h"
#include "tests/unit/suite.h"

static inline void each_replaced_value(const char *whole, void (*visit)(struct tenon_slice text))
{
	static const char *const others[] = { "null", "true", "7",    "\"x\"",	    "[]",
					      "{}",   "[7]",  "-1.5", "{\"x\":{}}", "[[\"x\"],1]" };
	const size_t room = strlen(whole) + 32;
	char *text = malloc(room);
	struct json_text t;

	assert_non_null(text);
	if (json_text_read(tenon_slice_of(whole), "whole", &t))
		fail_msg("%s", tenon_error_message());
	for (uint32_t i = 0; i < t.count; i++) {
		const int quote = t.tokens[i].type == JSMN_STRING;

		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
			const int n = snprintf(text, room, "%.*s%s%s", t.tokens[i].start - quote,
					       whole, others[k], whole + t.tokens[i].end + quote);

			visit((struct tenon_slice){ text, (size_t)n });
			tenon_error_clear();
		}
	}
	json_text_fini(&t);
	free(text);
}

#endif /* TESTS_LLM_REPLACED_VALUE_H */
