/* SPDX-License-Identifier: MIT */
/* Write KTAP and JUnit files. */
#include "tools/hil/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "tools/file/file.h"
#include "tools/file/output.h"

/* ---- KTAP */

/* Lines of an explanation, each a comment. */
static void ktap_text(struct tenon_buffer *out, const char *indent, const char *text)
{
	while (text && *text) {
		size_t size = strcspn(text, "\n");

		/* A comment of the suite needs no second mark. */
		tenon_buffer_printf(out, "%s%s", indent, *text == '#' ? "" : "# ");
		tenon_buffer_append(out, text, size);
		tenon_buffer_u8(out, '\n');
		text += size + (text[size] == '\n');
	}
}

/* A description must not have the mark of a directive. */
static void ktap_name(struct tenon_buffer *out, const char *name)
{
	for (; *name; name++)
		tenon_buffer_u8(out, (uint8_t)(*name == '#' ? '_' : *name));
}

static const char *ktap_directive(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_SKIP:
	case VERDICT_UNABLE:
		return " # SKIP";
	case VERDICT_TIMEOUT:
		return " # TIMEOUT";
	case VERDICT_ERROR:
		return " # ERROR";
	default:
		return "";
	}
}

static bool is_ok(enum verdict verdict)
{
	return verdict == VERDICT_PASS || verdict == VERDICT_SKIP || verdict == VERDICT_UNABLE;
}

static void ktap_result(struct tenon_buffer *out, size_t number, const char *name,
			enum verdict verdict, const char *reason)
{
	tenon_buffer_printf(out, "%s %zu ", is_ok(verdict) ? "ok" : "not ok", number);
	ktap_name(out, name);
	tenon_buffer_printf(out, "%s", ktap_directive(verdict));
	if (reason && verdict != VERDICT_PASS && verdict != VERDICT_FAIL) {
		tenon_buffer_u8(out, ' ');
		ktap_name(out, reason);
	}
	tenon_buffer_u8(out, '\n');
}

static void ktap_cases(struct tenon_buffer *out, const struct suite_result *result)
{
	tenon_buffer_printf(out, "  KTAP version 1\n  1..%zu\n", result->count);
	for (size_t i = 0; i < result->count; i++) {
		const struct suite_case *c = &result->cases[i];

		if (c->verdict == VERDICT_FAIL || c->verdict == VERDICT_TIMEOUT)
			ktap_text(out, "  ", c->text);
		tenon_buffer_printf(out, "  ");
		ktap_result(out, i + 1, c->name, c->verdict,
			    c->verdict == VERDICT_SKIP ? c->text : NULL);
	}
}

/* The facts to be cut into lines, NULL if there are none; without memory for the copy, the report fails. */
static char *copy_of_facts(const struct session *s, struct tenon_buffer *out)
{
	char *facts;

	if (!report_has_facts(s))
		return NULL;
	facts = strndup(s->facts.data, s->facts.size);
	if (!facts)
		out->status = -TENON_E_NOMEM;
	return facts;
}

static void ktap(const struct session *s, struct tenon_buffer *out)
{
	char *facts = copy_of_facts(s, out);

	tenon_buffer_printf(out, "KTAP version 1\n");
	ktap_text(out, "", facts);
	free(facts);
	tenon_buffer_printf(out, "# resets: %u\n1..%zu\n", s->resets, s->count);
	for (size_t i = 0; i < s->count; i++) {
		const struct session_suite *suite = &s->suites[i];
		const struct suite_result *result = &suite->result;

		if (result->count)
			ktap_cases(out, result);
		if (result->sha256[0])
			tenon_buffer_printf(out, "# sha256: %s\n", result->sha256);
		if (i)
			tenon_buffer_printf(out, "# attempts: %u, seconds: %.2f\n",
					    result->attempts, result->seconds);
		if (result->verdict == VERDICT_FAIL)
			ktap_text(out, "", result->reason);
		ktap_result(out, i + 1, suite->definition.name, result->verdict, result->reason);
	}
}

/* ---- JUnit */

/* XML forbids most control characters even as references; printable text has none but newlines. */
static void xml_text(struct tenon_buffer *out, const char *text)
{
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '&')
			tenon_buffer_printf(out, "&amp;");
		else if (c == '<')
			tenon_buffer_printf(out, "&lt;");
		else if (c == '>')
			tenon_buffer_printf(out, "&gt;");
		else if (c == '"')
			tenon_buffer_printf(out, "&quot;");
		else
			tenon_buffer_u8(out, (c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f ? '?'
											       : c);
	}
}

static void xml_case(struct tenon_buffer *out, const char *suite, const char *name,
		     enum verdict verdict, const char *text, double seconds)
{
	const char *element = verdict == VERDICT_ERROR				     ? "error"
			      : verdict == VERDICT_SKIP || verdict == VERDICT_UNABLE ? "skipped"
										     : "failure";

