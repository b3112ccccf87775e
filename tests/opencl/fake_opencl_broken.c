/* SPDX-License-Identifier: MIT */
/* A library that lacks a function which every OpenCL has. */
#define FAKE_BROKEN
#include "fake_opencl.c"
