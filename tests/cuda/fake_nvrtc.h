/* SPDX-License-Identifier: MIT */
/* What a test sets in the fake NVRTC, and what it reads from it. */
#ifndef TESTS_CUDA_FAKE_NVRTC_H
#define TESTS_CUDA_FAKE_NVRTC_H

/**
 * struct fake_nvrtc - exported as `fake_nvrtc`
 * @knows: the only architecture it knows, "compute_80"; NULL: all
 * @option: the first of the last compilation
 */
struct fake_nvrtc {
	const char *knows;
	int live;
	int compiles;
	int texts;
	int binaries;
	char option[64];
};

#endif /* TESTS_CUDA_FAKE_NVRTC_H */
