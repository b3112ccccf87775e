/* SPDX-License-Identifier: MIT */
/* Untrusted text, sizes and times for people. */
#ifndef TOOLS_TEXT_TEXT_H
#define TOOLS_TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tenon/buffer.h>

/*
 * Names in files, replies of models and messages about them are written by strangers. Characters that
 * a terminal obeys (C0, C1), that change the direction of text or hide, and bytes that are no UTF-8
 * become "?"; see lib/printable_character.h.
 */

/**
 * printable_append - append text from an untrusted file
 * @out: buffer
 * @text: any bytes
 * @most: truncate after so many bytes, with "…"
 */
void printable_append(struct tenon_buffer *out, struct tenon_slice text, size_t most);

/** printable_lines - print text of several lines: newlines and tabs are kept */
void printable_lines(struct tenon_slice text, FILE *out);

/** printable_print - printable_lines() of a string, such as a message */
void printable_print(const char *text, FILE *out);

/** printable_message - printable_print() with blanks before each further line: the name of a file may have newlines */
void printable_message(const char *text, FILE *out);

/** printable_format - print a formatted line, such as a result with the name of a file: no newline but the last is kept */
void __attribute__((format(printf, 2, 3))) printable_format(FILE *out, const char *format, ...);

/** printable_cell - print a name from a file, padded with blanks to @width columns */
void printable_cell(struct tenon_slice text, int width, FILE *out);

/** printable_width - columns of a text, one for each character */
size_t printable_width(const char *text);

#define SIZE_TEXT 24

/** size_text - format a size with three digits and its unit: "612 KiB", "1.2 MiB" */
const char *size_text(uint64_t bytes, char text[SIZE_TEXT]);

/**
 * struct timing - statistics of run times, in nanoseconds
 * @min: the fastest
 * @median: median; the lower of two
 * @p90: 90th percentile
 * @max: the slowest
 */
struct timing {
	uint64_t min, median, p90, max;
};

/**
 * timing_summary - compute the statistics
 * @ns: @count times, at least one; sorted in place
 * @count: how many
 */
struct timing timing_summary(uint64_t *ns, size_t count);

#define TIMING_TEXT 32

/** timing_text - format a time with three digits and its unit: "0.41 ms", "12.3 µs" */
const char *timing_text(uint64_t ns, char text[TIMING_TEXT]);

#endif /* TOOLS_TEXT_TEXT_H */
