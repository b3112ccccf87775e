/* SPDX-License-Identifier: MIT */
/* Functions of tvm-ffi that raise, move and read errors. */

#include "runtime/library/thread_state.h"

#include <tenon/backend/buffer.h>

#include "runtime/library/tvm_table.h"
#include "runtime/core/error_object.h"

const struct tenon_slice abi_no_text = { "", 0 };

/* no known code has a message of more parts; further parts are appended */
#define PARTS_AT_ONCE 64

void abi_ffi_error_take(void **out)
{
	*out = tenon_error_take();
}

void abi_ffi_error_raise(void *error)
{
	struct tenon_slice text = tenon_slice_of("an object that is no error was raised");
	struct tenon_object *o = error;

	if (o && tenon_type_is(o->type, TENON_TYPE_ERROR))
		tenon_error_raise(error);
	else
		tenon_error_raise_text("TypeError", &text, 1);
}

void abi_ffi_error_raise_text(const char *kind, const char *message)
{
	struct tenon_slice text = tenon_slice_of(message);

	tenon_error_raise_text(kind, &text, 1);
}

void abi_ffi_error_raise_parts(const char *kind, const char **parts, int32_t count)
{
	struct tenon_slice part[PARTS_AT_ONCE];
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int32_t i;

	if (count <= PARTS_AT_ONCE) {
		for (i = 0; i < count; i++)
			part[i] = tenon_slice_of(parts[i]);
		tenon_error_raise_text(kind, part, count < 0 ? 0 : (size_t)count);
		return;
	}
	for (i = 0; i < count; i++)
		tenon_buffer_slice(&text, tenon_slice_of(parts[i]));
	part[0].data = text.data;
	part[0].size = text.size;
	tenon_error_raise_text(kind, part, 1);
	tenon_buffer_fini(&text);
}

static struct tenon_slice slice_or_none(const struct tenon_slice *s)
{
	return s ? *s : abi_no_text;
}

int abi_ffi_error_create_caused(const struct tenon_slice *kind, const struct tenon_slice *message,
				const struct tenon_slice *backtrace, void *cause, void *extra,
				void **out)
{
	/* Do not raise: the caller will raise the object. */
	*out = error_object_create(slice_or_none(kind), slice_or_none(message),
				   slice_or_none(backtrace), cause, extra);
	return *out ? 0 : -1;
}

int abi_ffi_error_create(const struct tenon_slice *kind, const struct tenon_slice *message,
			 const struct tenon_slice *backtrace, void **out)
{
	return abi_ffi_error_create_caused(kind, message, backtrace, NULL, NULL, out);
}

/* A one-line backtrace: the caller's location only. */
const struct tenon_slice *abi_ffi_backtrace(const char *file, int line, const char *function,
					    int cross_boundary)
{
	struct thread_state *s = thread_state_peek();

	if (!s)
		s = thread_state();
	if (!s || !file || !function)
		return &abi_no_text;
	s->backtrace.size = 0;
	s->backtrace.status = 0;
	if (tenon_buffer_printf(&s->backtrace, "  File \"%s\", line %d, in %s\n", file, line,
				function))
		return &abi_no_text;
	s->backtrace_slice.data = s->backtrace.data;
	s->backtrace_slice.size = s->backtrace.size;
	return &s->backtrace_slice;
}
