/* SPDX-License-Identifier: MIT */
/* Artifacts: the outputs of code generators, each with a name, as a set. */
#ifndef LINK_MODULE_ARTIFACT_H
#define LINK_MODULE_ARTIFACT_H

/*
 * An artifact is one output of a code generator, with a name: the object code of the host, or the
 * program of a device. A set of artifacts becomes one shared object. The names are kept in that
 * file, in a record beside the import tree (artifact_record.h), because a blob has none.
 */

#include <stdbool.h>
#include <tenon/buffer.h>
#include <tenon/string.h>

/* loader of code for the host, which is linked into the shared object */
#define ARTIFACT_NATIVE "native"

/* target key of code for the host */
#define ARTIFACT_HOST "host"

/**
 * struct artifact - one output of a code generator
 * @codegen_id: the generator: "c", "object", or the kind of a payload
 * @loader: ARTIFACT_NATIVE, or the kind of module that the content is the payload of
 * @target_key: names the target among several of one kind: "host", "fpga0"
 * @file_name: unique in the set
 * @device: URI of the device that the target key stands for; "" for any
 * @content: the payload; empty for native code
 * @file: the file that the payload is, from file_map_open(): @content is empty then
 * @module: number of its module in the import tree
 *
 * All texts are allocated.
 */
struct artifact {
	char *codegen_id;
	char *loader;
	char *target_key;
	char *file_name;
	char *device;
	struct tenon_buffer content;
	struct tenon_slice file;
	uint64_t module;
};

/**
 * struct artifact_set - artifacts that become one shared object
 * @items: @count artifacts
 * @count: how many
 */
struct artifact_set {
	struct artifact *items;
	size_t count;
};

/**
 * struct artifact_names - the texts of an artifact
 *
 * As struct artifact; NULL is the empty text.
 */
struct artifact_names {
	const char *codegen_id;
	const char *loader;
	const char *target_key;
	const char *file_name;
	const char *device;
};

/**
 * artifact_add - add an artifact without content
 * @set: zeroed by the caller at first
 * @names: copied
 * @out: receives the artifact; valid until the next is added
 *
 * Return: 0; -TENON_E_EXISTS for a file name that the set has; -TENON_E_NOMEM.
 */
int artifact_add(struct artifact_set *set, const struct artifact_names *names,
		 struct artifact **out);

/** artifact_find - index of an artifact with a file name; SIZE_MAX when there is none */
size_t artifact_find(const struct artifact_set *set, const char *file_name);

/** artifact_payload - the payload of an artifact */
struct tenon_slice artifact_payload(const struct artifact *a);

/** artifact_is_native - test whether an artifact is linked into the shared object */
bool artifact_is_native(const struct artifact *a);

/**
 * artifact_sort - sort a set in the order of loading
 *
 * Metadata and constants first, then native code, then the other loaders by name; in each group of
 * a loader by target key, then by file name.
 */
void artifact_sort(struct artifact_set *set);

/**
 * artifact_group - end of a group of artifacts with one loader and target key
 * @set: a sorted set
 * @from: index of the first of the group
 *
 * Return: index behind the last of the group.
 */
size_t artifact_group(const struct artifact_set *set, size_t from);

void artifact_set_fini(struct artifact_set *set);

#endif /* LINK_MODULE_ARTIFACT_H */
