/* SPDX-License-Identifier: MIT */
/* Write the findings of tenon doctor as JSON. */
#include "tools/doctor/doctor.h"

#include <string.h>

#include "tools/json/json_value.h"

static cJSON *lines(const char *line)
{
	cJSON *list = cJSON_CreateArray();

	while (*line) {
		size_t n = strcspn(line, "\n");

		json_append(list, json_of_text((struct tenon_slice){ line, n }));
		line += n + (line[n] == '\n');
	}
	return list;
}

int doctor_json(const struct finding *findings, size_t count, FILE *out)
{
	cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "checks");

	for (size_t i = 0; i < count; i++) {
		const struct finding *f = &findings[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "name", f->name);
		cJSON_AddStringToObject(item, "level", finding_word(f->level));
		json_set(item, "finding", json_of_text(tenon_slice_of(f->text)));
		if (*f->remedy)
			json_set(item, "remedy", json_of_text(tenon_slice_of(f->remedy)));
		if (f->details && *f->details)
			json_set(item, "details", lines(f->details));
		json_append(list, item);
	}
	return json_print(json, out);
}
