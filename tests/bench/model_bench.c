/* SPDX-License-Identifier: MIT */
/*
 * Measures the graph executor and parameters beside their floors: a loop in C over the same calls, a read
 * into huge pages, a mapping of which each page is touched. TVM's own figures are those of the baseline:
 * its last release with a graph executor is on no package index any more.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "bench.h"

#define ROUNDS	   61
#define HUNDRED_MB (100ul << 20)

typedef int (*op_fn)(void **args, int *codes, int count, void *ret, int *ret_code, void *resource);

static void need(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "model_bench: %s: %s\n", what, tenon_error_message());
	exit(1);
}

static const char *in_temporary(const char *name)
{
	static char path[4][1024];
	static int at;
	const char *folder = getenv("TMPDIR");

	at = (at + 1) % 4;
	snprintf(path[at], sizeof(path[at]), "%s/%s", folder ? folder : "/tmp", name);
	return path[at];
}

/* ---- graphs */

/* a chain of @n additions, as large as TVM writes it */
static void write_chain(struct tenon_buffer *b, int n)
{
	int i;

	tenon_buffer_printf(b, "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}, "
			       "{\"op\": \"null\", \"name\": \"w\", \"inputs\": []}");
	for (i = 0; i < n; i++)
		tenon_buffer_printf(
			b,
			", {\"op\": \"tvm_op\", \"name\": \"fused_add_%d\", \"attrs\": "
			"{\"num_outputs\": \"1\", \"num_inputs\": \"2\", \"flatten_data\": \"0\", "
			"\"func_name\": \"add4\"}, \"inputs\": [[%d, 0, 0], [1, 0, 0]]}",
			i, i ? i + 1 : 0);
	tenon_buffer_printf(b, "], \"arg_nodes\": [0, 1], \"heads\": [[%d, 0, 0]], \"attrs\": {",
			    n + 1);
	tenon_buffer_printf(b, "\"dltype\": [\"list_str\", [\"float32\"");
	for (i = 0; i < n + 1; i++)
		tenon_buffer_printf(b, ", \"float32\"");
	tenon_buffer_printf(b, "]], \"device_index\": [\"list_int\", [1");
	for (i = 0; i < n + 1; i++)
		tenon_buffer_printf(b, ", 1");
	tenon_buffer_printf(b, "]], \"storage_id\": [\"list_int\", [0");
	for (i = 0; i < n + 1; i++)
		tenon_buffer_printf(b, ", %d", i ? 2 + i % 2 : 1);
	tenon_buffer_printf(b, "]], \"shape\": [\"list_shape\", [[4]");
	for (i = 0; i < n + 1; i++)
		tenon_buffer_printf(b, ", [4]");
	tenon_buffer_printf(b, "]]}, \"node_row_ptr\": [0");
	for (i = 0; i < n + 2; i++)
		tenon_buffer_printf(b, ", %d", i + 1);
	tenon_buffer_printf(b, "]}");
}

/* the same calls in a loop: arguments laid out as in the plan */
struct floor_call {
	op_fn fn;
	void *args[3];
};

