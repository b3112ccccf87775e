/* SPDX-License-Identifier: MIT */
/* Calls in both directions between compiled code in this process and functions of TVM's tests in the other one. */
#ifndef SUITE_CALLS_H
#define SUITE_CALLS_H

#include "message.h"

/* Call a function, and send what it returned. */
void call(struct message *m);

/* a function of the other process; calls of it go there */
struct tenon_function *callback(uint32_t number);

/* Write the error of this thread. */
void put_error(struct message *m);

/* Serve requests until the answer to a callback comes: 0 with a value, 1 with an error, to be read from @reply (worker.c). */
int serve(struct message *reply);

#endif /* SUITE_CALLS_H */
