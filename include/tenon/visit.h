/* SPDX-License-Identifier: MIT */
#ifndef TENON_VISIT_H
#define TENON_VISIT_H

/**
 * DOC: reflection
 *
 * The fields of an object can be visited without knowing its type. Printers, JSON writers and
 * debuggers use this.
 */

#include <tenon/export.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_visitor - callbacks for the fields of an object
 * @size: sizeof(struct tenon_visitor)
 * @field: called for each field. @name is NULL for the items of a list; @value is borrowed for the
 *	call and may be an object to visit in turn. Non-zero stops the visit.
 * @pair: called for each pair of a map; when NULL, maps with string keys are visited as fields
 * @context: passed to both
 */
struct tenon_visitor {
	size_t size;
	int (*field)(void *context, const char *name, const struct tenon_value *value);
	int (*pair)(void *context, const struct tenon_value *key, const struct tenon_value *value);
	void *context;
};

/**
 * typedef tenon_visit_fn - visit the fields of one type, without those of its parents
 */
typedef int (*tenon_visit_fn)(const struct tenon_object *object, const struct tenon_visitor *v);

/**
 * tenon_object_visit - visit the fields of an object, those of parent types first
 * @object: any object, also of foreign code
 * @v: visitor
 *
 * A type without a visit function has no fields.
 *
 * Context: any thread, while no thread changes the object.
 * Return: 0; the non-zero result of the visitor; -TENON_E_NOMEM; -TENON_E_USAGE for a visitor without a
 *	size; -TENON_E_UNSUPPORTED when the plug-in describe.so is missing.
 */
TENON_API int tenon_object_visit(const struct tenon_object *object, const struct tenon_visitor *v);

/**
 * tenon_type_set_visit - set the function that visits the fields of a type
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
