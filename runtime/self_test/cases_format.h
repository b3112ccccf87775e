/* SPDX-License-Identifier: MIT */
/* The form of cases in a file: what link/ writes and this room reads. */
#ifndef RUNTIME_SELF_TEST_CASES_FORMAT_H
#define RUNTIME_SELF_TEST_CASES_FORMAT_H

/*
 * The section ".tenon.cases" of a shared object, which no loader maps and TVM ignores:
 *
 *	u64 size of what follows
 *	u32 version, 1
 *	32 bytes SHA-256 of what follows
 *	u64 count, and for each case
 *		string name
 *		u64 bits of rtol, of atol, u64 steps
 *		inputs, outputs: each a u64 count and values
 *
 *	value: string name, u8 code, u8 bits, u16 lanes, u32 form, u32 ndim, ndim u64, string contents: the
 *	elements in CASES_DATA, their SHA-256 in CASES_HASH
 *
 * A string is a u64 length and bytes; all numbers are little-endian, and so are the elements.
 */

#define CASES_SECTION ".tenon.cases"
#define CASES_VERSION 1

enum cases_form { CASES_DATA = 0, CASES_HASH = 1 };

/* bytes of the smallest value and case */
#define CASES_VALUE_LEAST 28
#define CASES_CASE_LEAST  48

/* limits: a file has a few cases of a few values */
#define CASES_MOST	  1024
#define CASES_VALUES_MOST 4096
#define CASES_DIMENSIONS  32

#endif /* RUNTIME_SELF_TEST_CASES_FORMAT_H */
