/* SPDX-License-Identifier: MIT */
/* Measures Tenon beside its peers and the floor, and prints the table of goals. See bench.h. */
#include "bench.h"
#include "abi.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCHES_MAX 61

char bench_why[256];

enum { FLOOR, PEER, TENON, RUNTIMES };

static const struct bench_runtime *const runtimes[RUNTIMES] = { &bench_floor, &bench_tvm_ffi,
								&bench_tenon };

struct figure {
	bool known;
	double median, min, p90, max; /* in the row's unit */
};

static struct figure figures[ROW_COUNT][RUNTIMES];

void bench_pin(int pinned)
{
	static cpu_set_t all;
	static int known;
	cpu_set_t one;
	int cpu;

	if (!known)
		known = !sched_getaffinity(0, sizeof(all), &all);
	if (!pinned) {
		sched_setaffinity(0, sizeof(all), &all);
		return;
	}
	for (cpu = CPU_SETSIZE - 1; cpu > 0 && !CPU_ISSET(cpu, &all); cpu--)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

BENCH_NOINLINE int bench_empty(void *self, const struct tenon_value *args, int32_t count,
			       struct tenon_value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	return 0;
}

DLTensor *bench_tensor(void)
{
	static float data[4] __attribute__((aligned(128)));
	static int64_t shape[2] = { 1, 4 };
	static DLTensor tensor;

	tensor = tenon_dltensor(data, shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	return &tensor;
}

/* ---- a child a runtime: it reads (row, calls) and answers nanoseconds, -1 when it cannot */

struct order {
	int row;
	long calls; /* 0: make ready */
};

struct child {
	pid_t pid;
	int to, from;
	char why[256];
};

static void serve(const struct bench_runtime *runtime, int from, int to)
{
	struct order order;
	double answer;

	bench_pin(1);
	answer = runtime->open() ? -1 : 0;
	if (write(to, &answer, sizeof(answer)) != sizeof(answer) ||
	    write(to, bench_why, sizeof(bench_why)) != sizeof(bench_why))
		_exit(1);
	while (read(from, &order, sizeof(order)) == sizeof(order)) {
		const struct bench_op *op = &runtime->ops[order.row];

		if (order.calls)
			answer = op->batch(order.calls);
		else
			answer = op->prepare && !op->prepare(bench_rows[order.row].argument) ? 0
											     : -1;
		if (write(to, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

/* @children before @child are started: their pipes must not be held open by this one */
static int start_child(const struct bench_runtime *runtime, struct child *children,
		       struct child *child)
{
	int down[2], up[2];
	double answer = -1;

	if (pipe(down) < 0 || pipe(up) < 0)
		return -1;
	fflush(NULL);
	child->pid = fork();
	if (child->pid == 0) {
		close(down[1]);
		close(up[0]);
		for (; children < child; children++) {
			close(children->from);
			if (children->to >= 0)
				close(children->to);
		}
		serve(runtime, down[0], up[1]);
	}
	close(down[0]);
	close(up[1]);
	child->to = down[1];
	child->from = up[0];
	if (child->pid < 0 || read(child->from, &answer, sizeof(answer)) != sizeof(answer) ||
	    read(child->from, child->why, sizeof(child->why)) != sizeof(child->why) || answer < 0) {
		close(child->to);
		child->to = -1;
		return -1;
	}
	return 0;
}

static double ask(struct child *child, int row, long calls)
{
	struct order order = { row, calls };
	double answer;

	if (child->to < 0)
		return -1;
	if (write(child->to, &order, sizeof(order)) != sizeof(order) ||
	    read(child->from, &answer, sizeof(answer)) != sizeof(answer)) {
		snprintf(child->why, sizeof(child->why), "died in row %s", bench_rows[row].key);
		close(child->to);
		child->to = -1;
		return -1;
	}
	return answer;
}

static void measure(struct child *children, int row, int batches)
{
	static double spent[RUNTIMES][BATCHES_MAX];
	const struct bench_row *r = &bench_rows[row];
	bool can[RUNTIMES];
	int b, i;

	for (i = 0; i < RUNTIMES; i++) {
		can[i] = ask(&children[i], row, 0) >= 0;
		if (can[i]) /* the first batch warms up and does not count */
			can[i] = ask(&children[i], row, r->per_batch) >= 0;
	}
	for (b = 0; b < batches; b++)
		for (i = 0; i < RUNTIMES; i++) {
			double ns = can[i] ? ask(&children[i], row, r->per_batch) : -1;

			can[i] = can[i] && ns >= 0;
			spent[i][b] = ns / (double)r->per_batch / r->scale;
		}
	for (i = 0; i < RUNTIMES; i++) {
		struct figure *f = &figures[row][i];

		f->known = can[i];
		if (!can[i])
			continue;
		f->median = bench_middle(spent[i], batches);
		f->min = spent[i][0];
		f->p90 = spent[i][batches * 9 / 10];
		f->max = spent[i][batches - 1];
	}
}

/* ---- what is measured once */

static void set_once(int row, int runtime, double value)
{
	figures[row][runtime] = (struct figure){ value >= 0, value, value, value, value };
}

/* The first number that a script prints; -1 when it fails. */
static double size_by(const char *command)
{
	double size = -1;
	FILE *f = popen(command, "r");

	if (f && fscanf(f, "%lf", &size) != 1)
		size = -1;
	if (f)
		pclose(f);
	return size;
}

static void measure_files(const char *self, int times)
{
	struct bench_elf elf;
	double us, kib;
	int i;

	for (i = 0; i < RUNTIMES; i++) {
		const char *path = runtimes[i]->library();

		if (!path || access(path, R_OK))
			continue;
		if (!bench_fresh(self, path, times, &us, &kib)) {
			set_once(ROW_DLOPEN, i, us);
			set_once(ROW_RSS, i, kib);
		}
		if (i == FLOOR)
			continue;
		set_once(ROW_STRIPPED, i,
			 i == TENON ? size_by("sh tests/bench/library-size")
				    : bench_stripped(path));
		if (!bench_elf_read(path, &elf)) {
			set_once(ROW_RELOCATIONS, i, (double)elf.relocations);
			set_once(ROW_EXPORTS, i, (double)elf.exports);
		}
	}
	set_once(ROW_TINY, TENON, size_by("sh tests/bench/tiny-size"));
}

/* ---- the table */

/* what a goal compares with, and which figure that is; 0 when it cannot be judged */
static double measure_of(int row, const char **name)
{
	const struct bench_row *r = &bench_rows[row];
	const struct figure *peer = &figures[row][PEER], *floor = &figures[row][FLOOR];

	switch (r->judge) {
	case JUDGE_PEER:
		*name = peer->known ? "tvm-ffi" : "best";
		return peer->known ? peer->median : r->best;
	case JUDGE_BASELINE:
		*name = "TVM";
		return r->tvm;
	case JUDGE_FLOOR:
		*name = "floor";
		return floor->known ? floor->median : 0;
	case JUDGE_ABSOLUTE:
		*name = "";
		return 1;
	default:
		*name = "";
		return 0;
	}
}

static bool goal_met(int row, double unit)
{
	return figures[row][TENON].median <= bench_rows[row].limit * unit;
}

static const char *number(double value, bool known, char text[32])
{
	if (!known)
		return "–";
	if (value >= 10000)
		snprintf(text, 32, "%.0f", value);
	else if (value >= 100)
		snprintf(text, 32, "%.1f", value);
	else
		snprintf(text, 32, "%.3g", value);
	return text;
}

/* a column of text that may hold a dash of three bytes and one cell */
static void column(const char *text, int width)
{
	int cells = 0;
	const char *at;

	for (at = text; *at; at++)
		cells += (*at & 0xc0) != 0x80;
	printf("%*s%s", width > cells ? width - cells : 0, "", text);
}

static void left(const char *text, int width)
{
	int cells = 0;
	const char *at;

	for (at = text; *at; at++)
		cells += (*at & 0xc0) != 0x80;
	printf("%s%*s", text, width > cells ? width - cells : 0, "");
}

static bool any_known(int row)
{
	return figures[row][FLOOR].known || figures[row][PEER].known || figures[row][TENON].known;
}

static void print_row(int row)
{
	const struct bench_row *r = &bench_rows[row];
	const struct figure *f = figures[row], *t = &f[TENON];
	char text[32], goal[64] = "";
	const char *name;
	double unit = measure_of(row, &name);

	left(r->what, 44);
	left(r->unit, 6);
	column(number(f[FLOOR].median, f[FLOOR].known, text), 10);
	column(number(f[PEER].median, f[PEER].known, text), 10);
	column(number(t->median, t->known, text), 10);
	if (t->known && t->max > t->min)
		printf("  %8.3g…%-8.3g", t->min, t->p90);
	else
		printf("%20s", "");
	column(number(r->tvm, r->tvm > 0, text), 10);
	column(number(r->best, r->best > 0, text), 10);
	if (unit > 0)
		snprintf(goal, sizeof(goal), "≤ %.4g%s%s", r->limit, *name ? " × " : "", name);
	printf("  ");
	left(goal, 18);
	if (unit > 0 && t->known)
		printf(" %s", goal_met(row, unit) ? "met" : "MISSED");
	if (unit > 0 && t->known && *name)
		printf(" (%.2f)", t->median / unit);
	printf("\n");
}

static void print_table(const struct child *children, int only)
{
	int row, i;

	printf("One core, medians over batches in turn; Tenon's spread is minimum…90th "
	       "percentile.\n");
	printf("Columns TVM and best: the baseline, measured in another run (TVM 0.19 from "
	       "source).\n");
	for (i = 0; i < RUNTIMES; i++)
		if (children[i].to < 0)
			printf("%s is not measured: %s\n", runtimes[i]->name,
			       children[i].why[0] ? children[i].why : "it does not start");
	printf("tvm-ffi: %s   tenon: %s\n\n", runtimes[PEER]->version(),
	       runtimes[TENON]->version());
	left("what", 44);
	left("unit", 6);
	printf("%10s%10s%10s  %-17s%10s%10s  %-18s\n", "floor", "tvm-ffi", "Tenon", "  spread",
	       "TVM*", "best*", "goal");
	for (row = 0; row < ROW_COUNT; row++)
		if (any_known(row) && (only < 0 || only == row))
			print_row(row);
}

static void print_json_figure(const char *name, const struct figure *f)
{
	if (f->known)
		printf(", \"%s\": {\"median\": %.6g, \"min\": %.6g, \"p90\": %.6g, \"max\": %.6g}",
		       name, f->median, f->min, f->p90, f->max);
}

static void print_json(int only)
{
	bool first = true;
	const char *name;
	int row, i;

	printf("{\"tvm_ffi\": \"%s\", \"tenon\": \"%s\", \"rows\": [", runtimes[PEER]->version(),
	       runtimes[TENON]->version());
	for (row = 0; row < ROW_COUNT; row++) {
		const struct bench_row *r = &bench_rows[row];
		double unit = measure_of(row, &name);

		if (!any_known(row) || (only >= 0 && only != row))
			continue;
		printf("%s\n {\"key\": \"%s\", \"what\": \"%s\", \"unit\": \"%s\"",
		       first ? "" : ",", r->key, r->what, r->unit);
		first = false;
		for (i = 0; i < RUNTIMES; i++)
			print_json_figure(runtimes[i]->name, &figures[row][i]);
		if (r->tvm > 0)
			printf(", \"baseline_tvm\": %.6g", r->tvm);
		if (r->best > 0)
			printf(", \"baseline_best\": %.6g", r->best);
		if (unit > 0)
			printf(", \"goal\": %.6g", r->limit * unit);
		if (unit > 0 && figures[row][TENON].known)
			printf(", \"met\": %s", goal_met(row, unit) ? "true" : "false");
		printf("}");
	}
	printf("\n]}\n");
}

static int row_of(const char *key)
{
	int row;

	for (row = 0; row < ROW_COUNT; row++)
		if (!strcmp(bench_rows[row].key, key))
			return row;
	fprintf(stderr, "bench: no row \"%s\"; the rows:", key);
	for (row = 0; row < ROW_COUNT; row++)
		fprintf(stderr, " %s", bench_rows[row].key);
	fprintf(stderr, "\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct child children[RUNTIMES] = { 0 };
	const char *json_wanted = getenv("BENCH_JSON");
	bool json = json_wanted && *json_wanted;
	int batches = BATCHES_MAX, only = -1, i, row;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--fresh") && i + 1 < argc)
			return bench_fresh_child(argv[i + 1]);
		if (!strcmp(argv[i], "--json"))
			json = true;
		else if (!strcmp(argv[i], "--quick"))
			batches = 9;
		else if (!strcmp(argv[i], "--row") && i + 1 < argc)
			only = row_of(argv[++i]);
		else {
			fprintf(stderr, "usage: bench [--json] [--quick] [--row KEY]\n");
			return 2;
		}
	}
	for (i = 0; i < RUNTIMES; i++)
		start_child(runtimes[i], children, &children[i]);
	for (row = 0; row < ROW_COUNT; row++)
		if (bench_rows[row].per_batch && (only < 0 || only == row))
			measure(children, row, batches);
	if (only < 0 || !bench_rows[only].per_batch)
		measure_files(argv[0], batches);
	if (json)
		print_json(only);
	else
		print_table(children, only);
	for (i = 0; i < RUNTIMES; i++) {
		if (children[i].to >= 0)
			close(children[i].to);
		if (children[i].pid > 0)
			waitpid(children[i].pid, NULL, 0);
	}
	return 0;
}
