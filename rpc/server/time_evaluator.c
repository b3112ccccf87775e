/* SPDX-License-Identifier: MIT */
/* Measure a function, as TVM's time evaluator does. */
#include "rpc/server/time_evaluator.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/device.h>
#include <tenon/module.h>
#include <tenon/queue.h>
#include <tenon/string.h>
#include <time.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"

/* a result of 512 KiB; TVM's own clients ask for a few hundred at most */
#define REPEAT_MOST	 65536
#define CACHE_FLUSH_MOST (INT64_C(1) << 30)

/*
 * Numbers of arguments: TVM 0.8 has the first five numbers, 0.9 two of cooling down behind them, 0.10
 * the limit of zeros before these two, 0.14 the cache flush. The preprocessing function is always last.
 */
enum { ARGUMENTS_08 = 8, ARGUMENTS_09 = 10, ARGUMENTS_014 = 12 };

/**
 * struct evaluator - a function that measures another; counted by its function object
 * @function: the measured function
 * @prepare: called with the same arguments before each repetition; may be NULL
 * @device: device to wait for
 * @number: runs per repetition. It grows for good where a repetition was too short.
 * @repeat: repetitions, one result each
 * @least_ms: least duration of a repetition
 * @zeros_most: give up growing after so many durations of zero
 * @cooldown_ms: pause after each @cooldown_every repetitions
 * @flush: bytes to write before each measurement; @flush_bytes of them
 */
struct evaluator {
	struct tenon_function *function;
	struct tenon_function *prepare;
	DLDevice device;
	int64_t number;
	int64_t repeat;
	int64_t least_ms;
	int64_t zeros_most;
	int64_t cooldown_ms;
	int64_t cooldown_every;
	char *flush;
	size_t flush_bytes;
};

