/* SPDX-License-Identifier: MIT */
/* Payloads of Ethos-U and models as text and JSON. */
#ifndef TOOLS_ETHOSU_ETHOSU_PRINT_H
#define TOOLS_ETHOSU_ETHOSU_PRINT_H

#include "tools/ethosu/ethosu_file.h"
#include "tools/json/json_value.h"

/**
 * struct ethosu_inspection - what is printed of a payload
 * @file: the file; its contents are the payload, empty if it could not be read
 * @extents: what the stream does
 * @fault: why the check refused it; NULL if it did not
 */
struct ethosu_inspection {
	const struct ethosu_file *file;
	struct ethosu_extents extents;
	const char *fault;
};

/** ethosu_print_title - print what it is: "payload of Ethos-U for u65-256 (COP1)" */
void ethosu_print_title(const struct ethosu_file *f, FILE *out);

/** ethosu_print - print target, stream, operations, regions and tensors; and the commands to @disassemble */
void ethosu_print(const struct ethosu_inspection *n, bool disassemble, FILE *out);

/** ethosu_json - add the same to a JSON object */
void ethosu_json(cJSON *item, const struct ethosu_inspection *n, bool disassemble);

/** tflite_print - print inputs, outputs, operators and tensors of a model, and the payloads of operators */
void tflite_print(struct ethosu_file *f, bool disassemble, FILE *out);

/** tflite_json - add the same to a JSON object */
void tflite_json(cJSON *root, struct ethosu_file *f, bool disassemble);

#endif /* TOOLS_ETHOSU_ETHOSU_PRINT_H */
