/* SPDX-License-Identifier: MIT */
/* Run files of Vela as modules on the backend "ethosu", and compare with the outputs of the reference kernels. */
#ifndef TESTS_NPU_MODEL_SESSION_H
#define TESTS_NPU_MODEL_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "tests/npu/networks.h"

/* a file of Vela, and the files of its arguments: inputs, then one output */
struct model {
	const char *folder;
	const char *file;
	const char *arguments[3];
	size_t count;
};

/* A model on a device, with memory for its arguments. */
struct model_session {
	const struct model *model;
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_program *program;
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
	struct tenon_memory *memory[3];
	uint64_t arguments[3];
	size_t bytes;
	uint8_t expected[FILE_MOST];
};

/* Open the device, load the model, and write its inputs. Return: the status of the first call that failed. */
int model_session_try(struct model_session *s, const char *device, const struct model *m);

/* model_session_try(), and fail the test if that failed. */
void model_session_start(struct model_session *s, const char *device, const struct model *m);

/* Submit a run. Return: the status of the submission. */
int model_session_dispatch(struct model_session *s);

/* Run, and wait. Return: the status of the run. */
int model_session_run(struct model_session *s);

/* Assert that the output is that of the reference kernels. */
void model_session_assert_output(struct model_session *s);

/* Release all; also after model_session_try() that failed. */
void model_session_stop(struct model_session *s);

#endif /* TESTS_NPU_MODEL_SESSION_H */