static void evaluator_release(void *self)
{
	struct evaluator *e = self;

	tenon_object_unref(e->function);
	tenon_object_unref(e->prepare);
	free(e->flush);
	free(e);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int sync_device(DLDevice id)
{
	struct tenon_device *device;
	int err;

	if (id.device_type == kDLCPU && id.device_id == 0)
		return 0;
	err = tenon_device_get(id, &device);
	if (err)
		return err;
	err = tenon_device_sync(device, TENON_FOREVER);
	tenon_object_unref(device);
	return err;
}

static int call_once(struct tenon_function *function, const struct tenon_value *args, int32_t count)
{
	struct tenon_value value = tenon_arg_none();

	if (tenon_function_call(function, args, count, &value))
		return -TENON_E_CALL;
	tenon_value_release(&value);
	return 0;
}

/* Measure @e->number runs; the seconds. */
static int measure(struct evaluator *e, const struct tenon_value *args, int32_t count,
		   double *seconds)
{
	double start;
	int64_t i;
	int err;

	if (e->flush)
		memset(e->flush, (int)(e->number & 0xff), e->flush_bytes);
	err = sync_device(e->device);
	start = now();
	for (i = 0; i < e->number && !err; i++)
		err = call_once(e->function, args, count);
	if (!err)
		err = sync_device(e->device);
	*seconds = now() - start;
	return err;
}

/* More runs, so that a repetition takes long enough: what TVM computes. */
static void grow_number(struct evaluator *e, double seconds)
{
	double golden = (double)e->number * 1.618, enough = golden;

	if (seconds > 0)
		enough = (double)e->least_ms / (seconds * 1e3 / (double)e->number) + 1;
	if (enough < golden)
		enough = golden;
	e->number = enough < 1e15 ? (int64_t)enough : (int64_t)1e15;
}

static int repetition(struct evaluator *e, const struct tenon_value *args, int32_t count,
		      double *result)
{
	double seconds = 0;
	int64_t zeros = 0;
	int err = e->prepare ? call_once(e->prepare, args, count) : 0;

	while (!err) {
		if (seconds > 0 || zeros)
			grow_number(e, seconds);
		err = measure(e, args, count, &seconds);
		zeros += seconds <= 0;
		if (seconds * 1e3 >= (double)e->least_ms || zeros >= e->zeros_most)
			break;
	}
	*result = seconds / (double)e->number;
	return err;
}

static void cool_down(const struct evaluator *e, int64_t i)
{
	struct timespec pause = { e->cooldown_ms / 1000, e->cooldown_ms % 1000 * 1000000 };

	if (e->cooldown_ms > 0 && i % e->cooldown_every == 0)
		nanosleep(&pause, NULL);
}

static PACKED_CALL(evaluate)
{
	struct evaluator *e = self;
	double *results = calloc((size_t)e->repeat, sizeof(*results));
	struct tenon_slice bytes = { (const char *)results, (size_t)e->repeat * sizeof(*results) };
	int64_t i;
	int err;

	if (!results)
		return tenon_error(-TENON_E_NOMEM, "no memory for %d results", (int)e->repeat);
	/* once without measuring: kernels are built and memory is touched */
	err = call_once(e->function, args, count);
	if (!err)
		err = sync_device(e->device);
	for (i = 0; i < e->repeat && !err; i++) {
		err = repetition(e, args, count, &results[i]);
		cool_down(e, i);
	}
	/* the wire has little-endian doubles, and so has every machine that Tenon runs on */
	if (!err)
		err = tenon_bytes_value(bytes, ret);
	free(results);
	return err;
}

static int find_in_module(void *module, struct tenon_slice name, struct tenon_function **out)
{
	int err = tenon_module_find_function(module, name, true, out);

	if (!err && !*out)
		err = tenon_error(-TENON_E_NOT_FOUND, "the module has no function \"%.*s\"",
				  (int)name.size, name.data);
	return err;
}

static int find_global(const struct time_evaluator_globals *g, struct tenon_slice name,
		       struct tenon_function **out)
{
	int err = g->find(g->context, name, out);

	if (!err && !*out)
		err = tenon_error(-TENON_E_NOT_FOUND, "no global function \"%.*s\"", (int)name.size,
				  name.data);
	return err;
}

static int find_functions(const struct time_evaluator_globals *g, struct evaluator *e,
			  const struct tenon_value *args, int32_t count)
{
	struct tenon_slice name;
	void *module;
	int err = tenon_value_text(&args[1], &name);

	if (err)
		return err;
	if (args[0].type == TENON_TYPE_NONE) {
		err = find_global(g, name, &e->function);
	} else {
		err = tenon_value_object(&args[0], TENON_TYPE_MODULE, &module);
		if (!err)
			err = find_in_module(module, name, &e->function);
	}
	if (!err)
		err = tenon_value_text(&args[count - 1], &name);
	if (!err && name.size)
		err = find_global(g, name, &e->prepare);
	return err;
}

static int check_numbers(struct evaluator *e, int64_t flush_bytes)
{
	if (e->number < 1 || e->repeat < 1 || e->repeat > REPEAT_MOST)
		return tenon_error(-TENON_E_VALUE, "number must be at least 1, and repeat 1 to %d",
				   REPEAT_MOST);
	if (e->cooldown_every < 1)
		e->cooldown_every = 1;
	if (flush_bytes < 0 || flush_bytes > CACHE_FLUSH_MOST)
		return tenon_error(-TENON_E_VALUE, "cache_flush_bytes must be 0 to 2^30");
	if (!flush_bytes)
		return 0;
	e->flush_bytes = (size_t)flush_bytes;
	e->flush = malloc(e->flush_bytes);
	return e->flush ? 0 : tenon_error(-TENON_E_NOMEM, "no memory to flush the cache with");
}

static int read_numbers(struct evaluator *e, const struct tenon_value *args, int32_t count)
{
	int64_t type = 0, id = 0, flush_bytes = 0;
	int64_t *const into[] = {
		&type,		 &id,
		&e->number,	 &e->repeat,
		&e->least_ms,	 &e->zeros_most,
		&e->cooldown_ms, &e->cooldown_every,
		&flush_bytes,
	};
	int32_t i;
	int err = 0;

	e->zeros_most = 100;
	for (i = 2; i < count - 1 && !err; i++) {
		int32_t skip = count == ARGUMENTS_09 && i > 6;

		err = tenon_value_int(&args[i], into[i - 2 + skip]);
	}
	if (err)
		return tenon_error_in(err, "argument %d of the time evaluator", (int)i);
	e->device.device_type = (int32_t)type;
	e->device.device_id = (int32_t)id;
	return check_numbers(e, flush_bytes);
}

int time_evaluator_create(const struct time_evaluator_globals *globals,
			  const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_function *function;
	struct evaluator *e;
	int err;

	if (count < ARGUMENTS_08 || count > ARGUMENTS_014 || count == ARGUMENTS_08 + 1)
		return tenon_error(-TENON_E_TYPE,
				   "a time evaluator has 8, 10, 11 or 12 arguments, not %d",
				   (int)count);
	e = calloc(1, sizeof(*e));
	if (!e)
		return tenon_error(-TENON_E_NOMEM, "no memory for a time evaluator");
	err = find_functions(globals, e, args, count);
	if (!err)
		err = read_numbers(e, args, count);
	if (!err)
		err = tenon_function_create(e, evaluate, evaluator_release, &function);
	if (err) {
		evaluator_release(e);
		return err;
	}
	*ret = tenon_arg_object(function);
	return 0;
}
