/* SPDX-License-Identifier: MIT */
#ifndef TENON_VISIT_H
#define TENON_VISIT_H

/**
 * DOC: reflection
 *
 * Any object can be walked field by field without knowing its type: printers, JSON writers and
 * debuggers need one function for all of them.
 */

#include <tenon/export.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_visitor - who looks
 * @field: called for each field. @name is NULL for the items of a list; @value is borrowed for the
 *	call and may be an object to be visited in turn. Non-zero stops the walk.
 * @pair: called for each pair of a map; when NULL, maps with string keys are visited as fields
 * @context: handed to both
 */
struct tenon_visitor {
	int (*field)(void *context, const char *name, const struct tenon_value *value);
	int (*pair)(void *context, const struct tenon_value *key, const struct tenon_value *value);
	void *context;
};

/**
 * typedef tenon_visit_fn - visits the fields of one type, its parents' not included
 */
typedef int (*tenon_visit_fn)(const struct tenon_object *object, const struct tenon_visitor *v);

/**
 * tenon_object_visit - visit the fields of an object, its parents' first
 * @object: any object, of this process' code or foreign
 * @v: visitor
 *
 * A type that registered no fields is visited as one without any.
 *
 * Context: any thread, while nobody changes the object.
 * Return: 0; what the visitor returned, when that is not 0; -TENON_E_NOMEM.
 */
TENON_API int tenon_object_visit(const struct tenon_object *object, const struct tenon_visitor *v);

/**
 * tenon_type_set_visit - say how the fields of a type are visited
 * @index: the type
 * @visit: calls the visitor for each field
 *
 * Return: 0; -TENON_E_USAGE for an unknown type.
 */
TENON_API int tenon_type_set_visit(int32_t index, tenon_visit_fn visit);

#ifdef __cplusplus
}
#endif

#endif /* TENON_VISIT_H */
