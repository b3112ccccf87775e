/* SPDX-License-Identifier: MIT */
/* Archives in Model Library Format: read their parts, write new ones. */
#ifndef LINK_MLF_MLF_H
#define LINK_MLF_MLF_H

/*
 * An archive that TVM 0.8 to 0.18 wrote for targets without a loader of shared objects: the host code
 * as sources or object files, the graph, the parameters and metadata.json. Versions 5 to 7 are read,
 * version 7 is written:
 *
 *	metadata.json
 *	codegen/host/src/<model>_lib<N>.c	sources of the host
 *	codegen/host/lib/<model>_lib<N>.o	object files of the host
 *	codegen/host/include/			headers for these sources
 *	codegen/<target key>/			programs of devices; TVM writes none
 *	executor-config/graph/<model>.graph	5 and 6: graph.json
 *	parameters/<model>.params
 *	src/					what was compiled; of ahead-of-time code the header of main is read
 *
 * The record of artifacts and the import tree are in metadata.json, as "tenon" of the model; TVM
 * ignores them.
 */

#include <stdbool.h>

#include "driver/archive/archive.h"
#include "link/module/artifact.h"

/* a build without JSON has no header of cJSON, and uses nothing of what follows */
struct cJSON;

/* versions that are read; the last one is written */
#define MLF_OLDEST 5
#define MLF_NEWEST 7

#define MLF_METADATA "metadata.json"
#define MLF_SOURCES  "codegen/host/src/"
#define MLF_OBJECTS  "codegen/host/lib/"
#define MLF_HEADERS  "codegen/host/include/"

/**
 * struct mlf_model - a model in an archive
 * @name: its name
 * @json: its part of metadata.json
 * @graph: the graph executor runs it
 * @aot: ahead-of-time code runs it
 */
struct mlf_model {
	const char *name;
	const struct cJSON *json;
	bool graph;
	bool aot;
};

/**
 * struct mlf - an archive that was read
 * @path: of the archive, for messages
 * @files: its files
 * @metadata: metadata.json
 * @version: MLF_OLDEST to MLF_NEWEST
 * @models: @count models
 * @count: how many; at least one
 */
struct mlf {
	const char *path;
	struct archive_files files;
	struct cJSON *metadata;
	int version;
	struct mlf_model *models;
	size_t count;
};

/**
 * mlf_open - read an archive
 * @path: the file; must outlive @m
 * @m: zeroed by the caller; free it with mlf_fini(), also on failure
 *
 * Return: 0; -TENON_E_IO; -TENON_E_UNSUPPORTED for another version, or an archive of single operators;
 *	-TENON_E_NOT_FOUND without metadata.json; -TENON_E_FORMAT; errors of archive_read().
 */
int mlf_open(const char *path, struct mlf *m);

/** mlf_read - as mlf_open(), from memory */
int mlf_read(struct tenon_slice bytes, const char *path, struct mlf *m);

void mlf_fini(struct mlf *m);

/** mlf_is_archive - test whether the name of a file ends as that of an archive does */
bool mlf_is_archive(const char *path);

/**
 * mlf_find - find a model
 * @name: its name; NULL for the only one
 *
 * Return: 0; -TENON_E_NOT_FOUND, naming those that there are.
 */
int mlf_find(const struct mlf *m, const char *name, const struct mlf_model **out);

/** mlf_graph - the graph of a model; NULL if there is none */
const struct archive_file *mlf_graph(const struct mlf *m, const struct mlf_model *model);

/** mlf_params - the parameters of a model; NULL if there are none */
const struct archive_file *mlf_params(const struct mlf *m, const struct mlf_model *model);

/** mlf_program - the text of the Relay program that a model was compiled of; NULL if there is none */
const struct archive_file *mlf_program(const struct mlf *m, const struct mlf_model *model);

/** mlf_header - the header of ahead-of-time code, by the model's name as an identifier; NULL for none */
const struct archive_file *mlf_header(const struct mlf *m, const char *name);

/**
 * mlf_aot_source - append a C source that describes ahead-of-time code
 * @m: the archive
 * @model: a model of it
 * @out: receives the source, to be linked with the code of the host
 *
 * It defines what the executor of ahead-of-time code asks a library for: the names, types and shapes
 * of inputs and outputs, and main as a packed function if it was compiled to take structs (TVM's
 * option interface-api=c). Shapes are those of main in the Relay program; a tensor that it does not
 * describe has one dimension.
 *
 * Return: 0; -TENON_E_UNSUPPORTED for an archive that does not list inputs and outputs, or not their
 *	order; -TENON_E_FORMAT; -TENON_E_NOMEM.
 */
int mlf_aot_source(const struct mlf *m, const struct mlf_model *model, struct tenon_buffer *out);

/** mlf_is_host_file - test whether a file is host code of a model */
bool mlf_is_host_file(const struct mlf *m, const struct mlf_model *model,
		      const struct archive_file *file);

/**
 * mlf_memory - compute what a graph takes of memory, as TVM summarises it
 * @graph: graph.json
 * @path: of that file, for messages
 * @params: the parameters; empty for none
 * @out: receives the value of "memory"; free it with cJSON_Delete()
 *
 * Operators take memory of their own while they run, which a graph does not tell: it is not counted.
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_VALUE; -TENON_E_OVERFLOW; -TENON_E_NOMEM.
 */
int mlf_memory(struct tenon_slice graph, const char *path, struct tenon_slice params,
	       struct cJSON **out);

/**
 * struct mlf_content - what an archive is written of
 * @model: name of the model
 * @set: artifacts. The content of native ones is that of their files; of others, the program's file.
 * @tables: for each artifact, its table of kernels; empty for none
 * @imports: @import_count pairs of file names: importer and import
 * @import_count: how many pairs
 * @modern: launchers and payloads are for TVM 0.22 and later
 * @graph: graph.json; empty for none
 * @graph_path: for messages
 * @params: contents of a .params file; empty for none
 */
struct mlf_content {
	const char *model;
	const struct artifact_set *set;
	const struct tenon_slice *tables;
	const char *const (*imports)[2];
	size_t import_count;
	bool modern;
	struct tenon_slice graph;
	const char *graph_path;
	struct tenon_slice params;
};

/**
 * mlf_write - append an archive, MLF_NEWEST
 *
 * The time in metadata.json is that of $SOURCE_DATE_EPOCH, or 1970: equal contents give equal bytes.
 *
 * Return: 0; -TENON_E_VALUE for a name that an archive cannot have; errors of mlf_memory() and
 *	archive_write().
 */
int mlf_write(const struct mlf_content *content, struct tenon_buffer *out);

#endif /* LINK_MLF_MLF_H */
