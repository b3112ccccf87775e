/* SPDX-License-Identifier: MIT */
/* Read the tables of an executable's flatbuffer. */
#include "devices/torq/torq_program.h"

#include <string.h>

#include "lib/brief_errors.h"

/* fields of the tables, in the schema's order */
enum { EXECUTABLE_NAME, CODE, BINDINGS, ACTIONS, BUFFERS_DEBUG, HOST_CODE, RUNTIME, HARDWARE };
enum { SEGMENT_ADDRESS, SEGMENT_SIZE, SEGMENT_DATA };
enum { BINDING_ID, BINDING_ADDRESS, BINDING_OFFSET, BINDING_SIZE, BINDING_READ, BINDING_WRITE };
enum { ACTION_KIND, ACTION_PARAMETERS };
enum {
	COPY_FROM,
	COPY_TO,
	COPY_SOURCE,
	COPY_TARGET,
	COPY_SOURCE_STRIDES,
	COPY_TARGET_STRIDES,
	COPY_SHAPE,
	COPY_ELEMENT,
	COPY_CONSTANT,
	COPY_BINDING,
	COPY_UNIT,
	COPY_DIRECTION,
};
enum { START_ADDRESS };
enum { HOST_FUNCTION };
enum { ALLOCATION_ID, ALLOCATION_ADDRESS, ALLOCATION_SIZE, ALLOCATION_MEMORY };

/* an index that is not there */
#define NONE UINT32_MAX

static int read_u32(const struct flatbuffer_table *t, unsigned int field, uint32_t absent,
		    uint32_t *out)
{
	uint64_t value;
	int err = flatbuffer_number(t, field, 4, absent, &value);

	*out = (uint32_t)value;
	return err;
}

static int read_flag(const struct flatbuffer_table *t, unsigned int field, bool *out)
{
	uint64_t value;
	int err = flatbuffer_number(t, field, 1, 0, &value);

	*out = value;
	return err;
}

int torq_program_read(const struct tenon_cursor *c, struct torq_program *out)
{
	const struct tenon_slice bytes = { (const char *)c->at, tenon_cursor_left(c) };
	struct flatbuffer_vector code;
	struct flatbuffer_table t;
	int err;

	memset(out, 0, sizeof(*out));
	out->file = c->name ? c->name : "program";
	if (!torq_program_is(bytes))
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "no executable of Torq: its identifier is \"SNPU\"");
	err = flatbuffer_root(c, &t);
	err = err ? err : flatbuffer_string(&t, EXECUTABLE_NAME, &out->name);
	err = err ? err : flatbuffer_vector(&t, CODE, 4, &out->segments);
	err = err ? err : flatbuffer_vector(&t, BINDINGS, 4, &out->bindings);
	err = err ? err : flatbuffer_vector(&t, ACTIONS, 4, &out->actions);
	err = err ? err : flatbuffer_vector(&t, HOST_CODE, 1, &code);
	err = err ? err : read_u32(&t, RUNTIME, 0, &out->runtime);
	err = err ? err : read_u32(&t, HARDWARE, 0, &out->hardware);
	if (!err)
		out->host_code = flatbuffer_bytes(&code);
	return err;
}

int torq_program_segment(const struct torq_program *p, uint32_t index, struct torq_segment *out)
{
	struct flatbuffer_vector data;
	struct flatbuffer_table t;
	int err = flatbuffer_item_table(&p->segments, index, &t);

	err = err ? err : read_u32(&t, SEGMENT_ADDRESS, 0, &out->address);
	err = err ? err : read_u32(&t, SEGMENT_SIZE, 0, &out->size);
	err = err ? err : flatbuffer_vector(&t, SEGMENT_DATA, 1, &data);
	if (!err)
		out->data = flatbuffer_bytes(&data);
	return err;
}

int torq_program_binding(const struct torq_program *p, uint32_t index, struct torq_binding *out)
{
	struct flatbuffer_table t;
	bool only_read, only_written;
	int err = flatbuffer_item_table(&p->bindings, index, &t);

	err = err ? err : read_u32(&t, BINDING_ID, 0, &out->argument);
	err = err ? err : read_u32(&t, BINDING_ADDRESS, 0, &out->address);
	err = err ? err : read_u32(&t, BINDING_OFFSET, 0, &out->offset);
	err = err ? err : read_u32(&t, BINDING_SIZE, 0, &out->size);
	err = err ? err : read_flag(&t, BINDING_READ, &only_read);
	err = err ? err : read_flag(&t, BINDING_WRITE, &only_written);
	if (err)
		return err;
	out->reads = !only_written || only_read;
	out->writes = !only_read;
	return 0;
}

