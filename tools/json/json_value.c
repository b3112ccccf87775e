/* SPDX-License-Identifier: MIT */
/* Convert values and visited objects to cJSON, with a limit of depth. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/array.h>
#include <tenon/error.h>
#include <tenon/visit.h>

#include "lib/error_slot.h"
#include "tools/json/json_value.h"
#include "tools/tensor/element.h"
#include "tools/tensor/print.h"
#include "tools/text/memory_stream.h"

/*
 * Import trees are at most 256 deep, with an array per level; objects of foreign code may be
 * cyclic.
 */
#define DEEPEST	    64
#define VALUES_MOST 4096
#define BYTES_MOST  1024

static cJSON *json_deep(const struct tenon_value *value, int depth);

static void *json_malloc(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		tenon_error(-TENON_E_NOMEM, "no memory for the JSON output");
	return memory;
}

void json_prepare(void)
{
	cJSON_Hooks hooks = { json_malloc, free };

	cJSON_InitHooks(&hooks);
}

static cJSON *json_of_element(const struct element *e, DLDataType dtype)
{
	char text[ELEMENT_TEXT];

	element_text(e, dtype, 0, text);
	if (e->class == ELEMENT_COMPLEX || dtype.code == TENON_DTYPE_HANDLE ||
	    (e->class == ELEMENT_REAL && !isfinite(e->real)))
		return cJSON_CreateString(text);
	return cJSON_CreateRaw(text);
}

cJSON *json_of_real(double real)
{
	struct element e = { .class = ELEMENT_REAL, .real = real };

	return json_of_element(&e, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1));
}

static cJSON *json_of_extents(const int64_t *extents, size_t count)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < count; i++)
		json_append(list, json_of_int(extents[i]));
	return list;
}

cJSON *json_of_tensor(const DLTensor *dl)
{
	cJSON *json = cJSON_CreateObject(), *list;
	char text[TENON_DTYPE_NAME + 16];
	uint64_t count, shown;

	json_set(json, "shape", json_of_extents(dl->shape, (size_t)dl->ndim));
	cJSON_AddStringToObject(json, "dtype", tenon_dtype_name(dl->dtype, text));
	if (dl->device.device_type != kDLCPU) {
		snprintf(text, sizeof(text), "%s:%d", tenon_device_name(dl->device.device_type),
			 dl->device.device_id);
		cJSON_AddStringToObject(json, "device", text);
		return json;
	}
	if (element_class_of(dl->dtype) < 0 || tenon_tensor_elements(dl, &count))
		return json;
	count *= dl->dtype.lanes;
	shown = count < VALUES_MOST ? count : VALUES_MOST;
	list = cJSON_AddArrayToObject(json, "values");
	for (uint64_t i = 0; i < shown; i++) {
		struct element e;

		tensor_element(dl, i, &e);
		json_append(list, json_of_element(&e, dl->dtype));
	}
	if (shown < count)
		cJSON_AddTrueToObject(json, "truncated");
	return json;
}

static cJSON *json_of_bytes(struct tenon_slice bytes)
{
	size_t shown = bytes.size < BYTES_MOST ? bytes.size : BYTES_MOST;
	cJSON *json = cJSON_CreateObject();
	char hex[2 * BYTES_MOST + 1] = "";

	for (size_t i = 0; i < shown; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes.data[i]);
	json_set(json, "bytes", json_of_int((int64_t)bytes.size));
	cJSON_AddStringToObject(json, "hex", hex);
	if (shown < bytes.size)
		cJSON_AddTrueToObject(json, "truncated");
	return json;
}

/* ---- objects, by their fields */

struct writer {
	cJSON *json;
	int depth;
};

static int write_field(void *context, const char *name, const struct tenon_value *value)
{
	struct writer *w = context;
	cJSON *json = json_deep(value, w->depth + 1);

	if (name)
		json_set(w->json, name, json);
	else
		json_append(w->json, json);
	return 0;
}

