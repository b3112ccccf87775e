/* SPDX-License-Identifier: MIT */
/* Tell how many processors the thread pool may use, and which. */
#ifndef RUNTIME_CORE_PROCESSORS_H
#define RUNTIME_CORE_PROCESSORS_H

#include "lib/plugin_api.h"

#define THREADS_MOST 1024

/* Number of processors that the process may run on; at least 1. */
int processors_allowed(void) TO_PLUGINS(processors_allowed);

/* Number of threads that TENON_NUM_THREADS or TVM_NUM_THREADS asks for; 0 if unset. */
int processors_asked(void);

/* Bind the calling thread to the @n-th allowed processor, modulo their number. */
void processors_pin(int n);

#endif /* RUNTIME_CORE_PROCESSORS_H */
