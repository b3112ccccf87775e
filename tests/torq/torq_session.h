/* SPDX-License-Identifier: MIT */
/*
 * Run networks on the device torq:0 with the inputs of their record, and compare with what the vendor's model gave.
 *
 * The networks are those of tests/torq/data, or of the folder $TORQ_DATA.
 */
#ifndef TESTS_TORQ_TORQ_SESSION_H
#define TESTS_TORQ_TORQ_SESSION_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/device.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#define TORQ_FILE_MOST	 16384
#define TORQ_NETWORKS	 5
#define TORQ_TENSORS	 3
#define TORQ_TENSOR_MOST 1024

/* a network; @sizes: bytes of its inputs, and then of its output */
struct torq_network_data {
	const char *name;
	size_t sizes[TORQ_TENSORS];
	size_t count;
};

extern const struct torq_network_data torq_networks[TORQ_NETWORKS];

struct torq_session {
	const struct torq_network_data *data;
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_program *program;
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
	struct tenon_memory *memory[TORQ_TENSORS];
	uint64_t arguments[TORQ_TENSORS];
};

/* Read a file of a network into @bytes, of TORQ_FILE_MOST; fails the test. Return: its size. */
size_t torq_data(const struct torq_network_data *data, const char *suffix, uint8_t *bytes);

/* Read a tensor of a network: an input, or the output that the vendor's model gave. */
void torq_tensor(const struct torq_network_data *data, size_t index, uint8_t *bytes);

/* The kernel's model is at its start, and replays this network. */
void torq_begin(const struct torq_network_data *data);

/* Open the device, load the network, and write its inputs. Return: the status of the first call that failed. */
int torq_session_try(struct torq_session *s, const struct torq_network_data *data);

/* torq_begin() and torq_session_try(); fails the test if that failed. */
void torq_session_start(struct torq_session *s, const struct torq_network_data *data);

/* Take another piece of memory for an argument; an input is written to it. */
int torq_session_put(struct torq_session *s, size_t index, struct tenon_memory *memory);

/* Run, and wait. Return: the status. */
int torq_session_run(struct torq_session *s);

/* The output is what the vendor's model gave. */
void torq_session_assert_output(const struct torq_session *s);

/* Release all, also after torq_session_try() that failed; nothing is left. */
void torq_session_stop(struct torq_session *s);

#endif /* TESTS_TORQ_TORQ_SESSION_H */
