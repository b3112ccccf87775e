/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_REPORT_H
#define TENON_BACKEND_REPORT_H

/**
 * DOC: reports on programs
 *
 * A payload format checks and describes programs that only it knows (tenon_payload_format.check and describe). It puts
 * what it finds into a *report*: the same facts as lines of text for a person, and as members of a tree for a program.
 * Who asks decides which of the two is printed, and how. A format calls the functions below for both; those that are
 * not wanted do nothing.
 *
 * Memory that runs out is the receiver's to report: no call fails.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/string.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_report - what receives facts; the base of the receiver's struct
 * @size: sizeof(struct tenon_report) in the receiver
 * @line: a line of text, without a newline. The first is a sentence about the whole program, the others begin with two
 *	blanks. Control characters are not printed as they are.
 * @open: begin an object, or a list if @is_list, as member @name of what was begun last
 * @close: end what was begun last
 * @number: add a number
 * @text: add a text, which is copied
 * @truth: add true or false
 * @real: add a number that need not be whole
 *
 * Names are NULL for items of a list. A slot is NULL where its facts are not wanted.
 */
struct tenon_report {
	size_t size;
	void (*line)(struct tenon_report *report, const char *text);
	void (*open)(struct tenon_report *report, const char *name, bool is_list);
	void (*close)(struct tenon_report *report);
	void (*number)(struct tenon_report *report, const char *name, int64_t number);
	void (*text)(struct tenon_report *report, const char *name, struct tenon_slice text);
	void (*truth)(struct tenon_report *report, const char *name, bool truth);
	void (*real)(struct tenon_report *report, const char *name, double real);
};

/**
 * tenon_report_line - add a line of text
 * @report: the report
 * @format: as of printf
 */
TENON_API void tenon_report_line(struct tenon_report *report, const char *format, ...)
	TENON_PRINTF(2, 3);

/** tenon_report_object - begin an object; NULL for @name in a list */
static inline void tenon_report_object(struct tenon_report *report, const char *name)
{
	if (report->open)
		report->open(report, name, false);
}

/** tenon_report_list - begin a list; NULL for @name in a list */
static inline void tenon_report_list(struct tenon_report *report, const char *name)
{
	if (report->open)
		report->open(report, name, true);
}

/** tenon_report_close - end the object or list that was begun last */
static inline void tenon_report_close(struct tenon_report *report)
{
	if (report->close)
		report->close(report);
}

/** tenon_report_number - add a number; NULL for @name in a list */
static inline void tenon_report_number(struct tenon_report *report, const char *name,
				       int64_t number)
{
	if (report->number)
		report->number(report, name, number);
}

/** tenon_report_text - add a text; NULL for @name in a list */
static inline void tenon_report_text(struct tenon_report *report, const char *name,
				     struct tenon_slice text)
{
	if (report->text)
		report->text(report, name, text);
}

/** tenon_report_truth - add true or false; NULL for @name in a list */
static inline void tenon_report_truth(struct tenon_report *report, const char *name, bool truth)
{
	if (report->truth)
		report->truth(report, name, truth);
}

/**
 * tenon_report_real - add a number that need not be whole
 * @report: the report; one of a receiver whose struct ends before this slot does not take it
 * @name: NULL in a list
 * @real: the number
 */
static inline void tenon_report_real(struct tenon_report *report, const char *name, double real)
{
	if (report->size > offsetof(struct tenon_report, real) && report->real)
		report->real(report, name, real);
}

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_REPORT_H */
