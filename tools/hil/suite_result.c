/* SPDX-License-Identifier: MIT */
/* Read what a suite printed line by line, and conclude its verdict. */
#include "tools/hil/suite_result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "tools/text/text.h"

#define NAME_MOST 256
#define TEXT_MOST 4096

/*
 * @before: lines since the last result, the explanation of the next one
 * @failed: the last result is a failure, and "#" lines after it belong to it
 * @planned: cases in the plan; -1 without one
 */
struct reader {
	struct suite_result *out;
	const char *before;
	bool failed;
	int64_t planned;
	size_t results;
	bool bailed_out;
	char skip_all[NAME_MOST];
};

/* ---- text */

static struct tenon_slice trimmed(const char *start, const char *end)
{
	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	while (end > start && strchr(" \t\r\n", end[-1]))
		end--;
	return (struct tenon_slice){ start, (size_t)(end - start) };
}

/* A printable copy; the end of a long text says more than its start, so that is kept. */
static char *copy(struct tenon_slice text, size_t most, bool lines)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;

	while (text.size && (*text.data == '\n' || *text.data == '\r')) {
		text.data++;
		text.size--;
	}
	if (text.size > most) {
		text.data += text.size - most;
		text.size = most;
	}
	while (text.size) {
		const char *newline = lines ? memchr(text.data, '\n', text.size) : NULL;
		size_t size = newline ? (size_t)(newline - text.data) : text.size;

		printable_append(&out, trimmed(text.data, text.data + size), most);
		if (newline)
			tenon_buffer_u8(&out, '\n');
		size += newline != NULL;
		text.data += size;
		text.size -= size;
	}
	if (tenon_buffer_u8(&out, 0)) {
		tenon_buffer_fini(&out);
		return NULL;
	}
	return out.data;
}

static struct tenon_slice last_line(struct tenon_slice text)
{
	const char *end = text.data + text.size, *start;

	while (end > text.data && strchr("\r\n \t", end[-1]))
		end--;
	for (start = end; start > text.data && start[-1] != '\n'; start--)
		;
	return trimmed(start, end);
}

/* ---- cases */

static int add_case(struct suite_result *out, struct tenon_slice name, enum verdict verdict,
		    struct tenon_slice text)
{
	struct suite_case *more, new = { .verdict = verdict };

	if (out->count == CASES_MOST) {
		out->truncated = true;
		return 0;
	}
	/* Doubling: reallocate when the count is a power of two. */
	if (!(out->count & (out->count - 1))) {
		more = realloc(out->cases, (out->count ? 2 * out->count : 1) * sizeof(*more));
		if (!more)
			return tenon_error(-TENON_E_NOMEM, "no memory for results");
		out->cases = more;
	}
	new.name = copy(name, NAME_MOST, false);
	if (text.size)
		new.text = copy(text, TEXT_MOST, verdict != VERDICT_SKIP);
	if (!new.name || (text.size && !new.text)) {
		free(new.name);
		free(new.text);
		return tenon_error(-TENON_E_NOMEM, "no memory for results");
	}
	out->cases[out->count++] = new;
	return 0;
}

static int add_fault(struct suite_result *out, const char *name, const char *format, ...)
	TENON_PRINTF(3, 4);

static int add_fault(struct suite_result *out, const char *name, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return add_case(out, tenon_slice_of(name), VERDICT_FAIL, tenon_slice_of(text));
}

/* ---- lines */

static bool starts_with(struct tenon_slice line, const char *word)
{
	size_t size = strlen(word);

	return line.size >= size && !strncasecmp(line.data, word, size);
}

/* A number of at most nine digits; moves @line behind it. */
static bool read_number(struct tenon_slice *line, int64_t *out)
{
	size_t digits = 0;

	*out = 0;
	while (digits < line->size && digits < 9 && line->data[digits] >= '0' &&
	       line->data[digits] <= '9')
		*out = *out * 10 + (line->data[digits++] - '0');
	line->data += digits;
	line->size -= digits;
	return digits > 0;
}

/* The directive behind "#": its word is cut from @rest. KTAP's XFAIL and TAP's TODO do not fail. */
static enum verdict directive(struct tenon_slice *rest, bool ok)
{
	static const struct {
		const char *word;
		enum verdict verdict;
	} words[] = {
		{ "SKIP", VERDICT_SKIP },  { "TODO", VERDICT_SKIP },
		{ "XFAIL", VERDICT_SKIP }, { "TIMEOUT", VERDICT_TIMEOUT },
		{ "ERROR", VERDICT_FAIL },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t size = strlen(words[i].word);

		if (!starts_with(*rest, words[i].word))
			continue;
		*rest = trimmed(rest->data + size, rest->data + rest->size);
		return words[i].verdict;
	}
	return ok ? VERDICT_PASS : VERDICT_FAIL;
}

