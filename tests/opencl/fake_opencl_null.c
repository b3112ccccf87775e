/* SPDX-License-Identifier: MIT */
/* A library whose launches and arguments do nothing at all: what is left of a launch is ours. */
#define FAKE_NULL
#include "fake_opencl.c"
