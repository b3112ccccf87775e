/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_FARM_TRACKER_ASK_H
#define RUNTIME_FARM_TRACKER_ASK_H

/* questions to a tracker, ours or TVM's, over a connection of their own */

#include <tenon/buffer.h>

/**
 * tracker_ask - send a message and wait for the reply
 * @address: "HOST:PORT" or "[HOST]:PORT"
 * @message: the JSON
 * @timeout_ms: for connecting, sending and receiving together
 * @reply: receives the JSON of the reply
 *
 * Return: 0; -TENON_E_VALUE for an address; -TENON_E_IO; -TENON_E_TIMEOUT; -TENON_E_FORMAT for what no
 *	tracker sends; -TENON_E_NOMEM.
 */
int tracker_ask(const char *address, const char *message, uint64_t timeout_ms,
		struct tenon_buffer *reply);

#endif /* RUNTIME_FARM_TRACKER_ASK_H */
