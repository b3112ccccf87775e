/* SPDX-License-Identifier: MIT */
/* Files that are no modules: a device's program as its compiler wrote it, or a model whose operators are such programs. */
#ifndef TOOLS_PROGRAM_PROGRAM_FILE_H
#define TOOLS_PROGRAM_PROGRAM_FILE_H

/*
 * What the bytes of a program mean is known to its payload format alone, which checks and describes them
 * (tenon_payload_format.check and describe). Compilers for NPUs replace operators of a model of TensorFlow Lite by custom
 * ones, whose name is the kind of their programs.
 */

#include "runtime/payload/payload_format.h"
#include "runtime/tflite/tflite_model.h"

/**
 * struct program_file - an open file
 * @path: its path; borrowed
 * @bytes: its bytes
 * @is_model: it is a model of TensorFlow Lite, and @model is set
 * @model: the model
 * @format: of the program, unless it is a model
 * @parts: program of the operator that was chosen last
 */
struct program_file {
	const char *path;
	struct tenon_slice bytes;
	bool is_model;
	struct tflite_model model;
	const struct tenon_payload_format *format;
	struct tenon_buffer parts;
};

/** program_file_is - test whether a file begins as a model, or as a program that its format describes */
bool program_file_is(const char *path);

/**
 * program_file_open - open a file
 * @path: the file; must outlive @out
 * @format: of the program, if the file is none of a model; NULL for the one that describes it
 * @out: receives the contents; free it with program_file_fini(), also on failure
 *
 * Return: 0; as file_map_open() and tflite_read(); -TENON_E_FORMAT when no format describes it.
 */
int program_file_open(const char *path, const struct tenon_payload_format *format,
		      struct program_file *out);
void program_file_fini(struct program_file *f);

/** program_file_graph - take another graph of a model, below its number of graphs */
int program_file_graph(struct program_file *f, uint32_t graph);

/**
 * program_file_choose - get the program of an operator
 * @f: a model
 * @index: number of the operator in the graph
 * @request: receives the program, which is there until the next call
 *
 * Return: 0; as npu_read().
 */
int program_file_choose(struct program_file *f, uint32_t index,
			struct tenon_payload_request *request);

/** program_file_whole - get the program that a file is, if it is no model */
void program_file_whole(const struct program_file *f, struct tenon_payload_request *request);

/** program_format - get the format with a kind that describes its programs, as operators are; NULL if there is none */
const struct tenon_payload_format *program_format(const struct tflite_operator *op);

/**
 * program_format_to_check - get the format of a kind that checks its programs
 * @kind: the kind
 * @out: receives the format
 *
 * Return: 0; -TENON_E_NOT_FOUND, naming the kinds that this build checks.
 */
int program_format_to_check(const char *kind, const struct tenon_payload_format **out);

/**
 * struct program_place - which program of a file
 * @graph: of a model: number of the graph
 * @index: and of the operator
 */
struct program_place {
	uint32_t graph;
	uint32_t index;
};

/**
 * program_file_each - visit the programs of a file: itself, or the operators of its kind
 * @f: opened with a format
 * @visit: checks a program; stops with its first status that is not 0
 *
 * Return: 0; the status of @visit; as program_file_choose(); -TENON_E_FORMAT for a model without such operators.
 */
int program_file_each(struct program_file *f,
		      int (*visit)(void *context, const struct program_place *place,
				   struct tenon_payload_request *request),
		      void *context);

#endif /* TOOLS_PROGRAM_PROGRAM_FILE_H */
