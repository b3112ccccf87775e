/* SPDX-License-Identifier: MIT */
/* Models in memory that the caller gives: the memory of calls, and errors for lack of it. */
#ifndef RUNTIME_MODEL_MODEL_REGIONS_H
#define RUNTIME_MODEL_MODEL_REGIONS_H

#include "lib/heap.h"
#include "runtime/model/model.h"

/* model.c: find the executor of a root module; the error lists what kinds there are */
int model_executor(const struct tenon_module *root, const struct tenon_model_options *o,
		   const struct executor **out);

/* model.c: create a model and set the parameters of the options */
int model_create(struct tenon_module *root, const struct executor *executor,
		 const struct tenon_model_options *o, struct tenon_model **out);

/* what the thread used before it entered a model's memory */
struct model_scope {
	struct workspace *workspace;
	bool alone;
};

/* Use the model's workspace and no other thread until model_leave(); only for a model with a heap. */
void model_enter(const struct tenon_model *model, struct model_scope *before);
void model_leave(const struct model_scope *before);

/* Add to an error of a model with a heap which sort of memory was too small. Returns @err. */
int model_lacks(const struct tenon_model *model, int err);

/* Free the workspace of a model with a heap; a no-op for others. */
void model_workspace_close(struct tenon_model *model);

/** enum model_phase - what a model that is measured does; MODEL_AGAIN: all before is void, and comes again */
enum model_phase { MODEL_AGAIN, MODEL_OPENING, MODEL_RUNNING, MODEL_CLOSING };

/** struct model_watch - @heap: is called with each event, and has the context; @phase: begins a phase */
struct model_watch {
	struct heap_watch heap;
	void (*phase)(void *context, enum model_phase phase);
};

/** struct model_devices - most bytes that drivers have for a model, and those of planned memory that is a dma-buf */
struct model_devices {
	uint64_t bytes;
	uint64_t shared;
};

/**
 * model_measure - open a model in pages of its own, run it, and close it
 * @root: root of an import tree
 * @options: options, complete
 * @run: run it; false: only open it
 * @watch: receives what is taken and given back; NULL for none
 * @peak: receives the bytes of each sort
 * @devices: receives what concerns devices; NULL for none
 */
int model_measure(struct tenon_module *root, const struct tenon_model_options *options, bool run,
		  const struct model_watch *watch, size_t peak[HEAP_SORTS],
		  struct model_devices *devices) TO_PLUGINS(model_measure);

#endif /* RUNTIME_MODEL_MODEL_REGIONS_H */
