/* SPDX-License-Identifier: MIT */
/* An open .tflite file, and its description. */
#ifndef RUNTIME_TFLITE_TFLITE_DESCRIBE_H
#define RUNTIME_TFLITE_TFLITE_DESCRIBE_H

#include "runtime/model/model_format.h"
#include "runtime/tflite/tflite_model.h"

/**
 * struct model_file - an open file
 * @model: the graph that was taken last
 */
struct model_file {
	struct tflite_model model;
};

extern const struct model_format tflite_format;

/** tflite_file_graph - take a graph of a file, below its number of graphs */
int tflite_file_graph(struct model_file *m, uint32_t graph);

/** tflite_file_operator - read operator @index of the graph, below its number of operators, in both forms */
int tflite_file_operator(const struct model_file *m, uint32_t index, struct tflite_operator *op,
			 struct model_operator *out);

/** tflite_describe - model_format.describe */
int tflite_describe(struct model_file *m, struct tenon_report *report, model_operator_fn program,
		    void *context);

#endif /* RUNTIME_TFLITE_TFLITE_DESCRIBE_H */
