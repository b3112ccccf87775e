/* SPDX-License-Identifier: MIT */
/* Models of TensorFlow Lite as text and JSON. */
#ifndef TOOLS_INSPECT_INSPECT_TFLITE_H
#define TOOLS_INSPECT_INSPECT_TFLITE_H

#include "tools/json/json_value.h"
#include "tools/program/program_file.h"

/** inspect_tflite_text - print inputs, outputs, operators and tensors of a model, and the programs of operators */
void inspect_tflite_text(struct program_file *f, bool commands, FILE *out);

/** inspect_tflite_json - add the same to a JSON object */
void inspect_tflite_json(cJSON *root, struct program_file *f, bool commands);

#endif /* TOOLS_INSPECT_INSPECT_TFLITE_H */
