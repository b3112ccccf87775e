/* SPDX-License-Identifier: MIT */
/* The steps of a self-test: reading cases, comparing tensors, and comparing the operators of two models. */
#ifndef RUNTIME_SELF_TEST_SELF_TEST_H
#define RUNTIME_SELF_TEST_SELF_TEST_H

#include <tenon/self_test.h>

#include "lib/option.h"
#include "lib/plugin_api.h"

struct tenon_cases {
	struct tenon_slice file; /* mapped by tenon_cases_open(); else empty */
	struct tenon_case *items;
	size_t count;
};

/**
 * struct self_tester - what the library calls of this part, usually a plug-in
 * @read: cases_read()
 * @test: tenon_self_test()
 */
struct self_tester {
	int (*read)(struct tenon_slice section, uint64_t offset, struct tenon_cases **out);
	__typeof__(tenon_self_test) *test;
};

/**
 * self_test_read - tenon_cases_open(), for a caller that has the contents of the file
 * @file: its name, for messages
 * @bytes: its contents, which must outlive @out
 * @out: receives the cases; end them with tenon_cases_close(). NULL on failure
 *
 * Return: as tenon_cases_open().
 */
#if OPTION_ON(SELF_TEST)
int self_test_read(const char *file, struct tenon_slice bytes, struct tenon_cases **out)
	TO_PLUGINS(self_test_read);
#else
static inline int self_test_read(const char *file, struct tenon_slice bytes,
				 struct tenon_cases **out)
{
	return tenon_cases_open(file, out);
}
#endif

/**
 * cases_read - read and check the cases of a file
 * @section: contents of its section CASES_SECTION
 * @offset: place in the file, for messages
 * @out: receives the cases; NULL on failure
 *
 * Return: as tenon_cases_open().
 */
int cases_read(struct tenon_slice section, uint64_t offset, struct tenon_cases **out);

/**
 * self_test_host - get a tensor's elements in memory of the host, compact
 * @t: a tensor on any device
 * @out: receives a new tensor
 *
 * Return: 0; -TENON_E_DEVICE and others of tenon_tensor_copy(); -TENON_E_NOMEM.
 */
int self_test_host(const DLTensor *t, struct tenon_tensor **out);

/**
 * self_test_compare - compare a tensor in memory of the host with what is expected
 * @c: its tolerance
 * @got: compact
 * @want: expected value, of which the name is not used
 * @why: what differs is appended, without a newline
 *
 * Elements of a dtype that is no usual number must be equal bit for bit.
 *
 * Return: whether they are equal.
 */
bool self_test_compare(const struct tenon_case *c, const DLTensor *got,
		       const struct tenon_case_value *want, struct tenon_buffer *why);

/** self_test_run - set the inputs of a case, and run the model; as tenon_self_test() */
int self_test_run(struct tenon_model *model, const struct tenon_case *c);

/**
 * self_test_operators - find the first operator of a model that differs from that of another
 * @why: the answer is appended, with a newline
 *
 * Return: 0; -TENON_E_NOMEM. That operators cannot be compared is an answer, too.
 */
int self_test_operators(struct tenon_model *model, const struct tenon_case *c,
			struct tenon_model *reference, struct tenon_buffer *why);

#endif /* RUNTIME_SELF_TEST_SELF_TEST_H */
