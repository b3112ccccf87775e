/* SPDX-License-Identifier: MIT */
/* The state that a recurrent model keeps for each sequence. */
#ifndef RUNTIME_KV_RNN_STATE_H
#define RUNTIME_KV_RNN_STATE_H

/*
 * What a recurrent model keeps of each sequence instead of keys and values: for each layer some
 * tensors of constant size, and as many earlier versions of them as steps can be taken back.
 */

#include <tenon/array.h>
#include <tenon/function.h>
#include <tenon/tensor.h>

struct rnn_state;

/**
 * struct rnn_config - arguments of rnn_state_create()
 * @layers: number of layers
 * @sequences: most sequences
 * @history: versions that are kept, at least 1
 * @getters: functions that read, one for each tensor of a layer
 * @setters: functions that write
 * @initial: initial tensors of a layer, all on one device
 */
struct rnn_config {
	int64_t layers;
	int64_t sequences;
	int64_t history;
	struct tenon_array *getters;
	struct tenon_array *setters;
	struct tenon_array *initial;
};

/** rnn_state_create - allocate the state, an object of type rnn_state_type() */
int rnn_state_create(const struct rnn_config *config, struct rnn_state **out);

/* Type index of states; 0 before the first one. */
int32_t rnn_state_type(void);

int rnn_state_clear(struct rnn_state *r);
int rnn_state_add(struct rnn_state *r, int64_t id);
int rnn_state_remove(struct rnn_state *r, int64_t id);
int rnn_state_fork(struct rnn_state *r, int64_t parent, int64_t child);
int rnn_state_pop(struct rnn_state *r, int64_t id, int64_t count);
/* @tree may be NULL: a tree must be a chain for each sequence. */
int rnn_state_begin(struct rnn_state *r, const int64_t *ids, const int64_t *lengths, size_t count,
		    const int64_t *tree, size_t tree_size);
int rnn_state_end(struct rnn_state *r);
/* Call the getter of tensor @k of a layer with an output, or the setter with an input. */
int rnn_state_get(struct rnn_state *r, int64_t layer, int64_t k, const struct tenon_value *out);
int rnn_state_set(struct rnn_state *r, int64_t layer, int64_t k, const struct tenon_value *data);
/* Make a copy of the current tensor @k of a sequence. */
int rnn_state_debug(struct rnn_state *r, int64_t layer, int64_t k, int64_t id,
		    struct tenon_tensor **out);

#endif /* RUNTIME_KV_RNN_STATE_H */
