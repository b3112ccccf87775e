/* SPDX-License-Identifier: MIT */
/* Open a model on devices, run it, and keep the time of each run and operator. */
#include "tools/bench/measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "tools/cli/progress.h"
#include "tools/device_option/kernel_devices.h"
#include "tools/link_verb/link_load.h"
#include "tools/remote_option/remote.h"

/* ---- options */

int measure_input(struct cli *cli, void *measurement)
{
	struct measurement *m = measurement;
	struct argument *a = &m->arguments[m->argument_count];
	int err;

	if (spec_parse(SPEC_INPUT, optarg, &a->spec)) {
		cli_usage(cli, "--input %s: %s", optarg, tenon_error_message());
		tenon_error_clear();
		return CLI_USAGE;
	}
	if (argument_given_before(m->arguments, a))
		return cli_usage(cli, "--input %s: an earlier --input has the name \"%.*s\" too",
				 optarg, (int)a->spec.name.size, a->spec.name.data);
	spec_print_seed(&a->spec, "--input", cli->err);
	m->argument_count++;
	err = argument_make(a);
	if (!err)
		return 0;
	tenon_error_in(err, "--input %s", optarg);
	return cli_error(cli, err == -TENON_E_USAGE ? CLI_USAGE : CLI_NO_FILE);
}

/* ---- runs */

static int open_model(struct cli *cli, struct measurement *m)
{
	uint64_t start;
	int err, code;

	code = m->remote ? remote_connect(cli, m->remote, 0, &m->devices.remote) : 0;
	if (!code)
		code = target_list_open(cli, &m->devices);
	if (code)
		return code;
	m->source.devices = &m->devices;
	progress_say("loading %s", m->source.file);
	start = clock_now();
	/* only for advice about devices: without it the measurement goes on */
	if (m->devices.remote && tenon_module_inspect(m->source.file, &m->inspected))
		tenon_error_clear();
	err = m->devices.remote ? tenon_remote_open(m->devices.remote, m->source.file, &m->module)
				: link_load(m->source.file, NULL, 0, &m->module);
	if (err)
		return cli_error(cli, cli_exit_of(err, CLI_NO_FILE));
	m->source.tree = m->inspected ? m->inspected : m->module;
	if (!m->source.graph &&
	    tenon_slice_equal(tenon_module_kind(m->source.tree), tenon_slice_of("library"))) {
		tenon_error(-TENON_E_UNSUPPORTED,
			    "%s: is no model, but a library of functions. tenon run --function "
			    "NAME --repeat "
			    "100 measures a function; --graph FILE makes it a model",
			    m->source.file);
		return cli_error(cli, CLI_UNAVAILABLE);
	}
	kernels_build(&m->kernels, m->module, &m->devices);
	code = model_open(cli, &m->source, m->module, false, &m->model);
	m->open_ns = clock_now() - start;
	if (!code)
		code = model_set_inputs(cli, m->model, m->arguments, m->argument_count);
	return code ? code : model_fill_inputs(cli, m->model);
}

static int run_failed(struct cli *cli, const struct measurement *m)
{
	int status = tenon_error_status();

	tenon_error_in(status, "%s", m->source.file);
	return kernel_devices_error(cli, m->source.file, m->source.tree, &m->devices,
				    cli_exit_of(status, CLI_FAILED));
}

static int run_once(const struct measurement *m)
{
	int err = tenon_model_run(m->model);

	return err ? err : target_list_wait(&m->devices);
}

/* The server measures: the network is no part of a run. */
static int measure_remotely(struct cli *cli, struct measurement *m)
{
	struct tenon_remote_timing timing = { .size = sizeof(timing),
					      .number = (int64_t)m->warmup,
					      .repeat = 1 };
	struct tenon_buffer seconds = TENON_BUFFER_INIT;
	int err = 0;
	double s;

	if (m->per_op)
		return cli_usage(cli, "--per-op: operators on another machine cannot be timed");
	if (m->warmup) {
		progress_say("warming up");
		err = tenon_remote_time_model(m->devices.remote, m->model, &timing, &seconds);
		tenon_buffer_fini(&seconds);
	}
	progress_say("%" PRIu64 " runs", m->runs);
	timing = (struct tenon_remote_timing){ .size = sizeof(timing),
					       .number = 1,
					       .repeat = (int64_t)m->runs };
	if (!err)
		err = tenon_remote_time_model(m->devices.remote, m->model, &timing, &seconds);
	if (!err && seconds.size != m->runs * sizeof(s))
		err = tenon_error(-TENON_E_FORMAT, "the server sent %zu times, expected %" PRIu64,
				  seconds.size / sizeof(s), m->runs);
	for (uint64_t i = 0; i < m->runs && !err; i++) {
		memcpy(&s, seconds.data + i * sizeof(s), sizeof(s));
		m->ns[i] = s > 0 && s < 1e9 ? (uint64_t)(s * 1e9 + 0.5) : 0;
	}
	tenon_buffer_fini(&seconds);
	return err ? run_failed(cli, m) : 0;
}

static int run_often(struct cli *cli, struct measurement *m)
{
	uint64_t i, start, shown = 0;

	if (m->devices.remote)
		return measure_remotely(cli, m);
	progress_say("building kernels for %s", m->source.file);
	kernels_wait(&m->kernels);
	for (i = 0; i < m->warmup; i++) {
		progress_say("warming up, %" PRIu64 " of %" PRIu64, i + 1, m->warmup);
		if (run_once(m))
			return run_failed(cli, m);
	}
	for (i = 0; i < m->runs; i++) {
		start = clock_now();
		if (run_once(m))
			return run_failed(cli, m);
		m->ns[i] = clock_now() - start;
		/* often enough to see, rarely enough not to affect the timing */
		if (start - shown > 50000000) {
			progress_say("run %" PRIu64 " of %" PRIu64, i + 1, m->runs);
			shown = start;
		}
	}
	for (i = 0; i < m->runs && m->per_op; i++)
		if (profile_run(&m->profile, m->model))
			return run_failed(cli, m);
	return 0;
}

int measure(struct cli *cli, struct measurement *m)
{
	int code;

	m->ns = calloc(m->runs, sizeof(*m->ns));
	if (!m->ns) {
		tenon_error(-TENON_E_NOMEM, "no memory for the times of %" PRIu64 " runs", m->runs);
		return cli_error(cli, CLI_FAILED);
	}
	code = open_model(cli, m);
	if (!code)
		code = run_often(cli, m);
	kernels_fini(&m->kernels);
	return code;
}

int measure_timing(const struct measurement *m, struct timing *out)
{
	uint64_t *sorted = malloc(m->runs * sizeof(*sorted));

	if (!sorted)
		return tenon_error(-TENON_E_NOMEM, "no memory for the times of %" PRIu64 " runs",
				   m->runs);
	memcpy(sorted, m->ns, m->runs * sizeof(*sorted));
	*out = timing_summary(sorted, m->runs);
	free(sorted);
	return 0;
}

void measure_fini(struct measurement *m)
{
	tenon_model_close(m->model);
	tenon_object_unref(m->module);
	tenon_object_unref(m->inspected);
	target_list_fini(&m->devices);
	profile_fini(&m->profile);
	free(m->ns);
}
