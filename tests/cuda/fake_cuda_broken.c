/* SPDX-License-Identifier: MIT */
/* A library that lacks a function without which nothing goes. */
#define FAKE_BROKEN
#include "fake_cuda.c"