/* A key as a string; keys of other types as they are printed. NULL if out of memory. */
static char *key_text(const struct tenon_value *key)
{
	struct memory_stream printed;
	struct tenon_slice text;

	if (!tenon_value_text(key, &text))
		return strndup(text.data ? text.data : "", text.size);
	tenon_error_clear();
	if (memory_stream_open(&printed))
		return NULL;
	print_value(key, printed.out);
	return memory_stream_close(&printed) ? NULL : (char *)printed.text.data;
}

static int write_pair(void *context, const struct tenon_value *key, const struct tenon_value *value)
{
	struct writer *w = context;
	char *name = key_text(key);

	if (!name)
		return tenon_error(-TENON_E_NOMEM, "no memory for a key");
	json_set(w->json, name, json_deep(value, w->depth + 1));
	free(name);
	return 0;
}

static cJSON *json_of_object(const struct tenon_object *object, int depth)
{
	struct writer w = { NULL, depth };
	struct tenon_visitor visitor = { sizeof(visitor), write_field, write_pair, &w };

	if (depth >= DEEPEST)
		return cJSON_CreateString("…");
	switch (object->type) {
	case TENON_TYPE_ARRAY:
	case TENON_TYPE_LIST:
	case TENON_TYPE_SHAPE:
		w.json = cJSON_CreateArray();
		break;
	case TENON_TYPE_MAP:
	case TENON_TYPE_DICT:
		w.json = cJSON_CreateObject();
		break;
	default:
		w.json = cJSON_CreateObject();
		cJSON_AddStringToObject(w.json, "type", tenon_type_key(object->type));
		break;
	}
	if (tenon_object_visit(object, &visitor))
		tenon_error_clear();
	return w.json;
}

static cJSON *json_deep(const struct tenon_value *v, int depth)
{
	char text[TENON_DTYPE_NAME + 16];
	struct tenon_slice slice;
	DLTensor *dl;

	switch (v->type) {
	case TENON_TYPE_NONE:
		return cJSON_CreateNull();
	case TENON_TYPE_INT:
		return json_of_int(v->as.integer);
	case TENON_TYPE_BOOL:
		return cJSON_CreateBool(v->as.integer != 0);
	case TENON_TYPE_FLOAT:
		return json_of_real(v->as.real);
	case TENON_TYPE_POINTER:
		snprintf(text, sizeof(text), "0x%" PRIxPTR, (uintptr_t)v->as.pointer);
		return cJSON_CreateString(text);
	case TENON_TYPE_DTYPE:
		return cJSON_CreateString(tenon_dtype_name(v->as.dtype, text));
	case TENON_TYPE_DEVICE:
		snprintf(text, sizeof(text), "%s:%d", tenon_device_name(v->as.device.device_type),
			 v->as.device.device_id);
		return cJSON_CreateString(text);
	case TENON_TYPE_RAW_STRING:
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_STRING:
		return tenon_value_text(v, &slice) ? cJSON_CreateNull() : json_of_text(slice);
	case TENON_TYPE_RAW_BYTES:
	case TENON_TYPE_SMALL_BYTES:
	case TENON_TYPE_BYTES:
		return tenon_value_text(v, &slice) ? cJSON_CreateNull() : json_of_bytes(slice);
	case TENON_TYPE_DLTENSOR:
	case TENON_TYPE_TENSOR:
		return tenon_value_tensor(v, &dl) ? cJSON_CreateNull() : json_of_tensor(dl);
	default:
		break;
	}
	if (v->type >= TENON_TYPE_OBJECT && v->as.object)
		return json_of_object(v->as.object, depth);
	return cJSON_CreateString(tenon_type_key(v->type));
}

cJSON *json_of_value(const struct tenon_value *value)
{
	return json_deep(value, 0);
}

static int print(cJSON *json, bool indent, FILE *out)
{
	char *text = NULL;

	if (json && !error_ran_out())
		text = indent ? cJSON_Print(json) : cJSON_PrintUnformatted(json);

	cJSON_Delete(json);
	if (!text)
		return tenon_error(-TENON_E_NOMEM, "no memory for the JSON output");
	fputs(text, out);
	fputc('\n', out);
	free(text);
	return 0;
}

int json_print(cJSON *json, FILE *out)
{
	return print(json, true, out);
}

int json_print_line(cJSON *json, FILE *out)
{
	return print(json, false, out);
}
