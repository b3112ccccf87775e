/* SPDX-License-Identifier: MIT */
/* A session with a network of Vela on ethosu://accel/0, which is the kernel's model (a named fake). */
#ifndef TESTS_NPU_ACCEL_SESSION_H
#define TESTS_NPU_ACCEL_SESSION_H

#include "tests/npu/model_session.h"

/* with region 3 for both tensors, two inputs that share it, and two models in one file */
extern const struct model accel_models[3];

/** accel_session_begin - before a case: the model of the kernel has no jobs */
int accel_session_begin(void **state);

/** accel_session_begin_all - before a suite: the library's system calls are those of the model */
int accel_session_begin_all(void **state);

/** accel_session_start - open the device, and a network on it; nothing has been copied */
void accel_session_start(struct model_session *s, const struct model *m);

/** accel_session_stop - end it; the library keeps the device open, and nothing else may be left of it */
void accel_session_stop(struct model_session *s);

/** accel_session_assert_only_the_node - test that the model of the kernel has one open file, and no buffer */
void accel_session_assert_only_the_node(void);

/** accel_session_hold_jobs - jobs that are submitted from now on do not end before npu_end_jobs() */
void accel_session_hold_jobs(const struct model_session *s);

/** accel_session_assert_pending - test that what was submitted has not ended */
void accel_session_assert_pending(const struct model_session *s);

#endif /* TESTS_NPU_ACCEL_SESSION_H */
