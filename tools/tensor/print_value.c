/* SPDX-License-Identifier: MIT */
/* Print values that are no tensors, also nested ones. */
#include <inttypes.h>

#include <tenon/array.h>
#include <tenon/backend/module_kind.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

#include "tools/tensor/element.h"
#include "tools/tensor/print.h"
#include "tools/text/text.h"

/* Limit on nesting: containers with foreign objects may be cyclic. */
#define DEEPEST 16
/* items of a container that are printed */
#define ITEMS 16

static void print_deep(const struct tenon_value *v, int depth, FILE *out);

static void print_text(struct tenon_slice text, FILE *out)
{
	fputc('"', out);
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c < ' ' || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void print_bytes(struct tenon_slice bytes, FILE *out)
{
	fprintf(out, "%zu bytes", bytes.size);
	for (size_t i = 0; i < bytes.size && i < ITEMS; i++)
		fprintf(out, "%s%02x", i ? " " : ": ", (unsigned char)bytes.data[i]);
	if (bytes.size > ITEMS)
		fputs(" …", out);
}

static void print_shape(const struct tenon_shape *shape, FILE *out)
{
	fputc('(', out);
	for (size_t i = 0; i < shape->size && i < ITEMS; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : "", shape->data[i]);
	fputs(shape->size > ITEMS ? ", …)" : ")", out);
}

static void print_array(const struct tenon_array *array, int depth, FILE *out)
{
	fputc('[', out);
	for (int64_t i = 0; i < array->size && i < ITEMS; i++) {
		if (i)
			fputs(", ", out);
		print_deep(&array->data[i], depth + 1, out);
	}
	fputs(array->size > ITEMS ? ", …]" : "]", out);
}

static void print_map(const struct tenon_map *map, int depth, FILE *out)
{
	const struct tenon_value *key, *value;
	const void *at = NULL;

	fputc('{', out);
	for (int i = 0; (at = tenon_map_next(map, at, &key, &value)); i++) {
		if (i)
			fputs(", ", out);
		if (i == ITEMS) {
			fputs("…", out);
			break;
		}
		print_deep(key, depth + 1, out);
		fputs(": ", out);
		print_deep(value, depth + 1, out);
	}
	fputc('}', out);
}

static void print_object(const struct tenon_value *v, int depth, FILE *out)
{
	const struct tenon_error *error;
	const struct tenon_module *module;

	if (depth >= DEEPEST) {
		fputs("…", out);
	} else if (v->type == TENON_TYPE_SHAPE) {
		print_shape((const struct tenon_shape *)v->as.object, out);
	} else if (v->type == TENON_TYPE_ARRAY || v->type == TENON_TYPE_LIST) {
		print_array((const struct tenon_array *)v->as.object, depth, out);
	} else if (v->type == TENON_TYPE_MAP || v->type == TENON_TYPE_DICT) {
		print_map((const struct tenon_map *)v->as.object, depth, out);
	} else if (v->type == TENON_TYPE_ERROR) {
		error = (const struct tenon_error *)v->as.object;
		fputs("error ", out);
		printable_cell(error->kind, 0, out);
		fputs(": ", out);
		printable_cell(error->message, 0, out);
	} else if (v->type == TENON_TYPE_FUNCTION) {
		fputs("a function", out);
	} else if (v->type == TENON_TYPE_MODULE) {
		module = (const struct tenon_module *)v->as.object;
		fputs("a module of kind \"", out);
		printable_cell(module->kind, 0, out);
		fprintf(out, "\", %zu import%s", module->import_count,
			module->import_count == 1 ? "" : "s");
	} else {
		fprintf(out, "an object of type %s", tenon_type_key(v->type));
	}
}

static void print_real(double real, FILE *out)
{
	struct element e = { .class = ELEMENT_REAL, .real = real };
	char text[ELEMENT_TEXT];

	fputs(element_text(&e, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1), 0, text), out);
}

static void print_deep(const struct tenon_value *v, int depth, FILE *out)
{
	char name[TENON_DTYPE_NAME];
	struct tenon_slice text;
	DLTensor *dl;

	switch (v->type) {
	case TENON_TYPE_NONE:
		fputs("null", out);
		return;
	case TENON_TYPE_INT:
		fprintf(out, "%" PRId64, v->as.integer);
		return;
	case TENON_TYPE_BOOL:
		fputs(v->as.integer ? "true" : "false", out);
		return;
	case TENON_TYPE_FLOAT:
		print_real(v->as.real, out);
		return;
	case TENON_TYPE_POINTER:
		fprintf(out, "pointer 0x%" PRIxPTR, (uintptr_t)v->as.pointer);
		return;
	case TENON_TYPE_DTYPE:
		fputs(tenon_dtype_name(v->as.dtype, name), out);
		return;
	case TENON_TYPE_DEVICE:
		fprintf(out, "%s:%d", tenon_device_name(v->as.device.device_type),
			v->as.device.device_id);
		return;
	case TENON_TYPE_RAW_STRING:
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_STRING:
		if (!tenon_value_text(v, &text))
			print_text(text, out);
		return;
	case TENON_TYPE_RAW_BYTES:
	case TENON_TYPE_SMALL_BYTES:
	case TENON_TYPE_BYTES:
		if (!tenon_value_text(v, &text))
			print_bytes(text, out);
		return;
	case TENON_TYPE_DLTENSOR:
	case TENON_TYPE_TENSOR:
		if (!tenon_value_tensor(v, &dl))
			print_tensor(dl, out);
		return;
	default:
		if (v->type >= TENON_TYPE_OBJECT && v->as.object)
			print_object(v, depth, out);
		else
			fprintf(out, "a value of type %s", tenon_type_key(v->type));
		return;
	}
}

void print_value(const struct tenon_value *value, FILE *out)
{
	print_deep(value, 0, out);
}
