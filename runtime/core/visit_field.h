/* SPDX-License-Identifier: MIT */
/* Report fields of modules to a visitor (tenon/visit.h). */
#ifndef RUNTIME_CORE_VISIT_FIELD_H
#define RUNTIME_CORE_VISIT_FIELD_H

#include <tenon/array.h>
#include <tenon/string.h>
#include <tenon/visit.h>

#include "lib/plugin_api.h"

/*
 * Visit a number or a string; an empty string is skipped. Return: the visitor's result;
 * -TENON_E_NOMEM.
 */
int visit_number(const struct tenon_visitor *v, const char *name, uint64_t number)
	TO_PLUGINS(visit_number);
int visit_text(const struct tenon_visitor *v, const char *name, struct tenon_slice text)
	TO_PLUGINS(visit_text);

/**
 * struct visit_list - a growing list of values for one field
 * @items: owned values
 * @count: how many
 * @room: capacity
 * @status: 0, or the error of the first failed add
 */
struct visit_list {
	struct tenon_value *items;
	size_t count;
	size_t room;
	int status;
};

/* Append a value, which the list then owns, or a string, which is copied. 0; -TENON_E_NOMEM. */
int visit_list_add(struct visit_list *l, struct tenon_value *item);
int visit_list_text(struct visit_list *l, struct tenon_slice text);

/* Convert a list to an array value and empty it. 0; the error of a failed add; -TENON_E_NOMEM. */
int visit_list_value(struct visit_list *l, struct tenon_value *out);

/* Release all items and empty the list. */
void visit_list_drop(struct visit_list *l);

/* Visit a list as a field and empty it. */
int visit_list_show(struct visit_list *l, const struct tenon_visitor *v, const char *name);

#endif /* RUNTIME_CORE_VISIT_FIELD_H */
