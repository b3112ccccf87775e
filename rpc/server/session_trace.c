/* SPDX-License-Identifier: MIT */
/* The trace that a session records for its client: Tenon's own functions, which stock clients do not call. */
#include <tenon/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/trace.h"
#include "rpc/server/session_state.h"
#include "runtime/core/arguments.h"

void session_trace_drop(struct session *s)
{
	if (s->traced && trace_take(NULL))
		tenon_error_clear();
	s->traced = false;
}

PACKED_CALL(session_trace_now)
{
	*ret = tenon_arg_int((int64_t)clock_now());
	return 0;
}

PACKED_CALL(session_trace_begin)
{
	struct session *s = self;
	int err;

	session_trace_drop(s);
	err = trace_keep();
	if (err)
		return err;
	s->traced = true;
	return session_trace_now(self, args, count, ret);
}

PACKED_CALL(session_trace_end)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct session *s = self;
	int err;

	if (!s->traced)
		return tenon_error(-TENON_E_USAGE, "the session records no trace");
	s->traced = false;
	err = trace_take(&out);
	if (!err)
		err = tenon_bytes_value((struct tenon_slice){ out.data, out.size }, ret);
	tenon_buffer_fini(&out);
	return err;
}
