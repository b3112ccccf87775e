/* SPDX-License-Identifier: MIT */
#ifndef TENON_ARTIFACT_H
#define TENON_ARTIFACT_H

/**
 * DOC: artifacts and targets
 *
 * An artifact is one output of a code generator, with a name: the code of the host, or the program of
 * a device. `tenon link` makes one file of a set; a program that generates code loads a set from
 * memory. Both are loaded in the same order: metadata and constants, code of the host, then the other
 * loaders by name; for each loader by target key, then by file name.
 *
 * A target key tells programs of one kind apart that are for different devices, such as two FPGAs. A
 * target says which device a key stands for. A kernel of a program with a device runs there, whatever
 * the thread's current device is. Where several programs have a kernel of one name, the one whose
 * device is the thread's current one is called, else the first; "KEY:NAME" names one of them.
 */

#include <tenon/export.h>
#include <tenon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_target - the device that a target key stands for
 * @key: target key
 * @device: URI, as for tenon_device_open(); opened by the first call of a kernel
 */
struct tenon_target {
	const char *key;
	const char *device;
};

/**
 * struct tenon_artifact - one output of a code generator
 * @codegen_id: what generated it; for messages, may be NULL
 * @loader: "native" for code of the host, or the kind of module that loads @content
 * @target_key: target; NULL stands for @loader
 * @file_name: unique in the set
 * @content: a shared object for "native", otherwise a payload; borrowed for the call
 * @load: makes the module of an artifact that exists in memory alone; @content is not used then. NULL
 *	for others.
 * @context: argument of @load
 */
struct tenon_artifact {
	const char *codegen_id;
	const char *loader;
	const char *target_key;
	const char *file_name;
	struct tenon_slice content;
	int (*load)(void *context, struct tenon_module **out);
	void *context;
};

/**
 * tenon_artifacts_load - load a set of artifacts
 * @items: @count artifacts, in any order
 * @count: how many; at least one
 * @targets: devices of target keys; other keys run on the thread's current device
 * @target_count: how many
 * @out: receives the root with one reference, the first artifact in the order of loading: constants
 *	or metadata, else the code of the host, else a program. It imports all others, and so does the
 *	code of the host, except for a root of constants, which passes it parameters.
 *
 * Return: 0; -TENON_E_EXISTS for a file name that occurs twice; -TENON_E_NOT_FOUND for a target key
 *	that no artifact has; -TENON_E_VALUE; as tenon_module_load() and tenon_module_load_bytes(), with
 *	the artifact's file name; the error of @load; -TENON_E_UNSUPPORTED when the plug-in describe.so is
 *	missing.
 */
TENON_API int tenon_artifacts_load(const struct tenon_artifact *items, size_t count,
				   const struct tenon_target *targets, size_t target_count,
				   struct tenon_module **out);

/**
 * tenon_module_load_for - open a file, with other devices for its target keys
 * @path: as for tenon_module_load()
 * @targets: @count devices, which replace those that the file names
 * @count: how many
 * @out: receives the root of the import tree with one reference
 *
 * Return: as tenon_module_load(); -TENON_E_NOT_FOUND for a key that the file does not have, and for a
 *	file that is open, and so has its devices already.
 */
TENON_API int tenon_module_load_for(const char *path, const struct tenon_target *targets,
				    size_t count, struct tenon_module **out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_ARTIFACT_H */
