/* SPDX-License-Identifier: MIT */
/* What chat templates may call: functions, methods, filters, tests. */
#ifndef LLM_JINJA_CALL_H
#define LLM_JINJA_CALL_H

#include "llm/jinja_parts.h"

#define JINJA_ARGUMENTS_MOST 16

/* Each reads on behind the opening bracket, or behind "|" and "is". @live: do it; else only read. */
int jinja_function(struct jinja *j, bool live, struct tenon_slice name, struct jinja_value *out);
int jinja_method(struct jinja *j, bool live, struct tenon_slice name, const struct jinja_value *of,
		 struct jinja_value *out);
int jinja_filter(struct jinja *j, bool live, struct jinja_value *v);
int jinja_test(struct jinja *j, bool live, struct jinja_value *v);

bool jinja_has_function(struct tenon_slice name);

#endif /* LLM_JINJA_CALL_H */
