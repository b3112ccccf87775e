/* SPDX-License-Identifier: MIT */
/* Where the library reports to the record of a run. What writes it is in runtime/record/. */
#ifndef LIB_RECORD_H
#define LIB_RECORD_H

/*
 * A record keeps what operators and queues did, with the contents of their tensors, so that it can be
 * repeated on another device (tenon replay). It takes the place of a trace: while neither is written,
 * a submission reads the one word trace_active.
 */

#include "lib/trace.h"

/* bytes of a record at most, where the user sets no limit */
#define RECORD_LIMIT (UINT64_C(1) << 30)

/* values of a manifest at most: as many as json_tree_read() reads */
#define RECORD_VALUES_MOST (UINT32_C(1) << 18)

/* the text that names the format in a manifest, and the file that it is in */
#define RECORD_FORMAT	"tenon-record"
#define RECORD_VERSION	1
#define RECORD_MANIFEST "record.json"

/**
 * struct record_options - what to record
 * @folder: created; must not exist
 * @limit: bytes of all files at most
 * @files: the module and its imports, which are kept, too
 * @file_count: how many
 */
struct record_options {
	const char *folder;
	uint64_t limit;
	const char *const *files;
	size_t file_count;
};

/** enum record_lack - why an operation is not in a record */
enum record_lack {
	RECORD_LACK_LIMIT,    /* the record is full */
	RECORD_LACK_ARGUMENT, /* an argument is neither a tensor without gaps nor a number */
	RECORD_LACK_COMMANDS, /* a list of commands that the device repeats */
	RECORD_LACK_READING,  /* a tensor could not be read */
	RECORD_LACK_FAILED,   /* it failed */
	RECORD_LACK_FILE,     /* not an operation: a file of the module that cannot be kept */
	RECORD_LACKS,
};

/**
 * struct record_report - what a record has
 * @operations: number of operations
 * @bytes: size of all files
 * @left_out: number of operations that it lacks, by enum record_lack
 */
struct record_report {
	uint64_t operations;
	uint64_t bytes;
	uint64_t left_out[RECORD_LACKS];
};

/**
 * struct operator_call - a call of an operator
 * @name: its name in the model
 * @function: the called function
 * @args: @count arguments
 * @count: how many
 * @outputs: index of the first argument that the function writes to; 0 if that is not known
 */
struct operator_call {
	struct tenon_slice name;
	struct tenon_slice function;
	const struct tenon_value *args;
	uint32_t count;
	uint32_t outputs;
};

/**
 * struct operator_begun - a call that is being recorded
 * @end: the call returned @err; frees the struct
 */
struct operator_begun {
	void (*end)(struct operator_begun *begun, int err);
};

/**
 * struct recorder - what writes a record
 * @tracer: what the library calls
 * @begin: create the folder, from struct record_options
 * @end: write the manifest
 */
struct recorder {
	struct tracer tracer;
	int (*begin)(const void *options);
	int (*end)(struct record_report *out);
};

/** record_lack_text - why operations are left out: "the record is full" */
const char *record_lack_text(enum record_lack why) TO_PLUGINS(record_lack_text);

/**
 * record_begin - begin to record this process
 * @o: what to record
 *
 * Return: 0; -TENON_E_EXISTS for a folder that exists; -TENON_E_IO; -TENON_E_USAGE while a trace or
 *	a record is being written; -TENON_E_UNSUPPORTED in a build without records; -TENON_E_NOMEM.
 */
int record_begin(const struct record_options *o) TO_PLUGINS(record_begin);

/**
 * record_end - end the record, and write its manifest
 * @out: receives what it has
 *
 * Return: 0; -TENON_E_USAGE while none is written; -TENON_E_IO; -TENON_E_NOMEM.
 */
int record_end(struct record_report *out) TO_PLUGINS(record_end);

#if OPTION_ON(RECORD)
/** record_on - whether a record is being written */
bool record_on(void) TO_PLUGINS(record_on);

/** record_before - an operator is about to be called; NULL where nothing is recorded */
struct operator_begun *record_before(const struct operator_call *call) TO_PLUGINS(record_before);
#else
static inline bool record_on(void)
{
	return false;
}

static inline struct operator_begun *record_before(const struct operator_call *call)
{
	return NULL;
}
#endif

/** record_after - the call returned @err; @begun is from record_before() */
static inline void record_after(struct operator_begun *begun, int err)
{
	if (begun)
		begun->end(begun, err);
}

#endif /* LIB_RECORD_H */
