/* SPDX-License-Identifier: MIT */
/*
 * Measures the Relax virtual machine on models that real TVM made, beside TVM's own machine from PyPI in the same
 * run. TVM is driven from Python: what a call from there costs is measured too, and taken off its runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "../interop/environments.h"
#include "bench.h"

#define ROUNDS 31
#define DATA   "tests/interop/data/tvm-0.27.0.post1"

/* one model: how it is called, and how often in a batch */
static const struct subject {
	const char *what;
	const char *folder;
	const char *function;
	const char *large; /* below the build folder instead */
	long runs;
} subjects[] = {
	{ "100 additions", "model_chain", "main", NULL, 2000 },
	{ "perceptron, 3 layers", "model_mlp", "forward", NULL, 2000 },
	{ "encoder block, dynamic length", "model_encoder", "forward", NULL, 500 },
	{ "classifier of ResNet-18's size", "model_resnet18", "forward", "interop-models", 1 },
};

/* TVM's figures of one model, in nanoseconds; below 0 where there are none */
struct peer {
	char version[32];
	double run, call, open;
};

static void need(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "vm_bench: %s: %s\n", what, tenon_error_message());
	exit(1);
}

static const char *build_folder(void)
{
	const char *build = getenv("TENON_BUILD");

	return build ? build : "build";
}

static void folder_of(const struct subject *s, char path[600])
{
	if (s->large)
		snprintf(path, 600, "%s/%s/tvm-0.27.0.post1/%s", build_folder(), s->large,
			 s->folder);
	else
		snprintf(path, 600, DATA "/%s", s->folder);
}

/* the interpreter of an environment that has TVM: TENON_BENCH_PYTHON, or what interop-generate made */
static const char *python(void)
{
	static char found[1024];
	const char *named = getenv("TENON_BENCH_PYTHON");

	return named ? named : environments_file("0.27/bin/python", found, sizeof(found));
}

static struct peer ask_peer(const struct subject *s, const char *folder)
{
	struct peer p = { "", -1, -1, -1 };
	char command[8192], line[256], text[64];
	double figure;
	FILE *f;

	if (!python())
		return p;
	snprintf(command, sizeof(command),
		 "'%s' tests/bench/vm_peer.py '%s/model.so' %s '%s'/r0_*x.npy %ld 2>/dev/null || "
		 "'%s' tests/bench/vm_peer.py '%s/model.so' %s '%s'/r0_data.npy %ld 2>/dev/null",
		 python(), folder, s->function, folder, s->runs, python(), folder, s->function,
		 folder, s->runs);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "version %31s", p.version) == 1)
			continue;
		if (sscanf(line, "%63s %lf", text, &figure) != 2)
			continue;
		if (!strcmp(text, "run"))
			p.run = figure;
		else if (!strcmp(text, "call"))
			p.call = figure;
		else if (!strcmp(text, "open"))
			p.open = figure;
	}
	if (f)
		pclose(f);
	return p;
}

static struct tenon_model *open_model(const struct subject *s, const char *folder)
{
	struct tenon_model_options options = { .size = sizeof(options), .function = s->function };
	struct tenon_module *root;
	struct tenon_model *model;
	char file[700];

	snprintf(file, sizeof(file), "%s/model.so", folder);
	need(tenon_module_load(file, &root), file);
	need(tenon_model_open(root, &options, &model), file);
	tenon_object_unref(root);
	return model;
}

/* inputs of the shape that is wanted, of small numbers; a dynamic extent is 5, as in the stored run */
static void set_inputs(struct tenon_model *model, int64_t dynamic)
{
	int64_t shape[16];
	struct tenon_tensor *t;
	struct tenon_port port;
	size_t i, bytes, k;
	int32_t d;

	for (i = 0; i < tenon_model_input_count(model); i++) {
		need(tenon_model_input(model, i, &port), "input");
		for (d = 0; d < port.ndim; d++)
			shape[d] = port.shape[d] < 0 ? dynamic : port.shape[d];
		need(tenon_tensor_create(shape, port.ndim, port.dtype, &t), "tensor");
		tenon_tensor_bytes(&t->dl, &bytes);
		for (k = 0; k < bytes / sizeof(float); k++)
			((float *)t->dl.data)[k] = (float)(k % 17) * 0.125f;
		need(tenon_model_bind_input(model, i, t), "bind");
		tenon_object_unref(t);
	}
}

