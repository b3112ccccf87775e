/* SPDX-License-Identifier: MIT */
/*
 * Measure runtimes beside each other, so that a figure of Tenon stands next to one of TVM from the same minute.
 *
 * A *row* is one thing measured, a *runtime* is one that is measured: the floor (what the machine allows without any
 * runtime), tvm-ffi and TVM from PyPI, and Tenon. Each runtime lives in a child process of its own, since two of them
 * in one process would mix their symbols. All children are pinned to one core and the parent hands out batches in
 * turn, so that a slow moment of the machine hits all alike. The result is the median and the spread over the batches.
 */
#ifndef TENON_TESTS_BENCH_H
#define TENON_TESTS_BENCH_H

#include <stddef.h>
#include <stdint.h>

/** enum bench_row_id - what is measured */
enum bench_row_id {
	ROW_CALL_0,
	ROW_CALL_4,
	ROW_CALL_TENSOR,
	ROW_LIBRARY_INT,
	ROW_LIBRARY_TENSOR,
	ROW_LEGACY_4,
	ROW_LEGACY_INT,
	ROW_LEGACY_TENSOR,
	ROW_FAIL,
	ROW_FAIL_LIBRARY,
	ROW_LOOKUP_HIT,
	ROW_LOOKUP_MISS,
	ROW_LOAD_CALL,
	ROW_LOAD_PLAIN,
	ROW_LEGACY_LOAD_CALL,
	ROW_BLOB_LOAD_0,
	ROW_BLOB_LOAD_1,
	ROW_BLOB_LOAD_10,
	ROW_BLOB_LOAD_100,
	ROW_BLOB_LOAD_1000,
	ROW_BLOB_GET_1,
	ROW_BLOB_GET_10,
	ROW_BLOB_GET_100,
	ROW_BLOB_GET_1000,
	ROW_CL_LOAD_1000,
	ROW_CL_FIRST_1000,
	ROW_CL_GET_1000,
	ROW_EX_LOAD_1,
	ROW_EX_LOAD_1000,
	ROW_EX_GET_1,
	ROW_EX_GET_1000,
	ROW_WORKSPACE,
	ROW_PARALLEL,
	ROW_ALLOCATIONS,
	ROW_DLOPEN,
	ROW_RSS,
	ROW_STRIPPED,
	ROW_RELOCATIONS,
	ROW_EXPORTS,
	ROW_TINY,
	ROW_COUNT,
};

/** enum bench_judge - how a goal is worded */
enum bench_judge {
	JUDGE_NONE,
	JUDGE_PEER, /* at most limit x the best peer of this run, or of the baseline without one */
	JUDGE_BASELINE, /* at most limit x the baseline's TVM */
	JUDGE_FLOOR,	/* at most limit x the floor of this run */
	JUDGE_ABSOLUTE, /* at most limit, in the row's unit */
};

/** struct bench_row - one line of the table */
struct bench_row {
	const char *key;  /* stable, for --json */
	const char *what; /* for people */
	const char *unit; /* "ns", "us", "bytes", "" */
	double scale;	  /* nanoseconds a unit; 1 for counts */
	long per_batch;	  /* calls a batch; 0: measured once by the parent */
	int argument;	  /* imports of the blob */
	double tvm, best; /* the baseline's figures in the row's unit; 0 where there is none */
	enum bench_judge judge;
	double limit;
};

extern const struct bench_row bench_rows[ROW_COUNT];

/** struct bench_op - how a runtime does a row */
struct bench_op {
	/* make ready, once; @argument is the row's. 0, or -1 when this runtime cannot */
	int (*prepare)(int argument);
	/* do it @n times and return the nanoseconds that count */
	double (*batch)(long n);
};

/** struct bench_runtime - one that is measured */
struct bench_runtime {
	const char *name;
	/* in the child: load it; 0, or -1 with the reason in bench_why */
	int (*open)(void);
	const struct bench_op *ops; /* ROW_COUNT of them */
	/* the library's file, for sizes; NULL when there is none */
	const char *(*library)(void);
	/* the version, for the heading */
	const char *(*version)(void);
};

extern const struct bench_runtime bench_floor, bench_tvm_ffi, bench_tenon;
extern char bench_why[256];

/** bench_now - monotonic time in nanoseconds */
double bench_now(void);

/** bench_pin - run on one core; @pinned 0 gives all cores back */
void bench_pin(int pinned);

/** bench_module - path of a file that was built for the benchmark, in static storage */
const char *bench_module(const char *name);

/** bench_blob - path of a library with a blob of @imports modules of @kind; made when it is not there */
const char *bench_blob(const char *kind, int imports);

/** struct bench_elf - what an ELF file says about itself */
struct bench_elf {
	long relocations; /* all but the relative ones */
	long exports;	  /* defined, global or weak, default visibility */
};

/** bench_allocations - how often memory was asked for in this process; below 0 where that is unknown */
long bench_allocations(void);

/** bench_elf_read - count; 0 or -1 */
int bench_elf_read(const char *path, struct bench_elf *out);

/** bench_stripped - bytes of a file after strip -s; -1 when that cannot be done */
double bench_stripped(const char *path);

/** bench_fresh - dlopen @path in @times fresh processes; medians of microseconds and of KiB resident */
int bench_fresh(const char *self, const char *path, int times, double *us, double *kib);

/** bench_fresh_child - the child of bench_fresh(): prints both figures and returns an exit status */
int bench_fresh_child(const char *path);

/**
 * bench_verdict - the end of a row that has a goal, in static storage: "goal ≤ 1.3: met", or "MISSED"
 *
 * scripts/run-benches counts these words.
 */
const char *bench_at_most(double value, double goal);
const char *bench_at_least(double value, double goal);

/**
 * bench_spread - the tenth and the nine tenths of @count figures that bench_middle() sorted, each divided by @unit
 *
 * Returns static storage: " (4.1 to 5.2)".
 */
const char *bench_spread(const double *figures, int count, double unit);

/** bench_middle - sort @count figures and return the one in the middle */
double bench_middle(double *figures, int count);

#endif
