/* SPDX-License-Identifier: MIT */
/*
 * The conformance suite of devices: every backend has to pass the same cases, so a program may exchange one device for
 * another.
 *
 * Cases know nothing of a backend. A backend is one file, <name>_backend.c, that says how to open a device and what
 * its test kernels are made of. Each is linked with all cases into a program. A device that does not open is a skip
 * with the reason; anything else that fails is a failure.
 *
 * A backend lists the cases that it will never pass (unsupported, with the reason), and the cases that it should pass
 * and does not yet (expected failures, with what is missing). The latter run, each in a process of its own; one that
 * passes counts as a failure until it has left the list.
 */
#ifndef TESTS_CTS_CTS_H
#define TESTS_CTS_CTS_H

#include "tests/unit/suite.h"

#define CTS_ARGUMENTS_MOST 12
#define CTS_TAGS_MOST	   8

/**
 * struct cts_kernel - a kernel that cases ask for
 * @name: name
 * @arguments: dtypes, ended by NULL
 * @tags: launch tags, ended by NULL
 * @what: what it does, for whoever writes it for another device
 */
struct cts_kernel {
	const char *name;
	const char *arguments[CTS_ARGUMENTS_MOST];
	const char *tags[CTS_TAGS_MOST];
	const char *what;
};

/* all of them, ended by one without a name (cts_kernels.c) */
extern const struct cts_kernel cts_kernels[];

/** struct cts_note - a case and why it is not run */
struct cts_note {
	const char *name;
	const char *why;
};

/**
 * struct cts_backend - a backend under test
 * @uri: the device
 * @kind: kind of module of its payloads, one that has a payload format; NULL
 *	where there is none and programs have the format "functions"
 * @format: "cl", "ptx", "vulkan", "functions"
 * @payload: append a whole payload, of a kind that has a form of its own; NULL: the format, a kernel
 *	table and the code
 * @modern: the payload is one of TVM 0.22 and later: it ends where its bytes end
 * @code: append the program of all kernels; NULL where each has its own
 * @kernel_code: append a kernel's own program and set the flags of its entry (SPIR-V words for kind
 *	"vulkan"); return 0, or -1 for a kernel that cannot be had
 * @no_kernels: why the device runs no kernels, so that each request for one is refused, or why a payload has none of the
 *	suite's; NULL where it does
 * @setup: called before the device is opened; may be NULL. Returns a reason to skip all, or NULL
 * @unsupported: ended by a note without a name; may be NULL
 * @expected_failures: as @unsupported
 */
struct cts_backend {
	const char *uri;
	const char *kind;
	const char *format;
	int (*payload)(struct tenon_buffer *out);
	bool modern;
	int (*code)(struct tenon_buffer *out);
	int (*kernel_code)(const struct cts_kernel *kernel, struct tenon_buffer *out,
			   uint32_t *flags);
	const char *no_kernels;
	const char *(*setup)(void);
	const struct cts_note *unsupported;
	const struct cts_note *expected_failures;
};

/* defined once in each program */
extern const struct cts_backend cts_backend;

/**
 * struct cts - what a case works with
 * @device: the device
 * @queue: a queue of the case's own
 * @program: of all kernels
 * @executable: of the program on the device
 */
struct cts {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_program *program;
	struct tenon_executable *executable;
	struct tenon_buffer payload;
};

struct cts_case {
	const char *name;
	void (*run)(struct cts *cts);
};

#define CTS_CASE(name)                                                                             \
	{                                                                                          \
#name, name                                                                        \
	}

extern const struct cts_case cts_memory_cases[], cts_handle_cases[], cts_copy_cases[],
	cts_queue_cases[], cts_timeline_cases[], cts_fence_cases[], cts_commands_cases[],
	cts_executable_cases[], cts_argument_cases[], cts_tensor_cases[], cts_thread_cases[],
	cts_loss_cases[];

/* packed calls are the core's: a suite that is linked with libtenon.so alone goes without */
extern const struct cts_case cts_call_cases[] __attribute__((weak));

/* print why, and skip the case */
#define cts_skip(...)                                                                              \
	do {                                                                                       \
		print_message("# skip: " __VA_ARGS__);                                             \
		print_message("\n");                                                               \
		skip();                                                                            \
	} while (0)

/* an answer of the library that has to be 0; the message is printed */
#define ok(expression) cts_ok((expression), #expression, __FILE__, __LINE__)
void cts_ok(int status, const char *expression, const char *file, int line);

/* an answer that has to be this failure */
#define fails(expression, status)                                                                  \
	do {                                                                                       \
		int cts_status = (expression);                                                     \
		if (cts_status != (status))                                                        \
			print_error("%s: %s\n", #expression, tenon_error_message());               \
		assert_int_equal(cts_status, status);                                              \
	} while (0)

/* Does a case pass, in a process of its own. */
bool cts_passes(const char *name);

/* A deadline that a working device never needs. */
uint64_t cts_soon(void);

/* Memory of the device; @usage 0 is the default. */
struct tenon_memory *cts_memory(struct cts *cts, uint64_t size, uint32_t usage);
/* Fill memory with known bytes (byte i of the whole is (i * 7 + seed) & 0xff), and wait. */
void cts_put(struct cts *cts, struct tenon_memory *memory, uint8_t seed);
/* Read a range and wait. */
void cts_get(struct cts *cts, struct tenon_memory *memory, uint64_t offset, void *to,
	     uint64_t size);
void cts_set(struct cts *cts, struct tenon_memory *memory, uint64_t offset, const void *from,
	     uint64_t size);
uint8_t cts_byte(uint64_t i, uint8_t seed);

/* A kernel by name; skips the case when the backend does not have it. */
struct tenon_kernel *cts_kernel(struct cts *cts, const char *name);
/* What a launch has when nothing is said. */
struct tenon_dispatch cts_dispatch(struct tenon_kernel *kernel, const uint64_t *arguments);
/* An argument's slot. */
uint64_t cts_argument(struct tenon_memory *memory);
uint64_t cts_int(int64_t value, unsigned int bits);

/* Append the table of the suite's kernels, in the form of TVM up to 0.19. */
void cts_write_table(struct tenon_buffer *out);
/* The suite's kernels as the bytes of a payload, with that table. */
int cts_write_payload(const struct cts_backend *backend, struct tenon_buffer *out);

#endif /* TESTS_CTS_CTS_H */
