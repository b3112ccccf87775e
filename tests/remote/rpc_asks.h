/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REMOTE_RPC_ASKS_H
#define TESTS_REMOTE_RPC_ASKS_H

/*
 * What a client asks of the session in rpc_session.h. What came out changes @facts, in the same way each time.
 *
 * Return: 0, or a status with a message.
 */

#include <stdint.h>

/* a device, values, objects, files, and a module */
int rpc_ask_all(uint64_t *facts);

/* a device alone */
int rpc_ask_device(uint64_t *facts);

/* a model of each kind of executor */
int rpc_run_models(uint64_t *facts);

#endif /* TESTS_REMOTE_RPC_ASKS_H */
