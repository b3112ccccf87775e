/* SPDX-License-Identifier: MIT */
/* Messages of the worker: writing and reading them. */
#include "message.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUESTS 3
#define ANSWERS	 4

void fail(const char *why)
{
	fprintf(stderr, "worker: %s\n", why);
	_exit(3);
}

void *memory(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	if (!p)
		fail("out of memory");
	return p;
}

void put(struct message *m, const void *bytes, size_t size)
{
	if (m->at + size > m->size) {
		m->size = 2 * (m->at + size);
		m->data = memory(m->data, m->size);
	}
	if (size)
		memcpy(m->data + m->at, bytes, size);
	m->at += size;
}

void put_byte(struct message *m, char byte)
{
	put(m, &byte, 1);
}

void put_u32(struct message *m, uint32_t number)
{
	put(m, &number, sizeof(number));
}

void put_i64(struct message *m, int64_t number)
{
	put(m, &number, sizeof(number));
}

void put_text(struct message *m, const char *text, size_t size)
{
	put_i64(m, (int64_t)size);
	put(m, text, size);
}

const char *get(struct message *m, size_t size)
{
	const char *bytes = m->data + m->at;

	if (size > m->size - m->at)
		fail("a message ends too early");
	m->at += size;
	return bytes;
}

void get_into(struct message *m, void *to, size_t size)
{
	memcpy(to, get(m, size), size);
}

uint32_t get_u32(struct message *m)
{
	uint32_t number;

	get_into(m, &number, sizeof(number));
	return number;
}

int64_t get_i64(struct message *m)
{
	int64_t number;

	get_into(m, &number, sizeof(number));
	return number;
}

struct tenon_slice get_text(struct message *m)
{
	const size_t size = (size_t)get_i64(m);

	return (struct tenon_slice){ get(m, size), size };
}

/* as a string with a final NUL, to be freed */
char *get_string(struct message *m)
{
	const struct tenon_slice text = get_text(m);
	char *string = memory(NULL, text.size + 1);

	memcpy(string, text.data, text.size);
	string[text.size] = '\0';
	return string;
}

static bool transfer(int descriptor, void *bytes, size_t size, bool out)
{
	char *at = bytes;

	while (size) {
		const ssize_t n = out ? write(descriptor, at, size) : read(descriptor, at, size);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

void send_message(struct message *m)
{
	uint64_t size = m->at;

	if (!transfer(ANSWERS, &size, sizeof(size), true) ||
	    !transfer(ANSWERS, m->data, m->at, true))
		_exit(0);
	free(m->data);
}

struct message receive(void)
{
	struct message m = { NULL, 0, 0 };
	uint64_t size;

	if (!transfer(REQUESTS, &size, sizeof(size), false))
		_exit(0);
	m.size = (size_t)size;
	m.data = memory(NULL, m.size);
	if (!transfer(REQUESTS, m.data, m.size, false))
		_exit(0);
	return m;
}