static double floor_run(op_fn fn, int n, long repeat)
{
	static float data[4][4] __attribute__((aligned(128)));
	struct floor_call *calls = calloc((size_t)n, sizeof(*calls));
	DLTensor *tensors = calloc(3 * (size_t)n, sizeof(*tensors));
	int codes[3] = { 7, 7, 7 }, code = 4, i, failed = 0;
	static int64_t shape[1] = { 4 };
	double spent[ROUNDS];
	int64_t ret = 0;
	long r;

	for (i = 0; i < n; i++) {
		int k;

		calls[i].fn = fn;
		for (k = 0; k < 3; k++) {
			tensors[3 * i + k] =
				tenon_dltensor(data[k == 1 ? 1 : 2 + (i + k / 2) % 2], shape, 1,
					       tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
			calls[i].args[k] = &tensors[3 * i + k];
		}
	}
	for (i = 0; i < ROUNDS; i++) {
		double start = bench_now();
		int c;

		for (r = 0; r < repeat; r++)
			for (c = 0; c < n; c++)
				failed |= calls[c].fn(calls[c].args, codes, 3, &ret, &code, NULL);
		spent[i] = (bench_now() - start) / (double)repeat;
	}
	free(calls);
	free(tensors);
	return failed ? -1 : bench_middle(spent, ROUNDS);
}

static struct tenon_model *open_chain(struct tenon_module *lib, const struct tenon_buffer *json)
{
	static float data[4] __attribute__((aligned(128))) = { 1, 2, 3, 4 };
	static int64_t shape[1] = { 4 };
	DLTensor t = tenon_dltensor(data, shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value v = tenon_arg_tensor(&t);
	struct tenon_model *model;

	need(tenon_model_open_graph(lib, (struct tenon_slice){ json->data, json->size }, NULL, NULL,
				    &model),
	     "graph");
	need(tenon_model_set_input(model, 0, &v), "x");
	need(tenon_model_set_input(model, 1, &v), "w");
	return model;
}

static void count_op(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		     uint64_t end)
{
	(void)index;
	(void)op;
	*(uint64_t *)context += end - begin;
}

/* what a profiler that only adds up costs; off, a run is the same as ever */
static double profiled_run(struct tenon_model *model, long repeat)
{
	uint64_t sum = 0;
	const struct tenon_profiler profiler = { sizeof(profiler), count_op, &sum };
	double run[ROUNDS];
	int i;
	long r;

	for (i = 0; i < ROUNDS; i++) {
		double start = bench_now();

		for (r = 0; r < repeat; r++)
			need(tenon_model_run_profiled(model, &profiler), "run");
		run[i] = (bench_now() - start) / (double)repeat;
	}
	return bench_middle(run, ROUNDS);
}

static void graph_rows(int n, double tvm_create, double tvm_node)
{
	long repeat = 400000 / n;
	struct tenon_buffer json = TENON_BUFFER_INIT;
	struct tenon_model *model;
	struct tenon_module *lib;
	double run[ROUNDS], create[ROUNDS], direct, profiled, median;
	void *handle;
	op_fn fn;
	int i;
	long r;

	need(tenon_module_load(bench_module("graph_ops.so"), &lib), "library");
	handle = dlopen(bench_module("graph_ops.so"), RTLD_NOW);
	*(void **)&fn = dlsym(handle, "add4");
	write_chain(&json, n);
	direct = floor_run(fn, n, repeat);
	model = open_chain(lib, &json);
	for (i = 0; i < ROUNDS; i++) {
		double start = bench_now();

		for (r = 0; r < repeat; r++)
			need(tenon_model_run(model), "run");
		run[i] = (bench_now() - start) / (double)repeat;
	}
	profiled = profiled_run(model, repeat / 8 + 1);
	tenon_model_close(model);
	for (i = 0; i < ROUNDS; i++) {
		double start = bench_now();

		need(tenon_model_open_graph(lib, (struct tenon_slice){ json.data, json.size }, NULL,
					    NULL, &model),
		     "graph");
		create[i] = bench_now() - start;
		tenon_model_close(model);
	}
	median = bench_middle(run, ROUNDS);
	printf("graph of %4d nodes, run, per node      %8.2f ns%s   floor %6.2f   TVM %6.1f   "
	       "ratio to floor %.2f   %s\n",
	       n, median / n, bench_spread(run, ROUNDS, n), direct / n, tvm_node, median / direct,
	       n < 100 ? "" : bench_at_most(median / direct, 1.3));
	printf("graph of %4d nodes, profiled, per node %8.2f ns   profiling costs %.2f ns\n", n,
	       profiled / n, (profiled - median) / n);
	median = bench_middle(create, ROUNDS);
	printf("graph of %4d nodes, create (%3zu KiB)    %8.1f us%s   TVM %6.0f   "
	       "ratio to TVM %.3f   %s\n",
	       n, json.size >> 10, median / 1e3, bench_spread(create, ROUNDS, 1e3), tvm_create,
	       median / 1e3 / tvm_create, bench_at_most(median / 1e3 / tvm_create, 0.1));
	tenon_buffer_fini(&json);
	tenon_object_unref(lib);
	dlclose(handle);
}

/* ---- parameters */

/* one graph input a parameter, nothing to run but one copy */
static void write_params_graph(struct tenon_buffer *b, int n, long extent)
{
	int i;

	tenon_buffer_printf(b, "{\"nodes\": [");
	for (i = 0; i < n; i++)
		tenon_buffer_printf(b, "{\"op\": \"null\", \"name\": \"p%d\", \"inputs\": []}, ",
				    i);
	tenon_buffer_printf(
		b, "{\"op\": \"tvm_op\", \"name\": \"c\", \"attrs\": {\"num_outputs\": \"1\", "
		   "\"num_inputs\": \"1\", \"flatten_data\": \"0\", \"func_name\": \"__nop\"}, "
		   "\"inputs\": [[0, 0, 0]]}], \"arg_nodes\": [0");
	for (i = 1; i < n; i++)
		tenon_buffer_printf(b, ", %d", i);
	tenon_buffer_printf(
		b, "], \"heads\": [[%d, 0, 0]], \"attrs\": {\"dltype\": [\"list_str\", [", n);
	for (i = 0; i <= n; i++)
		tenon_buffer_printf(b, "%s\"float32\"", i ? ", " : "");
	tenon_buffer_printf(b, "]], \"storage_id\": [\"list_int\", [");
	for (i = 0; i <= n; i++)
		tenon_buffer_printf(b, "%s%d", i ? ", " : "", i < n ? i : 0);
	tenon_buffer_printf(b, "]], \"shape\": [\"list_shape\", [");
	for (i = 0; i <= n; i++)
		tenon_buffer_printf(b, "%s[%ld]", i ? ", " : "", extent);
	tenon_buffer_printf(b, "]]}, \"node_row_ptr\": [0");
	for (i = 0; i <= n; i++)
		tenon_buffer_printf(b, ", %d", i + 1);
	tenon_buffer_printf(b, "]}");
}

static void make_params(const char *path, int n, size_t align)
{
	static char *data;
	struct tenon_param *params = calloc((size_t)n, sizeof(*params));
	int64_t extent = (int64_t)(HUNDRED_MB / 4 / (size_t)n);
	char(*names)[16] = calloc((size_t)n, sizeof(*names));
	int i;

	if (!data)
		data = mmap(NULL, HUNDRED_MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	for (i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "p%d", i);
		params[i].name = tenon_slice_of(names[i]);
		params[i].tensor = tenon_dltensor(data + 4 * (size_t)extent * (size_t)i, &extent, 1,
						  tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
		params[i].bytes = 4 * (size_t)extent;
	}
	need(tenon_params_write(path, params, (size_t)n, align), path);
	free(params);
	free(names);
}

static volatile char sink;

static void touch(const char *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += 4096)
		sink = data[i];
}

/* what a fresh process does: @how of "read" "map" "executor" "touched" */
static void child(const char *how, const char *path, int n)
{
	struct tenon_buffer json = TENON_BUFFER_INIT;
	struct tenon_module *lib = NULL;
	struct tenon_params *params;
	struct tenon_model *model;
	double start = 0;
	struct rusage used;
	struct stat st;
	size_t i;
	char *at;
	int fd;

	if (!strcmp(how, "executor") || !strcmp(how, "touched")) {
		write_params_graph(&json, n, (long)(HUNDRED_MB / 4 / (size_t)n));
		need(tenon_module_load(bench_module("graph_ops.so"), &lib), "library");
		start = bench_now();
		need(tenon_params_open(path, &params), path);
		need(tenon_model_open_graph(lib, (struct tenon_slice){ json.data, json.size },
					    params, NULL, &model),
		     "graph");
		if (!strcmp(how, "touched"))
			for (i = 0; i < tenon_params_count(params); i++)
				touch(tenon_params_at(params, i)->tensor.data,
				      tenon_params_at(params, i)->bytes);
	} else {
		start = bench_now();
		fd = open(path, O_RDONLY);
		fstat(fd, &st);
		if (!strcmp(how, "read")) {
			size_t huge = 2u << 20;

			at = mmap(NULL, (size_t)st.st_size + huge, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			at += -(uintptr_t)at & (huge - 1);
			madvise(at, (size_t)st.st_size, MADV_HUGEPAGE);
			for (i = 0; i < (size_t)st.st_size;) {
				ssize_t got = read(fd, at + i, (size_t)st.st_size - i);

				if (got <= 0)
					exit(1);
				i += (size_t)got;
			}
		} else {
			at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
			touch(at, (size_t)st.st_size);
		}
	}
	start = bench_now() - start;
	getrusage(RUSAGE_SELF, &used);
	printf("%f %ld\n", start / 1e6, used.ru_maxrss);
	exit(0);
}

/* Milliseconds of a fresh process, median of 15; @spread receives their tenths. */
static double fresh(const char *self, const char *how, const char *path, int n, double *mib,
		    char spread[64])
{
	double median;

	double ms[15], rss[15];
	char command[4096];
	int i;

	for (i = 0; i < 15; i++) {
		FILE *f;

		snprintf(command, sizeof(command), "'%s' --child %s '%s' %d", self, how, path, n);
		f = popen(command, "r");
		if (!f || fscanf(f, "%lf %lf", &ms[i], &rss[i]) != 2)
			exit(1);
		pclose(f);
	}
	*mib = bench_middle(rss, 15) / 1024;
	median = bench_middle(ms, 15);
	snprintf(spread, 64, "%s", bench_spread(ms, 15, 1));
	return median;
}

static void params_rows(const char *self, int n, double tvm)
{
	const char *plain = in_temporary("plain.params"), *aligned = in_temporary("aligned.params");
	double read, map, got, into, mib, ignored;
	char spread[64];

	make_params(plain, n, 0);
	make_params(aligned, n, 128);
	read = fresh(self, "read", plain, n, &ignored, spread);
	map = fresh(self, "map", plain, n, &ignored, spread);
	into = fresh(self, "executor", plain, n, &mib, spread);
	printf("100 MB in %5d params into an executor  %8.2f ms%s   floor %6.2f   TVM %6.1f   "
	       "ratio "
	       "to a huge-page read %.2f   %s\n",
	       n, into, spread, read, tvm, into / read, bench_at_most(into / read, 1.2));
	printf("  … resident at most                    %8.1f MiB                 TVM  407.0   "
	       "%s\n",
	       mib, bench_at_most(mib, 105));
	got = fresh(self, "touched", aligned, n, &mib, spread);
	printf("  … aligned, and each page touched      %8.2f ms%s   floor %6.2f   ratio "
	       "to mmap %.2f   %s\n",
	       got, spread, map, got / map, bench_at_most(got / map, 2));
	unlink(plain);
	unlink(aligned);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--child"))
		child(argv[2], argv[3], atoi(argv[4]));
	graph_rows(1, 13.7, 22.9);
	graph_rows(100, 431, 13.6);
	graph_rows(1000, 4349, 13.2);
	params_rows(argv[0], 1, 170.8);
	params_rows(argv[0], 100, 171.9);
	params_rows(argv[0], 10000, 230.5);
	return 0;
}
