/* SPDX-License-Identifier: MIT */
/* The tensors of calls between the worker and TVM's tests: both processes keep them under a key, by which changes are sent. */
#ifndef SUITE_TENSORS_H
#define SUITE_TENSORS_H

#include "message.h"

/* tensors of one call: those that the other process keeps too have a key, by which changes are sent back */
struct call_tensor {
	uint32_t key;
	struct tenon_tensor *tensor;
	char *before;
	size_t bytes;
};

struct call_tensors {
	struct call_tensor *list;
	size_t count;
};

/* tensors of earlier calls that something here still refers to: the other process has them under the same keys */
extern struct call_tensors retained;

struct call_tensor *find_key(const struct call_tensors *tensors, uint32_t key);
struct call_tensor *find_tensor(const struct call_tensors *tensors, const DLTensor *dl);
void add_tensor(struct call_tensors *tensors, uint32_t key, struct tenon_tensor *t, size_t bytes);
/* a tensor that a callback may return */
void add_argument(struct call_tensors *tensors, uint32_t key, struct tenon_object *tensor);
/* A result on the host that is not a tensor of the other process: keep it, so that it stays the same object there. */
uint32_t keep_result(const struct tenon_value *v, const DLTensor *dl);
/* Write those of a call, and of earlier ones, whose bytes are others than the other process knows. */
void put_changes(struct message *m, struct call_tensors *tensors);
/* Keep the tensors of a call that something refers to after it, and write their keys. */
void retain_tensors(struct message *m, struct call_tensors *tensors);
void forget_tensors(struct call_tensors *tensors);

#endif /* SUITE_TENSORS_H */
