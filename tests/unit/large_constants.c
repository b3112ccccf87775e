/* SPDX-License-Identifier: MIT */
/* A library with constants of 9 MiB, not in pages of zeros: library_pages_test copies them. */
#define SIZE (9 << 20)

extern const unsigned char large_constants[SIZE];
const unsigned char large_constants[SIZE] = { [0] = 1, [SIZE / 2] = 7, [SIZE - 1] = 2 };
