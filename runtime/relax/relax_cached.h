/* SPDX-License-Identifier: MIT */
/* Values that a machine keeps between runs: what vm.builtin.cuda_graph.get_cached_alloc returned. */
#ifndef RUNTIME_RELAX_RELAX_CACHED_H
#define RUNTIME_RELAX_RELAX_CACHED_H

#include "runtime/relax/relax.h"

/* Get a kept value; NULL if there is none with this number. */
const struct tenon_value *relax_cached(const struct relax_vm *vm, int64_t index);

/* Keep a value, of which the machine gets its own reference. On failure @value is released. */
int relax_cache_keep(struct relax_vm *vm, int64_t index, struct tenon_value *value);

/* Release all. */
void relax_cached_free(struct relax_vm *vm);

#endif /* RUNTIME_RELAX_RELAX_CACHED_H */
