/* SPDX-License-Identifier: MIT */
#ifndef TENON_SELF_TEST_H
#define TENON_SELF_TEST_H

/**
 * DOC: models that test themselves
 *
 * A module's file may hold cases: inputs of its model, and the outputs that are right for them ("tenon link --case",
 * "tenon-compile --case"). A program runs them on any device, to know that this machine computes what the model's maker
 * computed:
 *
 *	tenon_cases_open("model.so", &cases);
 *	for (i = 0; i < tenon_cases_count(cases); i++)
 *		if (tenon_self_test(model, tenon_cases_at(cases, i), NULL, &why))
 *			…
 *	tenon_cases_close(cases);
 *
 * The cases are read from the file, not from the module in memory: reading them runs no code of the file, and the model may
 * run on another machine. docs/modules.md describes their form.
 */

#include <tenon/buffer.h>
#include <tenon/export.h>
#include <tenon/model.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_cases;

/**
 * struct tenon_case_value - an input or output of a case
 * @name: its name in the model; empty for one that is known by its place
 * @dtype: element type
 * @ndim: number of dimensions
 * @shape: @ndim extents
 * @data: its elements, compact and not aligned; empty if @sha256 is there
 * @sha256: of an output of which the case keeps no more: the hash of its elements, 32 bytes; else NULL
 */
struct tenon_case_value {
	struct tenon_slice name;
	DLDataType dtype;
	int32_t ndim;
	const int64_t *shape;
	struct tenon_slice data;
	const uint8_t *sha256;
};

/**
 * struct tenon_case - inputs and what the model computes of them
 * @size: size of this struct in the library
 * @name: name of the case
 * @rtol: real numbers may differ by so much, relative to the expected one
 * @atol: and by so much besides
 * @steps: integers may differ by so much, as those of quantised models
 * @inputs: @input_count inputs
 * @input_count: how many
 * @outputs: @output_count outputs
 * @output_count: how many
 */
struct tenon_case {
	size_t size;
	struct tenon_slice name;
	double rtol;
	double atol;
	uint64_t steps;
	const struct tenon_case_value *inputs;
	size_t input_count;
	const struct tenon_case_value *outputs;
	size_t output_count;
};

/**
 * tenon_cases_open - read the cases in a file
 * @file: a shared object for any machine
 * @out: receives them; end them with tenon_cases_close(). NULL on failure
 *
 * The file is mapped until then. All of it is checked, and compared with the hash that was written with the cases.
 *
 * Context: any thread; any thread may use the result.
 * Return: 0; -TENON_E_NOT_FOUND for a file without cases; -TENON_E_FORMAT, -TENON_E_TRUNCATED with the place;
 *	-TENON_E_VALUE for cases with another hash; -TENON_E_UNSUPPORTED for a later form of cases, and in a build without
 *	self-tests; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_cases_open(const char *file, struct tenon_cases **out);

/** tenon_cases_close - free the cases. NULL is allowed. */
TENON_API void tenon_cases_close(struct tenon_cases *cases);

/** tenon_cases_count - number of cases; at least 1 */
TENON_API size_t tenon_cases_count(const struct tenon_cases *cases);

/** tenon_cases_at - a case, valid as long as @cases; NULL for an index out of range */
TENON_API const struct tenon_case *tenon_cases_at(const struct tenon_cases *cases, size_t index);

/**
 * tenon_self_test - run a model on a case, and compare its outputs
 * @model: the model, on any device, also of another machine
 * @c: the case
 * @reference: if the outputs differ: a model of the same operators that is right, usually on the processor. It runs the
 *	case too, and the operators are compared one after the other. NULL: they are not compared
 * @why: what differs is appended, a line each; the last line is the first operator that differs, or why none can be named
 *
 * Operators are compared by what the executors of graphs and of the Relax machine's bytecode report, in a build with
 * records of runs. While they are, this process can write neither a trace nor a record, and operators of other threads
 * wait for nothing and are not compared.
 *
 * Context: as tenon_model_run().
 * Return: 0 when all outputs are equal within the tolerance of the case; 1 when one is not, with @why; errors of
 *	tenon_model_set_input() and tenon_model_run(); -TENON_E_NOT_FOUND when the model lacks an input or output of the
 *	case; -TENON_E_UNSUPPORTED in a build without self-tests; -TENON_E_NOMEM.
 */
TENON_API int tenon_self_test(struct tenon_model *model, const struct tenon_case *c,
			      struct tenon_model *reference, struct tenon_buffer *why);

#ifdef __cplusplus
}
#endif

#endif /* TENON_SELF_TEST_H */
