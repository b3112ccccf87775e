/* SPDX-License-Identifier: MIT */
/* Write the results of tenon hil as JSON. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "tools/hil/session.h"
#include "tools/json/json_value.h"
#include "tools/text/memory_stream.h"

static cJSON *text_or_null(const char *text)
{
	return text ? json_of_text(tenon_slice_of(text)) : cJSON_CreateNull();
}

static cJSON *json_of_suite(const struct session_suite *suite)
{
	const struct suite_result *result = &suite->result;
	cJSON *json = cJSON_CreateObject(), *cases = cJSON_CreateArray();

	json_set(json, "name", text_or_null(suite->definition.name));
	json_set(json, "file", text_or_null(suite->definition.file));
	json_set(json, "sha256", text_or_null(result->sha256[0] ? result->sha256 : NULL));
	json_set(json, "verdict", text_or_null(verdict_name(result->verdict)));
	json_set(json, "reason", text_or_null(result->reason));
	json_set(json, "attempts", json_of_int(result->attempts));
	json_set(json, "seconds", json_of_real(result->seconds));
	for (size_t i = 0; i < result->count; i++) {
		cJSON *c = cJSON_CreateObject();

		json_set(c, "name", text_or_null(result->cases[i].name));
		json_set(c, "verdict", text_or_null(verdict_name(result->cases[i].verdict)));
		json_set(c, "text", text_or_null(result->cases[i].text));
		json_append(cases, c);
	}
	json_set(json, "cases", cases);
	return json;
}

static cJSON *json_of_facts(const struct session *s)
{
	cJSON *json = cJSON_CreateObject();
	char *facts = report_has_facts(s) ? strndup(s->facts.data, s->facts.size) : NULL;
	char *at = facts, *name, *value;

	if (report_has_facts(s) && !facts)
		tenon_error(-TENON_E_NOMEM, "no memory for the facts of a report");
	while (report_next_fact(&at, &name, &value))
		json_set(json, name, text_or_null(value));
	free(facts);
	return json;
}

int report_json(const struct session *session, struct tenon_buffer *out)
{
	cJSON *json = cJSON_CreateObject(), *suites = cJSON_CreateArray();
	struct memory_stream text;
	int err, lost;

	json_set(json, "exit_status", json_of_int(hil_session_code(session)));
	json_set(json, "facts", json_of_facts(session));
	json_set(json, "resets", json_of_int(session->resets));
	for (size_t i = 0; i < session->count; i++)
		json_append(suites, json_of_suite(&session->suites[i]));
	json_set(json, "suites", suites);
	err = memory_stream_open(&text);
	if (err) {
		cJSON_Delete(json);
		return err;
	}
	err = json_print(json, text.out);
	lost = memory_stream_close(&text);
	if (!err)
		err = lost;
	if (!err)
		err = tenon_buffer_append(out, text.text.data, text.text.size);
	tenon_buffer_fini(&text.text);
	return err;
}
