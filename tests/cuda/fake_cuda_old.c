/* SPDX-License-Identifier: MIT */
/* The driver of CUDA 11.1: no stream-ordered memory, no cuLaunchKernelEx, graphs by their first symbols. */
#define FAKE_OLD
#define FAKE_VERSION 11010
#include "fake_cuda.c"
