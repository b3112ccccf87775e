/* SPDX-License-Identifier: MIT */
/* What a test sets in the stand-in for oneDNN, and what it reads from it: failing calls, and objects that were not destroyed. */
#ifndef TESTS_DNNL_FAKE_DNNL_H
#define TESTS_DNNL_FAKE_DNNL_H

/**
 * struct fake_dnnl - what a test sets, and sees, of the stand-in for oneDNN: it computes nothing, and its calls fail on request
 * @major: the version it has
 * @minor: the same
 * @calls: counted from the last time that a test set it to 0
 * @fails_at: the call that fails, 1 for the first; 0 for none
 * @status: what it fails with
 * @live: objects that were made and not destroyed
 * @equal: all layouts are equal, or none: values are converted then
 * @inexact: the processor adds products of bytes in 16 bits
 */
struct fake_dnnl {
	int major, minor;
	long calls, fails_at;
	int status;
	long live;
	int equal;
	int inexact;
};

#endif /* TESTS_DNNL_FAKE_DNNL_H */