/* ---- actions */

static int read_list(const struct flatbuffer_table *t, unsigned int field, uint32_t rank,
		     uint32_t out[TORQ_RANK])
{
	struct flatbuffer_vector v;
	uint32_t i;
	int err = flatbuffer_vector(t, field, 4, &v);

	if (!err && v.count != rank)
		err = tenon_cursor_error(&t->file, -TENON_E_FORMAT,
					 "a copy of %u dimensions with a list of %u strides", rank,
					 v.count);
	for (i = 0; !err && i < rank; i++)
		out[i] = (uint32_t)flatbuffer_item(&v, i);
	return err;
}

static int read_shape(const struct flatbuffer_table *t, struct torq_copy *out)
{
	struct flatbuffer_vector v;
	int err = flatbuffer_vector(t, COPY_SHAPE, 4, &v);

	if (!err && v.count > TORQ_RANK)
		err = tenon_cursor_error(&v.items, -TENON_E_UNSUPPORTED,
					 "a copy of %u dimensions; %d are possible", v.count,
					 TORQ_RANK);
	out->rank = err ? 0 : v.count;
	err = err ? err : read_list(t, COPY_SHAPE, out->rank, out->shape);
	err = err ? err : read_list(t, COPY_SOURCE_STRIDES, out->rank, out->source_strides);
	return err ? err : read_list(t, COPY_TARGET_STRIDES, out->rank, out->target_strides);
}

static int read_move(const struct flatbuffer_table *t, struct torq_copy *out)
{
	uint32_t constant, argument, direction;
	int err = read_u32(t, COPY_CONSTANT, NONE, &constant);

	err = err ? err : read_u32(t, COPY_BINDING, NONE, &argument);
	err = err ? err : read_u32(t, COPY_UNIT, 1, &out->unit);
	err = err ? err : read_u32(t, COPY_DIRECTION, 0, &direction);
	if (err)
		return err;
	if ((int32_t)constant >= 0 && (int32_t)argument >= 0)
		return tenon_cursor_error(&t->file, -TENON_E_FORMAT,
					  "a copy is moved by constant %u and by argument %u",
					  constant, argument);
	out->move = (int32_t)constant >= 0   ? TORQ_BY_CONSTANT
		    : (int32_t)argument >= 0 ? TORQ_BY_ARGUMENT
					     : TORQ_FIXED;
	out->index = out->move == TORQ_BY_CONSTANT ? constant : argument;
	out->moves_target = direction;
	return 0;
}

static int read_copy(const struct flatbuffer_table *t, struct torq_copy *out)
{
	int err = read_shape(t, out);

	err = err ? err : read_u32(t, COPY_FROM, TORQ_LRAM, &out->from);
	err = err ? err : read_u32(t, COPY_TO, TORQ_LRAM, &out->to);
	err = err ? err : read_u32(t, COPY_SOURCE, 0, &out->source);
	err = err ? err : read_u32(t, COPY_TARGET, 0, &out->target);
	err = err ? err : read_u32(t, COPY_ELEMENT, 0, &out->element);
	return err ? err : read_move(t, out);
}

static int read_allocation(const struct flatbuffer_table *t, struct torq_action *out)
{
	int err = flatbuffer_number(t, ALLOCATION_ADDRESS, 8, 0, &out->address);

	err = err ? err : flatbuffer_number(t, ALLOCATION_SIZE, 8, 0, &out->size);
	return err ? err : read_u32(t, ALLOCATION_MEMORY, TORQ_LRAM, &out->memory);
}

int torq_program_action(const struct torq_program *p, uint32_t index, struct torq_action *out)
{
	struct flatbuffer_table t, parameters;
	uint64_t kind;
	bool found = false;
	int err = flatbuffer_item_table(&p->actions, index, &t);

	memset(out, 0, sizeof(*out));
	err = err ? err : flatbuffer_number(&t, ACTION_KIND, 1, 0, &kind);
	err = err ? err : flatbuffer_table(&t, ACTION_PARAMETERS, &parameters, &found);
	if (!err && !found)
		err = tenon_cursor_error(&t.vtable, -TENON_E_FORMAT, "action %u has no parameters",
					 index);
	if (err)
		return err;
	out->kind = (uint32_t)kind;
	switch (out->kind) {
	case TORQ_COPY:
		return read_copy(&parameters, &out->copy);
	case TORQ_START:
		return read_u32(&parameters, START_ADDRESS, 0, &out->start);
	case TORQ_START_HOST:
		return flatbuffer_string(&parameters, HOST_FUNCTION, &out->function);
	case TORQ_ALLOCATE:
		return read_allocation(&parameters, out);
	default:
		return 0;
	}
}