	tenon_buffer_printf(out, "    <testcase classname=\"");
	xml_text(out, suite);
	tenon_buffer_printf(out, "\" name=\"");
	xml_text(out, name);
	tenon_buffer_printf(out, "\" time=\"%.3f\"", seconds);
	if (verdict == VERDICT_PASS) {
		tenon_buffer_printf(out, "/>\n");
		return;
	}
	tenon_buffer_printf(out, "><%s message=\"%s\"", element,
			    verdict == VERDICT_SKIP ? "" : verdict_name(verdict));
	/* The reason of a skip belongs to the attribute, which readers show. */
	if (verdict == VERDICT_SKIP || verdict == VERDICT_UNABLE) {
		out->size--;
		tenon_buffer_printf(out, "%s", verdict == VERDICT_UNABLE ? ": " : "");
		xml_text(out, text);
		tenon_buffer_printf(out, "\"/></testcase>\n");
		return;
	}
	tenon_buffer_u8(out, '>');
	xml_text(out, text);
	tenon_buffer_printf(out, "</%s></testcase>\n", element);
}

static size_t xml_count(const struct suite_result *result, enum verdict a, enum verdict b)
{
	if (!result->count)
		return result->verdict == a || result->verdict == b;
	return suite_result_count(result, a) + suite_result_count(result, b);
}

static void xml_suite(struct tenon_buffer *out, const struct session_suite *suite)
{
	const struct suite_result *result = &suite->result;
	const char *name = suite->definition.name;

	tenon_buffer_printf(out, "  <testsuite name=\"");
	xml_text(out, name);
	tenon_buffer_printf(out,
			    "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
			    "time=\"%.3f\">\n",
			    result->count ? result->count : 1,
			    xml_count(result, VERDICT_FAIL, VERDICT_TIMEOUT),
			    xml_count(result, VERDICT_ERROR, VERDICT_ERROR),
			    xml_count(result, VERDICT_SKIP, VERDICT_UNABLE), result->seconds);
	tenon_buffer_printf(out,
			    "    <properties><property name=\"sha256\" value=\"%s\"/>"
			    "<property name=\"attempts\" value=\"%u\"/></properties>\n",
			    result->sha256, result->attempts);
	if (!result->count)
		xml_case(out, name, "all", result->verdict, result->reason, result->seconds);
	for (size_t i = 0; i < result->count; i++)
		xml_case(out, name, result->cases[i].name, result->cases[i].verdict,
			 result->cases[i].text, 0);
	tenon_buffer_printf(out, "  </testsuite>\n");
}

static void xml_facts(struct tenon_buffer *out, const struct session *s)
{
	char *facts = copy_of_facts(s, out), *at = facts, *name, *value;

	tenon_buffer_printf(out, "  <properties>\n");
	while (report_next_fact(&at, &name, &value)) {
		tenon_buffer_printf(out, "    <property name=\"");
		xml_text(out, name);
		tenon_buffer_printf(out, "\" value=\"");
		xml_text(out, value);
		tenon_buffer_printf(out, "\"/>\n");
	}
	tenon_buffer_printf(out, "  </properties>\n");
	free(facts);
}

static void xml(const struct session *s, struct tenon_buffer *out)
{
	tenon_buffer_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"");
	xml_text(out, s->target->name);
	tenon_buffer_printf(out, "\">\n");
	xml_facts(out, s);
	for (size_t i = 0; i < s->count; i++)
		xml_suite(out, &s->suites[i]);
	tenon_buffer_printf(out, "</testsuites>\n");
}

/* ---- files */

bool report_has_facts(const struct session *s)
{
	return s->facts.size && !s->facts.status;
}

bool report_next_fact(char **at, char **name, char **value)
{
	char *end = *at ? strchr(*at, '\n') : NULL, *colon = *at ? strstr(*at, ": ") : NULL;

	if (!end || !colon || colon > end)
		return false;
	*name = *at;
	*value = colon + 2;
	*at = end + 1;
	*end = *colon = '\0';
	return true;
}

static int write_report(const struct session *s, const char *name, struct tenon_buffer *text)
{
	struct tenon_slice bytes = { text->data, text->size };
	char path[512];
	int err = text->status;

	if (err)
		tenon_error(err, "%s: no memory for a report", name);
	else if (text->size)
		err = output_write(hil_board_log(&s->board, name, path), &bytes, 1);
	tenon_buffer_fini(text);
	*text = (struct tenon_buffer)TENON_BUFFER_INIT;
	return err;
}

int report_write(const struct session *session)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	ktap(session, &text);
	err = write_report(session, REPORT_KTAP, &text);
	if (!err) {
		xml(session, &text);
		err = write_report(session, REPORT_XML, &text);
	}
	if (OPTION_ON(JSON) && !err)
		err = report_json(session, &text);
	if (!err)
		err = write_report(session, REPORT_JSON, &text);
	if (!err && session->facts.status)
		err = tenon_error(session->facts.status,
				  "no memory for the facts of the reports, which are without them");
	return err;
}
