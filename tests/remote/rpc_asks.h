/* SPDX-License-Identifier: MIT */
/*
 * Make each request that a client has of the session in rpc_session.h, for tests that let one call in it fail.
 *
 * What came out changes @facts, in the same way each time. Return: 0, or a status with a message.
 */
#ifndef TESTS_REMOTE_RPC_ASKS_H
#define TESTS_REMOTE_RPC_ASKS_H

#include <stdint.h>

/* a device, values, objects, files, and a module */
int rpc_ask_all(uint64_t *facts);

/* a device alone */
int rpc_ask_device(uint64_t *facts);

/* a model of each kind of executor */
int rpc_run_models(uint64_t *facts);

#endif /* TESTS_REMOTE_RPC_ASKS_H */
