/* SPDX-License-Identifier: MIT */
/* Read the exchanges with TVM's servers and clients that were recorded to tests/remote/data. */
#ifndef TESTS_REMOTE_RECORDING_H
#define TESTS_REMOTE_RECORDING_H

#include <stdint.h>
#include <tenon/value.h>

extern const char *const recordings[];
#define RECORDINGS 9

struct recording {
	struct tenon_slice requests; /* all bytes of the client */
	struct tenon_slice replies;
	size_t request_start; /* first byte behind the handshake */
	size_t reply_start;
};

/* Read a recording; recording_free() frees it. */
void recording_read(struct recording *r, const char *name);
void recording_free(struct recording *r);

/* The packet at *@at, without its length; *@at moves behind it. An empty slice at the end. */
struct tenon_slice recorded_packet(struct tenon_slice all, size_t *at);

#endif /* TESTS_REMOTE_RECORDING_H */
