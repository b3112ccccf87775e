/* SPDX-License-Identifier: MIT */
/* OpenCL 1.0: no parts of memory, fills, wait lists, callbacks. */
#define FAKE_OLD
#define FAKE_VERSION "OpenCL 1.0 fake"
#include "fake_opencl.c"