static int read_case(struct reader *r, struct tenon_slice line, const char *start, bool ok)
{
	const char *end = line.data + line.size, *mark;
	struct tenon_slice name, reason = { "", 0 };
	enum verdict verdict = ok ? VERDICT_PASS : VERDICT_FAIL;

	for (mark = line.data; mark < end && *mark != '#'; mark++)
		;
	name = trimmed(line.data, mark);
	if (name.size && *name.data == '-')
		name = trimmed(name.data + 1, name.data + name.size);
	if (mark < end) {
		reason = trimmed(mark + 1, end);
		verdict = directive(&reason, ok);
	}
	if (verdict == VERDICT_FAIL || verdict == VERDICT_TIMEOUT)
		reason = (struct tenon_slice){ r->before, (size_t)(start - r->before) };
	/* cmocka puts the name where the reason belongs, and prints the reason before. */
	if (verdict == VERDICT_SKIP && !name.size) {
		name = reason;
		reason = last_line((struct tenon_slice){ r->before, (size_t)(start - r->before) });
	}
	if (!name.size)
		name = tenon_slice_of("case without a name");
	r->results++;
	r->before = end;
	r->failed = verdict == VERDICT_FAIL || verdict == VERDICT_TIMEOUT;
	return add_case(r->out, name, verdict, reason);
}

static void read_plan(struct reader *r, struct tenon_slice line)
{
	int64_t planned;

	if (!read_number(&line, &planned))
		return;
	r->planned = (r->planned < 0 ? 0 : r->planned) + planned;
	line = trimmed(line.data, line.data + line.size);
	if (!planned && line.size && *line.data == '#') {
		struct tenon_slice why = trimmed(line.data + 1, line.data + line.size);

		directive(&why, true);
		snprintf(r->skip_all, sizeof(r->skip_all), "%.*s", (int)why.size, why.data);
	}
}

