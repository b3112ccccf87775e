/* SPDX-License-Identifier: MIT */
/* tenon rpc serve --sandbox-learn: name the system calls of sessions that are not on the sandbox's list, each once. */
#include <stdlib.h>
#include <sys/syscall.h>

#include "rpc/server/notification.h"
#include "rpc/server/server_state.h"

/* made by make: { SYS_read, "read" }, and so on */
static const struct {
	int number;
	const char *name;
} names[] = {
#include "generated/call_names.h"
};

static const char *name_of(int number)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].number == number)
			return names[i].name;
	return "a call without a name";
}

/* The argument that says what a call is for. */
static uint32_t detail_of(const struct notification *n)
{
	switch (n->number) {
	case SYS_ioctl:
	case SYS_fcntl:
		return (uint32_t)n->arguments[1];
	case SYS_prctl:
	case SYS_clone:
#ifdef SYS_socket
	case SYS_socket:
	case SYS_socketpair:
#endif
		return (uint32_t)n->arguments[0];
	}
	return 0;
}

static bool is_new(struct server *s, const struct notification *n)
{
	const uint64_t key = (uint64_t)(uint32_t)n->number << 32 | detail_of(n);
	unsigned int i;

	for (i = 0; i < s->learned_count; i++)
		if (s->learned[i] == key)
			return false;
	if (s->learned_count == LEARNED_MOST)
		return false;
	s->learned[s->learned_count++] = key;
	return true;
}

void peer_learn(struct server *s, const struct peer *p, const struct notification *n)
{
	if (is_new(s, n))
		server_say(s,
			   "session %llu: the sandbox's list lacks %s (number %d, arguments "
			   "0x%llx 0x%llx 0x%llx 0x%llx)",
			   (unsigned long long)p->serial, name_of(n->number), n->number,
			   (unsigned long long)n->arguments[0], (unsigned long long)n->arguments[1],
			   (unsigned long long)n->arguments[2],
			   (unsigned long long)n->arguments[3]);
}
