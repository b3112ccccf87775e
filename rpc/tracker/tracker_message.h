/* SPDX-License-Identifier: MIT */
/* Messages that servers and clients send to a tracker. */
#ifndef RPC_TRACKER_TRACKER_MESSAGE_H
#define RPC_TRACKER_TRACKER_MESSAGE_H

/*
 * After the four bytes of TRACKER_MAGIC both sides send frames: a length and JSON. A message is a list that
 * begins with its code. Texts of a message come from any machine that can connect: they are UTF-8 without
 * control characters, and have limits.
 */

#include <stdbool.h>
#include <stdint.h>
#include <tenon/value.h>

#define TRACKER_MAGIC 0x2f271

/* largest frame that a tracker accepts; messages have a few hundred bytes */
#define TRACKER_FRAME_MOST (64 << 10)
/* longest key, host, match key and name of a user */
#define TRACKER_TEXT_MOST 1024

/** enum tracker_code - what a message asks for; the numbers are TVM's */
enum tracker_code {
	TRACKER_PING = 1,
	TRACKER_STOP = 2,
	TRACKER_PUT = 3,     /* a server is free */
	TRACKER_REQUEST = 4, /* a client wants one */
	TRACKER_UPDATE = 5,  /* key and address of a server */
	TRACKER_SUMMARY = 6,
	TRACKER_PENDING = 7, /* which of my match keys were not handed out? */
};

/**
 * struct tracker_message - a message
 * @code: enum tracker_code
 * @key: PUT, REQUEST, UPDATE: the key; empty when it is absent
 * @match_key: PUT
 * @host: PUT, UPDATE: the address of the server; empty for that of the connection
 * @port: PUT, UPDATE; 0 when it is absent
 * @user: REQUEST
 * @priority: REQUEST; larger ones first
 * @health: UPDATE: why the server does not offer itself; an extension
 * @has_health: UPDATE: whether @health is given
 * @texts: memory of the texts
 */
struct tracker_message {
	enum tracker_code code;
	struct tenon_slice key;
	struct tenon_slice match_key;
	struct tenon_slice host;
	uint16_t port;
	struct tenon_slice user;
	double priority;
	struct tenon_slice health;
	bool has_health;
	char *texts;
};

/**
 * tracker_message_read - read the JSON of a frame
 * @text: the JSON
 * @m: receives the message; tracker_message_fini() frees it
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_VALUE, -TENON_E_NOMEM, and nothing to free.
 */
int tracker_message_read(struct tenon_slice text, struct tracker_message *m);

/** tracker_message_fini - free the texts */
void tracker_message_fini(struct tracker_message *m);

#endif /* RPC_TRACKER_TRACKER_MESSAGE_H */
