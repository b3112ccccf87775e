/* SPDX-License-Identifier: MIT */
/* Describe cases for self-tests. */
#include "tools/inspect/inspect.h"

#include <inttypes.h>

#include "link/inspection.h"
#include "runtime/self_test/self_test.h"
#include "tools/text/text.h"

/* Open the cases of a file; NULL, without an error, when it has none that can be read: tenon verify tells why. */
static struct tenon_cases *open_cases(const struct tenon_link_inspection *n, const char *file)
{
	struct tenon_cases *cases;

	if (self_test_read(file, inspection_bytes(n), &cases))
		tenon_error_clear();
	return cases;
}

static void print_values(const struct tenon_case_value *values, size_t count, FILE *out)
{
	char type[INSPECT_TYPE_ROOM];
	size_t i;

	for (i = 0; i < count; i++) {
		const struct tenon_case_value *v = &values[i];
		const struct tenon_port port = { v->name, v->dtype, v->ndim, v->shape };

		fputs(i ? ", " : "", out);
		if (v->name.size) {
			printable_cell(v->name, 0, out);
			fputc(' ', out);
		}
		fprintf(out, "%s%s", inspect_type(&port, type), v->sha256 ? " (hash)" : "");
	}
}

void inspect_cases_text(const struct tenon_link_inspection *n, const char *file, FILE *out)
{
	struct tenon_cases *cases = open_cases(n, file);
	const struct tenon_case *c;
	size_t i;

	for (i = 0; cases && (c = tenon_cases_at(cases, i)); i++) {
		fputs("case ", out);
		printable_cell(c->name, 0, out);
		fputs(": ", out);
		print_values(c->inputs, c->input_count, out);
		fputs(" -> ", out);
		print_values(c->outputs, c->output_count, out);
		fprintf(out, ", rtol %g, atol %g", c->rtol, c->atol);
		if (c->steps)
			fprintf(out, ", steps %" PRIu64, c->steps);
		fputc('\n', out);
	}
	tenon_cases_close(cases);
}

#ifdef CONFIG_JSON
static cJSON *json_of_values(const struct tenon_case_value *values, size_t count)
{
	cJSON *list = cJSON_CreateArray(), *item, *shape;
	char name[TENON_DTYPE_NAME];
	size_t i;
	int32_t k;

	for (i = 0; i < count; i++) {
		item = cJSON_CreateObject();
		json_set(item, "name", json_of_text(values[i].name));
		json_set(item, "dtype",
			 json_of_text(tenon_slice_of(tenon_dtype_name(values[i].dtype, name))));
		shape = cJSON_CreateArray();
		for (k = 0; k < values[i].ndim; k++)
			json_append(shape, json_of_int(values[i].shape[k]));
		json_set(item, "shape", shape);
		json_set(item, "hash", cJSON_CreateBool(values[i].sha256 != NULL));
		json_append(list, item);
	}
	return list;
}

void inspect_cases_json(const struct tenon_link_inspection *n, const char *file, cJSON *root)
{
	struct tenon_cases *cases = open_cases(n, file);
	const struct tenon_case *c;
	cJSON *list, *item;
	size_t i;

	if (!cases)
		return;
	list = cJSON_CreateArray();
	for (i = 0; (c = tenon_cases_at(cases, i)); i++) {
		item = cJSON_CreateObject();
		json_set(item, "name", json_of_text(c->name));
		json_set(item, "inputs", json_of_values(c->inputs, c->input_count));
		json_set(item, "outputs", json_of_values(c->outputs, c->output_count));
		json_set(item, "rtol", json_of_real(c->rtol));
		json_set(item, "atol", json_of_real(c->atol));
		json_set(item, "steps", json_of_int((int64_t)c->steps));
		json_append(list, item);
	}
	json_set(root, "cases", list);
	tenon_cases_close(cases);
}
#endif
