/* SPDX-License-Identifier: MIT */
/* Files of Ethos-U compilers, for commands. */
#ifndef TOOLS_ETHOSU_ETHOSU_FILE_H
#define TOOLS_ETHOSU_ETHOSU_FILE_H

#include "devices/ethosu/ethosu_container.h"
#include "runtime/tflite/tflite_model.h"

/**
 * struct ethosu_file - an open file
 * @path: its path; borrowed
 * @bytes: its bytes
 * @is_model: it is a model of TensorFlow Lite, and @model is set
 * @model: the model
 * @contents: the payload; of a model that of the operator chosen by ethosu_file_choose()
 */
struct ethosu_file {
	const char *path;
	struct tenon_slice bytes;
	bool is_model;
	struct tflite_model model;
	struct ethosu_container contents;
};

/**
 * ethosu_file_is - test whether a file begins as a driver payload or a model of TensorFlow Lite, or is a
 *	.npz file by its name
 */
bool ethosu_file_is(const char *path);

/**
 * ethosu_file_open - read a file
 * @path: the file; must outlive @out
 * @out: receives the contents; free it with ethosu_file_fini(), also on failure
 *
 * Return: 0; as file_map_open() and ethosu_container_read().
 */
int ethosu_file_open(const char *path, struct ethosu_file *out);
void ethosu_file_fini(struct ethosu_file *f);

/** ethosu_file_graphs - how many graphs a model has; 1 for another file */
uint32_t ethosu_file_graphs(const struct ethosu_file *f);

/** ethosu_file_graph - take another graph of a model: the functions below are about its operators */
int ethosu_file_graph(struct ethosu_file *f, uint32_t graph);

/** ethosu_file_count - how many operators the graph has; 1 for another file */
uint32_t ethosu_file_count(const struct ethosu_file *f);

/** ethosu_file_has - test whether operator @index was compiled for Ethos-U; true for another file */
bool ethosu_file_has(const struct ethosu_file *f, uint32_t index);

/**
 * ethosu_file_choose - set @contents to the payload of operator @index, for which ethosu_file_has() is true
 *
 * Return: 0; as ethosu_tflite_read().
 */
int ethosu_file_choose(struct ethosu_file *f, uint32_t index);

/** ethosu_file_check - check the command stream against the sizes in @f; as ethosu_check() */
int ethosu_file_check(const struct ethosu_file *f, struct ethosu_extents *out);

/** ethosu_file_stream - cursor over the command stream */
struct tenon_cursor ethosu_file_stream(const struct ethosu_file *f);

/** ethosu_region_role - what a region is for: "constants"; "" for those without a meaning of their own */
const char *ethosu_region_role(const struct ethosu_file *f, unsigned int region);

#endif /* TOOLS_ETHOSU_ETHOSU_FILE_H */
