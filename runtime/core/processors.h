/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_PROCESSORS_H
#define RUNTIME_CORE_PROCESSORS_H

/* How many processors the process may run on; at least 1. */
int processors_allowed(void);

/* How many threads the environment asks for (TENON_NUM_THREADS, TVM_NUM_THREADS); 0 for no word. */
int processors_asked(void);

/* Bind the calling thread to the @n-th processor that it may run on, counted around. */
void processors_pin(int n);

#endif /* RUNTIME_CORE_PROCESSORS_H */
