/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_VISIT_FIELD_H
#define RUNTIME_CORE_VISIT_FIELD_H

/* Shows fields of modules to a visitor (tenon/visit.h). */

#include <tenon/array.h>
#include <tenon/string.h>
#include <tenon/visit.h>

#include "lib/plugin_api.h"

/*
 * Show a number, or a text; an empty text is left out. What the visitor returned, or
 * -TENON_E_NOMEM.
 */
int visit_number(const struct tenon_visitor *v, const char *name, uint64_t number)
	TO_PLUGINS(visit_number);
int visit_text(const struct tenon_visitor *v, const char *name, struct tenon_slice text)
	TO_PLUGINS(visit_text);

/**
 * struct visit_list - a list of values being made, for one field
 * @items: owned values
 * @count: how many
 * @room: how many have room
 * @status: 0, or what the first add failed with
 */
struct visit_list {
	struct tenon_value *items;
	size_t count;
	size_t room;
	int status;
};

/* Add a value, which the list takes over; or a text, which is copied. 0, or -TENON_E_NOMEM. */
int visit_list_add(struct visit_list *l, struct tenon_value *item);
int visit_list_text(struct visit_list *l, struct tenon_slice text);

/* Turn a list into an array value, and empty it. 0; what an add failed with; -TENON_E_NOMEM. */
int visit_list_value(struct visit_list *l, struct tenon_value *out);

/* Release all items, and empty the list. */
void visit_list_drop(struct visit_list *l);

/* Show a list as a field, and empty it. */
int visit_list_show(struct visit_list *l, const struct tenon_visitor *v, const char *name);

#endif /* RUNTIME_CORE_VISIT_FIELD_H */
