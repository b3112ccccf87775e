/* SPDX-License-Identifier: MIT */
/* Measuring functions on the server. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/options.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/wire_codes.h"

#define EVALUATOR "runtime.RPCTimeEvaluator"

/* numbers of arguments, by version: 0.14 and later, 0.10, 0.9, 0.8 */
static const uint32_t argument_counts[] = { 12, 11, 10, 8 };

/* Write the arguments of the evaluator as the server with @count of them takes them. */
static void write_arguments(const struct tenon_remote_timing *t, uint32_t count,
			    struct wire_value *v)
{
	uint32_t at = 7;

	v[4] = wire_int(t->number > 0 ? t->number : 1);
	v[5] = wire_int(t->repeat > 0 ? t->repeat : 1);
	v[6] = wire_int(t->min_repeat_ms);
	if (count >= 11)
		v[at++] = wire_int(100); /* TVM's limit of readings of zero */
	if (count >= 10) {
		v[at++] = wire_int(t->cooldown_ms);
		v[at++] = wire_int(t->repeats_to_cooldown > 0 ? t->repeats_to_cooldown : 1);
	}
	if (count >= 12)
		v[at++] = wire_int(t->cache_flush_bytes);
	v[at] = wire_string("");
}

static int make_evaluator(struct rpc *r, uint64_t module, const char *name, DLDevice there,
			  const struct tenon_remote_timing *t, struct rpc_result *out)
{
	struct wire_value v[12] = { { WIRE_MODULE, { .handle = module } },
				    wire_string(name),
				    wire_int(there.device_type),
				    wire_int(there.device_id) };
	size_t tries = r->generation == WIRE_LEGACY ? 4 : 1, i;
	int err = 0;

	if (!module)
		v[0] = wire_none();
	for (i = 0; i < tries; i++) {
		write_arguments(t, argument_counts[i], v);
		err = rpc_server_call(r, EVALUATOR, v, argument_counts[i]);
		/* only a wrong number of arguments is worth another attempt */
		if (err != -TENON_E_CALL)
			break;
	}
	if (!err)
		err = rpc_take_result(r, out);
	if (!err && out->kind != WIRE_FUNCTION)
		err = rpc_fail(r,
			       tenon_error(-TENON_E_FORMAT,
					   "%s: " EVALUATOR " returned no function", r->address));
	return err;
}

static int add_times(const struct tenon_value *bytes, struct tenon_buffer *seconds)
{
	struct tenon_slice text;
	int err = tenon_value_text(bytes, &text);

	if (!err && (!text.size || text.size % sizeof(double)))
		err = tenon_error(-TENON_E_FORMAT, "times of %zu bytes: not a number of doubles",
				  text.size);
	return err ? err : tenon_buffer_slice(seconds, text);
}

int rpc_time(struct tenon_remote *remote, struct tenon_module *module, const char *name,
	     DLDevice there, const struct tenon_remote_timing *timing,
	     const struct tenon_value *args, int32_t count, struct tenon_buffer *seconds)
{
	struct tenon_remote_timing all;
	struct tenon_value bytes = tenon_arg_none();
	struct rpc *r = rpc_of(remote);
	struct rpc_result evaluator;
	uint64_t handle = module ? rpc_module_handle(r, module) : 0;
	int err = options_read(timing, &all, sizeof(all));

	if (err)
		return err;
	if (module && !handle)
		return tenon_error(-TENON_E_TYPE, "the module is none of the session with %s",
				   r->address);
	pthread_mutex_lock(&r->lock);
	err = make_evaluator(r, handle, name, there, &all, &evaluator);
	pthread_mutex_unlock(&r->lock);
	if (err)
		return tenon_error_in(err, "measuring %s", name);
	err = rpc_call(r, evaluator.handle, args, count, &bytes);
	rpc_free_later(r, evaluator.handle, LEGACY_FUNCTION);
	if (!err)
		err = add_times(&bytes, seconds);
	tenon_value_release(&bytes);
	return err ? tenon_error_in(err, "measuring %s", name) : 0;
}
