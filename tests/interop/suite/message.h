/* SPDX-License-Identifier: MIT */
/*
 * The messages of the worker that runs TVM's own tests on Tenon.
 *
 * Requests come in through descriptor 3, answers leave through descriptor 4. Both ends are programs of this folder on
 * one machine, so numbers are in the processor's byte order, and a message that makes no sense ends the process.
 */
#ifndef SUITE_MESSAGE_H
#define SUITE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/tenon.h>

/* what a message is made of while it is read or written */
struct message {
	char *data;
	size_t size;
	size_t at;
};

/* End the process. */
void fail(const char *why) __attribute__((noreturn));
/* realloc() that does not fail */
void *memory(void *old, size_t size);

void put(struct message *m, const void *bytes, size_t size);
void put_byte(struct message *m, char byte);
void put_u32(struct message *m, uint32_t number);
void put_i64(struct message *m, int64_t number);
void put_text(struct message *m, const char *text, size_t size);

const char *get(struct message *m, size_t size);
void get_into(struct message *m, void *to, size_t size);
uint32_t get_u32(struct message *m);
int64_t get_i64(struct message *m);
struct tenon_slice get_text(struct message *m);
/* as a string with a final NUL, to be freed */
char *get_string(struct message *m);

/* Send a message, and free it. */
void send_message(struct message *m);
struct message receive(void);

#endif /* SUITE_MESSAGE_H */
