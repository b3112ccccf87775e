/* SPDX-License-Identifier: MIT */
/* tenon run --stream: read the input that has no value from standard input, and write outputs to standard output. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tools/run/run.h"

struct frames {
	struct tenon_tensor *tensor;
	size_t input, bytes;
	bool copied; /* copied to a device for each frame */
	struct cli *cli;
	struct run *run;
	uint64_t differing; /* frames that differ from --expect */
	int code;	    /* exit code for an --expect that matches no output */
};

static int read_frame(void *context, struct tenon_model *model, uint64_t round)
{
	struct frames *f = context;
	struct tenon_value frame = tenon_arg_object(f->tensor);
	size_t have = 0;

	while (have < f->bytes) {
		ssize_t n = read(STDIN_FILENO, (char *)f->tensor->dl.data + have, f->bytes - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tenon_error(-TENON_E_IO, "standard input: %s", strerror(errno));
		if (!n)
			break;
		have += (size_t)n;
	}
	if (!have)
		return 1;
	if (have < f->bytes)
		return tenon_error(-TENON_E_TRUNCATED,
				   "standard input ends %zu bytes into frame %" PRIu64
				   " of %zu bytes",
				   have, round, f->bytes);
	return f->copied ? tenon_model_set_input(model, f->input, &frame) : 0;
}

static int write_output_bytes(const struct tenon_value *output, size_t index, FILE *out)
{
	size_t bytes;
	DLTensor *t;
	int err;

	err = tenon_value_tensor(output, &t);
	if (!err)
		err = tenon_tensor_bytes(t, &bytes);
	if (err)
		return tenon_error_in(err, "output %zu", index);
	if (fwrite(t->data, 1, bytes, out) != bytes)
		return tenon_error(-TENON_E_IO, "standard output: %s", strerror(errno));
	return 0;
}

/* Print only the first frame that differs: a stream may be long. */
static int compare_frame(struct frames *f, uint64_t round)
{
	const struct expectations *e = &f->run->expectations;
	int code = run_compare(f->cli, f->run);
	size_t i;

	if (code != CLI_OK && code != CLI_DIFFERS) {
		f->code = code;
		return 1;
	}
	if (code == CLI_OK || f->differing++)
		return 0;
	for (i = 0; i < e->count; i++) {
		if (e->comparisons[i].equal)
			continue;
		fprintf(f->cli->err, "tenon: frame %" PRIu64 ": expected", round);
		if (e->count > 1)
			fprintf(f->cli->err, " %zu", i + 1);
		fputs(": ", f->cli->err);
		compare_print(&e->comparisons[i], f->cli->err);
		fputc('\n', f->cli->err);
	}
	return 0;
}

static int write_frame(void *context, struct tenon_model *model, uint64_t round)
{
	struct frames *f = context;
	struct results *r = &f->run->results;
	size_t i;
	int err;

	err = run_take_outputs(f->run);
	for (i = 0; i < r->count && !err; i++)
		err = write_output_bytes(&r->at[i], i, f->cli->out);
	if (!err && f->run->expectations.count)
		err = compare_frame(f, round);
	/* Release them before the next run, so that it can reuse their storage. */
	run_drop_results(r);
	return err;
}

static int find_frame_input(struct tenon_model *model, struct frames *f)
{
	size_t n = tenon_model_input_count(model);
	struct tenon_port port;
	int32_t i;
	int err;

	for (f->input = 0; f->input < n && tenon_model_input_is_set(model, f->input); f->input++)
		;
	err = tenon_model_input(model, f->input, &port);
	if (err)
		return tenon_error(-TENON_E_USAGE, "--stream: all inputs have a content");
	for (i = 0; i < port.ndim; i++)
		if (port.shape[i] < 0)
			return tenon_error(-TENON_E_USAGE,
					   "--stream: input \"%.*s\" has no fixed shape",
					   (int)port.name.size, port.name.data);
	if (port.ndim < 0 || !port.dtype.bits)
		return tenon_error(-TENON_E_USAGE,
				   "--stream: input \"%.*s\" is no tensor of a known type",
				   (int)port.name.size, port.name.data);
	err = tenon_tensor_create(port.shape, port.ndim, port.dtype, &f->tensor);
	if (!err)
		err = tenon_tensor_bytes(&f->tensor->dl, &f->bytes);
	if (err)
		return err;
	/* Read frames into memory that the model uses directly, unless the input is on a device. */
	err = tenon_model_bind_input(model, f->input, f->tensor);
	f->copied = err == -TENON_E_DEVICE;
	if (f->copied)
		tenon_error_clear();
	return f->copied ? 0 : err;
}

int run_stream(struct cli *cli, struct run *run)
{
	struct frames f = { .cli = cli, .run = run };
	struct tenon_stream loop = { sizeof(loop), read_frame, write_frame, &f };
	uint64_t rounds = 0, start;
	int err;

	err = find_frame_input(run->model, &f);
	start = clock_now();
	if (!err)
		err = f.bytes ? tenon_model_stream(run->model, &loop, &rounds)
			      : tenon_error(-TENON_E_USAGE, "--stream: a frame has no bytes");
	start = clock_now() - start;
	tenon_object_unref(f.tensor);
	if (err || f.code)
		return err ? run_model_failed(cli, run) : f.code;
	fprintf(cli->err, "%" PRIu64 " frames in %.3f s: %.1f a second\n", rounds,
		(double)start / 1e9, start ? (double)rounds * 1e9 / (double)start : 0.0);
	if (!f.differing)
		return 0;
	fprintf(cli->err, "tenon: %" PRIu64 " of %" PRIu64 " frames differ from --expect\n",
		f.differing, rounds);
	return CLI_DIFFERS;
}
