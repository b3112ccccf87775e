/* SPDX-License-Identifier: MIT */
/* What a plug-in does for functions of the library: describe files and objects, and write modules. */
#ifndef RUNTIME_CORE_DESCRIBER_H
#define RUNTIME_CORE_DESCRIBER_H

/*
 * The command needs this, few other programs do. The functions are in the rooms that know the things, and so are those
 * that call them by DESCRIBER(), in files that the build compiles once more for libtenon.a: there each is called
 * directly, and a static program has those alone that it uses.
 */

#include <stddef.h>
#include <tenon/backend/module_kind.h>
#include <tenon/visit.h>

#include "lib/option.h"
#include "runtime/core/arguments.h"

struct tenon_artifact;
struct tenon_buffer;
struct tenon_payload_info;
struct tenon_target;

/* What a file is, and what to do with it: runtime/kind/file_look.c. Return: 0. */
int describe_look(struct tenon_slice bytes, const char **what, const char **advice);

/* tenon_object_visit(): runtime/core/visit.c */
int describe_object(const struct tenon_object *object, const struct tenon_visitor *v);

/* inspect_file(): runtime/library/inspect.c */
int describe_module(const char *path, struct tenon_object **keep, struct tenon_slice *bytes,
		    struct tenon_module **out);

/* The module for the library of a blob that is read without one: runtime/library/library_module.c. 0; -TENON_E_NOMEM. */
int describe_stand_in(const char *file, struct tenon_module **out);

/* tenon_module_write_blob(): runtime/blob/blob_write.c */
int describe_blob(struct tenon_module *root, enum tenon_generation generation,
		  struct tenon_buffer *out);

/*
 * Fields of a payload: of "format" and "name", and for executors "nodes", "parameters" and "parameter_bytes", each only
 * if present. And "functions", a list of names, and for kernels "launch", a list of maps in the same order: "args",
 * dtype names, and "tags", launch tags. runtime/payload/payload_visit.c
 */
int describe_payload(const struct tenon_payload_info *info, const struct tenon_visitor *v);
int describe_functions(const struct tenon_payload_info *info, const struct tenon_visitor *v);

/* payload_file_load(): runtime/payload/payload_program_file.c */
PACKED_CALL(describe_program);

/* tenon_artifacts_load(): runtime/library/artifact_set.c */
int describe_artifacts(const struct tenon_artifact *items, size_t count,
		       const struct tenon_target *targets, size_t target_count,
		       struct tenon_module **out);

/**
 * struct describer - the above, as the plug-in hands them over
 */
struct describer {
	__typeof__(describe_look) *look;
	__typeof__(describe_object) *object;
	__typeof__(describe_module) *module;
	__typeof__(describe_stand_in) *stand_in;
	__typeof__(describe_blob) *blob;
	__typeof__(describe_payload) *payload;
	__typeof__(describe_functions) *functions;
	__typeof__(describe_program) *program;
	__typeof__(describe_artifacts) *artifacts;
};

/*
 * Open the plug-in for the function at @place in struct describer. Return: 0; -TENON_E_UNSUPPORTED without the plug-in, and for
 * one that was built with other options and lacks @function; -TENON_E_NOMEM.
 */
int describer_open(const struct describer **out, size_t place, const char *function);

/* DESCRIBER(slot, ...): call a function of it. Return: its result; what describer_open() returns where that fails. */
#define DESCRIBER(slot, ...)	      OPTION_CHOOSE(DESCRIBE, DESCRIBER_, slot, __VA_ARGS__)
#define DESCRIBER_BUILT_IN(slot, ...) describe_##slot(__VA_ARGS__)
#define DESCRIBER_OFF		      DESCRIBER_BUILT_IN /* programs of devices, artifacts */
#define DESCRIBER_PLUGIN(slot, ...)                                                                \
	({                                                                                         \
		const struct describer *plugin_;                                                   \
		int err_ = describer_open(&plugin_, offsetof(struct describer, slot),              \
					  "describe_" #slot "()");                                 \
		if (!err_)                                                                         \
			err_ = plugin_->slot(__VA_ARGS__);                                         \
		err_;                                                                              \
	})

#endif /* RUNTIME_CORE_DESCRIBER_H */
