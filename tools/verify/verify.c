/* SPDX-License-Identifier: MIT */
#include "tools/verify/verify.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "tools/json/json_value.h"
#include "tools/text/printable.h"

static void add(struct verify *v, bool fault, size_t module, char *text)
{
	struct verify_finding *bigger = reallocarray(v->findings, v->count + 1, sizeof(*bigger));

	v->faults += fault;
	if (bigger)
		v->findings = bigger;
	if (!bigger || !text) {
		v->failed = true;
		free(text);
		return;
	}
	v->findings[v->count++] = (struct verify_finding){ fault, module, text };
}

static char *print(const char *format, va_list args)
{
	char *text;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

void verify_note(struct verify *v, size_t module, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(v, false, module, print(format, args));
	va_end(args);
}

void verify_fault(struct verify *v, size_t module, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(v, true, module, print(format, args));
	va_end(args);
}

void verify_error(struct verify *v, size_t module)
{
	/* what memory did not suffice to read is not wrong */
	if (tenon_error_status() == -TENON_E_NOMEM)
		v->failed = true;
	else
		add(v, true, module, strdup(tenon_error_message()));
	tenon_error_clear();
}

/* ---- the file */

/* The record names modules that are there, by their kinds. */
static void check_record(struct verify *v)
{
	const struct import_blob *tree = &v->host.tree;
	const struct artifact *a;
	size_t i, count = v->host.symbols.has_blob ? tree->count : 1;

	for (i = 0; i < v->host.names.count; i++) {
		a = &v->host.names.items[i];
		if (a->module >= count)
			verify_fault(v, SIZE_MAX, "%s is said to be module %llu; there are %zu",
				     a->file_name, (unsigned long long)a->module, count);
		else if (artifact_is_native(a)
				 ? v->host.symbols.has_blob && a->module != tree->library
				 : a->module == tree->library ||
					   !tenon_slice_equal(tenon_slice_of(a->loader),
							      tree->entries[a->module].kind))
			verify_fault(v, (size_t)a->module, "%s is said to be of kind \"%s\"",
				     a->file_name, a->loader);
	}
}

static void check_host(struct verify *v)
{
	const struct library_symbols *s = &v->host.symbols;

	if (!*s->version)
		verify_fault(v, SIZE_MAX, "no symbol of it is one that TVM or Tenon writes");
	else if (!s->function_count && !s->has_blob)
		verify_note(v, SIZE_MAX, "it has no functions that can be called");
	if (v->host.symbols.has_blob && v->host.tree.library == SIZE_MAX && s->function_count)
		verify_note(v, SIZE_MAX, "its functions are not in its import tree");
}

static void check(struct verify *v, const char *file)
{
	size_t i;

	if (link_host_open(file, &v->host)) {
		verify_error(v, SIZE_MAX);
		return;
	}
	v->opened = true;
	check_host(v);
	check_record(v);
	for (i = 0; v->host.symbols.has_blob && i < v->host.tree.count; i++)
		if (i != v->host.tree.library)
			verify_payload(v, i);
}

/* ---- the answer */

static struct tenon_slice kind_of(const struct verify *v, size_t module)
{
	return module == v->host.tree.library ? tenon_slice_of("_lib")
					      : v->host.tree.entries[module].kind;
}

static void print_finding(const struct verify *v, const struct verify_finding *f, FILE *out)
{
	fputs(f->fault ? "wrong: " : "note: ", out);
	if (f->module != SIZE_MAX) {
		fprintf(out, "module %zu (", f->module);
		printable_cell(kind_of(v, f->module), 0, out);
		fputs("): ", out);
	}
	printable_cell(tenon_slice_of(f->text), 0, out);
	fputc('\n', out);
}

static size_t module_count(const struct verify *v)
{
	return v->host.symbols.has_blob ? v->host.tree.count : 1;
}

static void print_text(const struct verify *v, const char *file, FILE *out)
{
	size_t i;

	for (i = 0; i < v->count; i++)
		print_finding(v, &v->findings[i], out);
	if (!v->faults)
		fprintf(out, "%s: no fault: %s, TVM %s, %zu module%s\n", file,
			elf_machine_name(&v->host.elf), v->host.symbols.version, module_count(v),
			module_count(v) == 1 ? "" : "s");
}

static int print_json(const struct verify *v, const char *file, FILE *out)
{
	cJSON *root = cJSON_CreateObject(), *list, *item;
	size_t i;

	json_set(root, "file", json_of_text(tenon_slice_of(file)));
	json_set(root, "valid", cJSON_CreateBool(!v->faults));
	if (v->opened) {
		json_set(root, "machine",
			 json_of_text(tenon_slice_of(elf_machine_name(&v->host.elf))));
		json_set(root, "tvm", json_of_text(tenon_slice_of(v->host.symbols.version)));
		json_set(root, "modules", json_of_int((int64_t)module_count(v)));
	}
	list = cJSON_AddArrayToObject(root, "findings");
	for (i = 0; i < v->count; i++) {
		item = cJSON_CreateObject();
		json_set(item, "fault", cJSON_CreateBool(v->findings[i].fault));
		if (v->findings[i].module != SIZE_MAX) {
			json_set(item, "module", json_of_int((int64_t)v->findings[i].module));
			json_set(item, "kind", json_of_text(kind_of(v, v->findings[i].module)));
		}
		json_set(item, "text", json_of_text(tenon_slice_of(v->findings[i].text)));
		json_append(list, item);
	}
	return json_print(root, out);
}

static void verify_fini(struct verify *v)
{
	size_t i;

	for (i = 0; i < v->count; i++)
		free(v->findings[i].text);
	free(v->findings);
	link_host_fini(&v->host);
}

static int answer(struct cli *cli, const struct verify *v, const char *file, bool json)
{
	if (v->failed) {
		tenon_error(-TENON_E_NOMEM, "no memory for what was found in %s", file);
		return cli_error(cli, CLI_FAILED);
	}
	if (!json)
		print_text(v, file, cli->out);
	else if (print_json(v, file, cli->out))
		return cli_error(cli, CLI_FAILED);
	if (!v->faults)
		return CLI_OK;
	fprintf(cli->err, "tenon: %s: %zu fault%s\n", file, v->faults, v->faults == 1 ? "" : "s");
	return CLI_NO_FILE;
}

static int verify_main(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 1 }, { 0 } };
	struct verify v = { 0 };
	bool json = false;
	const char *file;
	int found, code;

	while ((found = cli_option(cli, argc, argv, options)) >= 0)
		json = true;
	if (found == CLI_OPTIONS_DONE)
		return CLI_OK;
	if (found == CLI_OPTIONS_BAD || cli_file(cli, argc, argv, &file))
		return CLI_USAGE;
	if (json && cli_needs_json(cli))
		return CLI_UNAVAILABLE;
	check(&v, file);
	code = answer(cli, &v, file, json);
	verify_fini(&v);
	return code;
}

const struct cli_command verify_command = {
	"verify",
	"Check all of a module's file, without running any of it",
	"Usage: tenon verify FILE [--json]\n"
	"\n"
	"  --json  print JSON\n"
	"\n"
	"Checks the ELF file, the import tree, every payload, the tables of kernels and their\n"
	"programs, graphs, bytecode and constants, and the names of artifacts. Files for other\n"
	"machines are checked as well. Exits with 0 for a file without fault, with 3 for "
	"another.\n",
	verify_main,
};
