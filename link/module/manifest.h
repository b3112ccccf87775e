/* SPDX-License-Identifier: MIT */
/* The description of a module that was unpacked, from which it is linked again. */
#ifndef LINK_MODULE_MANIFEST_H
#define LINK_MODULE_MANIFEST_H

/*
 *	{
 *	  "tenon_manifest": 1,
 *	  "abi": "legacy" or "modern",
 *	  "kernel_tables": "plain", or "tagged": with tags of arguments, TVM 0.20 and later
 *	  "host": {
 *	    "file": "host.so",
 *	    "artifacts": [{"codegen_id": …, "target_key": …, "file_name": …, "device": …}, …]
 *	  },
 *	  "modules": [
 *	    {"loader": "native", "imports": [1]},
 *	    {"loader": "opencl", "codegen_id": …, "target_key": …, "file_name": …, "device": …,
 *	     "file": "dev.cl", "table": "dev.tvm_meta.json", "imports": []}
 *	  ]
 *	}
 *
 * Modules are in the order of their numbers in the import tree, and "imports" are such numbers. All
 * files are in the folder of the manifest. Other keys are ignored.
 */

#include "link/module/link_tree.h"
#include "runtime/payload/payload_format.h"

/**
 * struct manifest_names - the texts of an artifact in a manifest
 *
 * As struct artifact; @file and @table are names of files in the folder of the manifest, "" for
 * none.
 */
struct manifest_names {
	const char *loader;
	const char *codegen_id;
	const char *target_key;
	const char *file_name;
	const char *device;
	const char *file;
	const char *table;
};

/**
 * struct manifest - what a manifest says
 * @generation: form of the import tree
 * @dialect: form of its kernel tables
 * @host: file of the host code
 * @host_artifacts: @host_count artifacts that were linked into it
 * @host_count: how many
 * @names: of each module of @tree
 * @tree: the modules, without payloads
 * @texts: all texts
 */
struct manifest {
	enum tenon_generation generation;
	enum payload_dialect dialect;
	const char *host;
	struct manifest_names *host_artifacts;
	size_t host_count;
	struct manifest_names *names;
	struct link_tree tree;
	char *texts;
};

/**
 * manifest_read - read a manifest
 * @text: JSON
 * @path: of the file, for messages
 * @m: zeroed by the caller; freed with manifest_fini(), also on failure
 *
 * Return: 0; -TENON_E_FORMAT and -TENON_E_TRUNCATED with line and column; -TENON_E_VALUE;
 *	-TENON_E_UNSUPPORTED for another version; -TENON_E_NOMEM.
 */
int manifest_read(struct tenon_slice text, const char *path, struct manifest *m);

void manifest_fini(struct manifest *m);

#endif /* LINK_MODULE_MANIFEST_H */
