/* SPDX-License-Identifier: MIT */
/* Compare the names and types of parameters with the inputs of a model. */
#include <inttypes.h>

#include <tenon/backend/buffer.h>
#include <tenon/model.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/nearest_name.h"
#include "lib/string_map.h"

/* faults that a message lists */
#define LISTED_MOST 8

static void put_type(struct tenon_buffer *out, DLDataType dtype, const int64_t *shape, int32_t ndim)
{
	char name[TENON_DTYPE_NAME];
	int32_t i;

	for (i = 0; i < ndim; i++)
		if (shape[i] < 0)
			tenon_buffer_printf(out, "?x");
		else
			tenon_buffer_printf(out, "%" PRIi64 "x", shape[i]);
	if (ndim < 0)
		tenon_buffer_printf(out, "…x");
	tenon_buffer_printf(out, "%s", dtype.bits ? tenon_dtype_name(dtype, name) : "?");
}

/* What a model leaves open fits everything. */
static bool fits(const struct tenon_param *p, const struct tenon_port *port)
{
	int32_t i;

	if (port->dtype.bits && !tenon_dtype_equal(port->dtype, p->tensor.dtype))
		return false;
	if (port->ndim < 0)
		return true;
	if (port->ndim != p->tensor.ndim)
		return false;
	for (i = 0; i < port->ndim; i++)
		if (port->shape[i] >= 0 && port->shape[i] != p->tensor.shape[i])
			return false;
	return true;
}

static void put_unused(struct tenon_buffer *out, struct tenon_model *model, struct tenon_slice name)
{
	struct nearest_name nearest = { .wanted = name };
	size_t i, count = tenon_model_input_count(model);
	struct tenon_port port;

	for (i = 0; i < count; i++)
		if (!tenon_model_input(model, i, &port))
			nearest_name_offer(&nearest, port.name);
	tenon_buffer_printf(out, "\n  \"%.*s\": the model has no input of this name.",
			    (int)name.size, name.data);
	nearest_name_print(&nearest, out);
}

static void put_wrong(struct tenon_buffer *out, const struct tenon_params *params,
		      const struct tenon_param *p, const struct tenon_port *port)
{
	const char *block = tenon_params_block_type(params, p);

	tenon_buffer_printf(out, "\n  \"%.*s\": ", (int)p->name.size, p->name.data);
	put_type(out, p->tensor.dtype, p->tensor.shape, p->tensor.ndim);
	tenon_buffer_printf(out, ", the model wants ");
	put_type(out, port->dtype, port->shape, port->ndim);
	if (block)
		tenon_buffer_printf(out,
				    "; it is quantised (%s): dequantise it, as by --dequantize "
				    "float16",
				    block);
}

static int map_inputs(struct tenon_model *model, struct string_map *map)
{
	size_t i, count = tenon_model_input_count(model);
	struct tenon_port port;
	int err = string_map_reserve(map, count);

	if (err)
		return tenon_error(err, "no memory for the names of %zu inputs", count);
	for (i = 0; i < count && !err; i++) {
		err = tenon_model_input(model, i, &port);
		if (!err)
			*string_map_slot(map, port.name) = (void *)(uintptr_t)(i + 1);
	}
	return err;
}

int tenon_model_check_params(struct tenon_model *model, struct tenon_params *params, bool partial)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct string_map map = STRING_MAP_INIT;
	const struct tenon_param *p;
	struct tenon_port port;
	size_t i, faults = 0;
	uintptr_t input;
	int err = map_inputs(model, &map);

	for (i = 0; !err && (p = tenon_params_at(params, i)); i++) {
		input = (uintptr_t)string_map_get(&map, p->name);
		if (input)
			err = tenon_model_input(model, input - 1, &port);
		if (err || (input ? fits(p, &port) : partial) || faults++ >= LISTED_MOST)
			continue;
		if (input)
			put_wrong(&text, params, p, &port);
		else
			put_unused(&text, model, p->name);
	}
	if (!err && faults > LISTED_MOST)
		tenon_buffer_printf(&text, "\n  and %zu more", faults - LISTED_MOST);
	if (!err && faults)
		err = tenon_error(-TENON_E_VALUE, "%zu of %zu parameters do not fit the model:%s",
				  faults, i, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	string_map_fini(&map);
	return err;
}