static double run_time(struct tenon_model *model, long runs, double *allocations)
{
	double spent[ROUNDS], start;
	long i, before;
	int r;

	need(tenon_model_run(model), "run");
	before = bench_allocations();
	for (r = 0; r < (runs > 1 ? ROUNDS : 3); r++) {
		start = bench_now();
		for (i = 0; i < runs; i++)
			need(tenon_model_run(model), "run");
		spent[r] = (bench_now() - start) / (double)runs;
	}
	*allocations = (double)(bench_allocations() - before) / (double)(r * runs);
	return bench_middle(spent, r);
}

/* @again: while it is open already, as TVM's are that its Python holds; else the library is mapped each time */
static double open_time(const struct subject *s, const char *folder, bool again)
{
	int r, rounds = s->large ? 5 : ROUNDS;
	struct tenon_model *models[ROUNDS], *first = again ? open_model(s, folder) : NULL;
	double spent[ROUNDS], start;

	for (r = 0; r < rounds; r++) {
		start = bench_now();
		models[r] = open_model(s, folder);
		spent[r] = bench_now() - start;
		if (!again)
			tenon_model_close(models[r]);
	}
	while (again && r-- > 0)
		tenon_model_close(models[r]);
	tenon_model_close(first);
	return bench_middle(spent, rounds);
}

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	size_t *count = context;

	(void)index;
	(void)op;
	++*count;
	return 0;
}

/* what the compiled functions take of a run: each alone, by the profiler */
struct kernels {
	double ns;
	double clock;
};

static void add_kernel(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		       uint64_t end)
{
	struct kernels *k = context;

	(void)index;
	if (op->function.size > 11 && !memcmp(op->function.data, "vm.builtin.", 11))
		return;
	if ((double)(end - begin) > k->clock)
		k->ns += (double)(end - begin) - k->clock;
}

static double clock_cost(void)
{
	double start = bench_now(), end = start;
	int i;

	for (i = 0; i < 10000; i++)
		end = bench_now();
	return (end - start) / 10000;
}

static double kernel_time(struct tenon_model *model, long runs)
{
	struct kernels k = { 0, clock_cost() };
	struct tenon_profiler p = { sizeof(p), add_kernel, &k };
	long i, n = runs > 1 ? 200 : 1;

	for (i = 0; i < n; i++)
		need(tenon_model_run_profiled(model, &p), "profile");
	return k.ns / (double)n;
}

static void print_ratio(double ours, double theirs)
{
	if (theirs > 0)
		printf("  %11.2f us  %6.3f x\n", theirs / 1e3, ours / theirs);
	else
		printf("             -\n");
}

static void measure(const struct subject *s)
{
	double run, open, kernels, allocations;
	struct tenon_model *model;
	char folder[600], file[700];
	struct peer peer;
	size_t ops = 0;
	FILE *there;

	folder_of(s, folder);
	snprintf(file, sizeof(file), "%s/model.so", folder);
	there = fopen(file, "rb");
	if (!there) {
		printf("%-34s not built: scripts/interop-generate --large build/interop-models "
		       "0.27\n",
		       s->what);
		return;
	}
	fclose(there);
	peer = ask_peer(s, folder);
	model = open_model(s, folder);
	set_inputs(model, 1);
	tenon_model_each_op(model, count_op, &ops);
	run = run_time(model, s->runs, &allocations);
	kernels = kernel_time(model, s->runs);
	tenon_model_close(model);
	open = open_time(s, folder, true);
	printf("%-34s Tenon          TVM %s\n", s->what, peer.version);
	printf("  run (%3zu calls)           %11.2f us", ops, run / 1e3);
	print_ratio(run, peer.run > 0 ? peer.run - peer.call : -1);
	if (s->runs > 1) {
		printf("  beside compiled code       %9.1f ns/call", (run - kernels) / (double)ops);
		if (peer.run > 0)
			printf("  %7.1f ns/call", (peer.run - peer.call - kernels) / (double)ops);
		printf("\n");
	}
	printf("  open, mapped already     %11.2f us", open / 1e3);
	print_ratio(open, peer.open);
	printf("  open                     %11.2f us\n", open_time(s, folder, false) / 1e3);
	if (bench_allocations() >= 0)
		printf("  allocations a run        %11.2f\n", allocations);
}

int main(void)
{
	size_t i;

	printf("Relax virtual machine (TVM is driven from Python; the cost of a call from there is "
	       "taken off)\n");
	if (!python())
		printf("no TVM: run scripts/interop-generate --venv-only 0.27, or name an "
		       "interpreter in "
		       "TENON_BENCH_PYTHON\n");
	for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		measure(&subjects[i]);
	return 0;
}