/* KTAP explains a failure before its line, cmocka behind it. */
static int add_explanation(struct reader *r, struct tenon_slice line)
{
	struct suite_case *failed = &r->out->cases[r->out->count - 1];
	char *addition, *text;
	int size;

	r->before = line.data + line.size;
	if (r->out->truncated || (failed->text && strlen(failed->text) > TEXT_MOST))
		return 0;
	addition = copy(line, NAME_MOST * 2, false);
	if (!addition)
		return tenon_error(-TENON_E_NOMEM, "no memory for results");
	size = asprintf(&text, "%s%s\n", failed->text ? failed->text : "", addition);
	free(addition);
	if (size < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for results");
	free(failed->text);
	failed->text = text;
	return 0;
}

/* Indented lines are results of subtests; the line after them has the result of the whole. */
static int read_line(struct reader *r, struct tenon_slice line)
{
	const char *start = line.data;
	bool ok = starts_with(line, "ok ");
	int64_t number;

	if (r->failed && line.size && *start == '#')
		return add_explanation(r, line);
	r->failed = false;
	if (ok || starts_with(line, "not ok ")) {
		line.data += ok ? 3 : 7;
		line.size -= ok ? 3 : 7;
		if (read_number(&line, &number))
			return read_case(r, line, start, ok);
	}
	if (starts_with(line, "1..")) {
		line.data += 3;
		line.size -= 3;
		read_plan(r, line);
	}
	if (starts_with(line, "Bail out!"))
		r->bailed_out = true;
	return 0;
}

static int read_lines(struct reader *r, struct tenon_slice output)
{
	const char *end = output.data + output.size;

	for (const char *at = output.data; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		int err = read_line(r, (struct tenon_slice){ at, (size_t)(stop - at) });

		if (err)
			return err;
		at = newline ? newline + 1 : end;
	}
	return 0;
}

/* ---- the suite */

static void describe_ending(const struct suite_ending *ending, char text[64])
{
	if (ending->stopped)
		snprintf(text, 64, "stopped after %lld s", (long long)ending->deadline);
	else if (ending->status > 128)
		snprintf(text, 64, "killed by signal %d", ending->status - 128);
	else
		snprintf(text, 64, "exit status %d", ending->status);
}

/* Output without TAP: one case, by the exit status. */
static int read_status(struct tenon_slice output, const struct suite_ending *ending,
		       struct suite_result *out)
{
	struct tenon_slice line = last_line(output);
	char text[64];

	describe_ending(ending, text);
	if (!ending->stopped && (ending->status == 77 || ending->status == 4))
		return add_case(out, tenon_slice_of("all"), VERDICT_SKIP, line);
	if (!ending->stopped && (ending->status == 126 || ending->status == 127))
		return suite_result_set(out, VERDICT_UNABLE,
					"the board cannot execute it (%s): %.*s", text,
					(int)line.size, line.data);
	if (!ending->stopped && !ending->status)
		return add_case(out, tenon_slice_of("all"), VERDICT_PASS,
				(struct tenon_slice){ 0 });
	return add_case(out, tenon_slice_of("all"),
			ending->stopped ? VERDICT_TIMEOUT : VERDICT_FAIL,
			output.size ? output : tenon_slice_of(text));
}

/* What contradicts the results: a plan that was not kept, an exit status. */
static int add_faults(struct reader *r, const struct suite_ending *ending)
{
	struct suite_result *out = r->out;
	char text[64];
	int err = 0;

	describe_ending(ending, text);
	if (ending->stopped)
		return add_case(out, tenon_slice_of("deadline"), VERDICT_TIMEOUT,
				tenon_slice_of(text));
	if (r->planned < 0)
		err = add_fault(out, "plan", "results but no plan; %s", text);
	else if ((uint64_t)r->planned != r->results)
		err = add_fault(out, "plan", "the plan has %lld cases, %zu results came; %s",
				(long long)r->planned, r->results, text);
	if (!err && r->bailed_out)
		err = add_fault(out, "bail out", "the suite gave up; %s", text);
	if (!err && ending->status && !suite_result_count(out, VERDICT_FAIL) &&
	    !suite_result_count(out, VERDICT_TIMEOUT))
		err = add_fault(out, "exit", "%s", text);
	return err;
}

static int conclude(struct suite_result *out)
{
	size_t failed = suite_result_count(out, VERDICT_FAIL);
	size_t stopped = suite_result_count(out, VERDICT_TIMEOUT);
	size_t passed = suite_result_count(out, VERDICT_PASS);

	if (out->verdict == VERDICT_UNABLE)
		return 0;
	out->verdict = failed ? VERDICT_FAIL : stopped ? VERDICT_TIMEOUT : VERDICT_PASS;
	if (!failed && !stopped && !passed && out->count) {
		out->verdict = VERDICT_SKIP;
		if (out->cases[0].text)
			out->reason = strdup(out->cases[0].text);
	}
	return 0;
}

int suite_result_read(struct tenon_slice output, const struct suite_ending *ending,
		      struct suite_result *out)
{
	struct reader r = { .out = out, .before = output.data, .planned = -1 };
	int err;

	suite_result_fini(out);
	out->verdict = VERDICT_PASS;
	err = read_lines(&r, output);
	if (!err && !r.planned && !r.results && r.skip_all[0] && !ending->status)
		err = add_case(out, tenon_slice_of("all"), VERDICT_SKIP,
			       tenon_slice_of(r.skip_all));
	else if (!err && !r.results && r.planned < 0 && !r.bailed_out)
		err = read_status(output, ending, out);
	else if (!err)
		err = add_faults(&r, ending);
	return err ? err : conclude(out);
}

int suite_result_set(struct suite_result *result, enum verdict verdict, const char *format, ...)
{
	va_list args;
	char *text;
	int size;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	suite_result_fini(result);
	/* without memory for the reason, too */
	result->verdict = verdict;
	if (size < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for a result");
	result->reason = copy(tenon_slice_of(text), TEXT_MOST, false);
	free(text);
	return result->reason ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a result");
}

void suite_result_fini(struct suite_result *result)
{
	for (size_t i = 0; i < result->count; i++) {
		free(result->cases[i].name);
		free(result->cases[i].text);
	}
	free(result->cases);
	free(result->reason);
	result->cases = NULL;
	result->count = 0;
	result->reason = NULL;
}

size_t suite_result_count(const struct suite_result *result, enum verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < result->count; i++)
		count += result->cases[i].verdict == verdict;
	return count;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = { "pass", "skip", "fail", "timeout", "unable", "error" };

	return names[verdict];
}
