/* SPDX-License-Identifier: MIT */
/* Run all checks of a file and print what they found. */
#include "tools/verify/verify.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "tools/ethosu/ethosu_verify.h"
#include "tools/json/json_value.h"
#include "tools/text/printable.h"
#include "tools/verify/verify_commands.h"

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

/* Test whether the file has an import tree. The older form has an empty one for host code alone. */
static bool has_tree(const struct verify *v)
{
	return v->host.symbols.has_blob && v->host.tree.count;
}

static size_t module_count(const struct verify *v)
{
	return has_tree(v) ? v->host.tree.count : 1;
}

/* The record names modules that are there, by their kinds. */
static void check_record(struct verify *v)
{
	const struct import_blob *tree = &v->host.tree;
	const struct artifact *a;
	size_t i, count = module_count(v);

	for (i = 0; i < v->host.names.count; i++) {
		a = &v->host.names.items[i];
		if (a->module >= count)
			verify_fault(v, SIZE_MAX, "%s is said to be module %llu; there are %zu",
				     a->file_name, (unsigned long long)a->module, count);
		else if (artifact_is_native(a)
				 ? has_tree(v) && a->module != tree->library
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

	if (v->host.elf.lost_sections)
		verify_fault(v, SIZE_MAX,
			     "its section headers lie outside the file of %zu bytes: it is "
			     "truncated; copy it again",
			     v->host.bytes.size);
	if (!*s->version)
		verify_fault(v, SIZE_MAX, "no symbol of it is one that TVM or Tenon writes");
	else if (!s->function_count && !s->has_blob)
		verify_note(v, SIZE_MAX, "it has no functions that can be called");
	if (has_tree(v) && v->host.tree.library == SIZE_MAX && s->function_count)
		verify_note(v, SIZE_MAX, "its functions are not in its import tree");
}

static void add_hash_fault(void *context, size_t module)
{
	verify_error(context, module);
}

/* Files of TVM have no hashes, and neither has the host code of a module that was taken apart. */
static void check_hashes(struct verify *v)
{
	if (v->host.has_hashes && link_host_check_hashes(&v->host, add_hash_fault, v))
		verify_error(v, SIZE_MAX);
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
	check_hashes(v);
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

enum { JSON = 1, KEY, SIGNATURE, KIND, REGION, TARGET, KERNEL };

static const struct option options[] = {
	{ "json", no_argument, NULL, JSON },
	{ "key", required_argument, NULL, KEY },
	{ "signature", required_argument, NULL, SIGNATURE },
	{ "kind", required_argument, NULL, KIND },
	{ "region", required_argument, NULL, REGION },
	{ "target", required_argument, NULL, TARGET },
	{ "kernel", required_argument, NULL, KERNEL },
	{ 0 },
};

/**
 * struct request - the command line
 * @json: print JSON
 * @file: the file
 * @key: public key; NULL: do not check a signature
 * @signature: file of the signature; NULL for the default
 * @kind: what it is; NULL for a module
 * @is_of_ethosu: there was an option for --kind ethos-u
 * @payload: for --kind ethos-u
 */
struct request {
	bool json;
	const char *file;
	const char *key;
	const char *signature;
	const char *kind;
	bool is_of_ethosu;
	struct ethosu_verify payload;
};

#ifdef CONFIG_PAYLOAD_ETHOS_U
static int verify_ethosu(struct cli *cli, struct request *r)
{
	r->payload.path = r->file;
	r->payload.json = r->json;
	return ethosu_verify(cli, &r->payload);
}
#else
static int verify_ethosu(struct cli *cli, const struct request *r)
{
	tenon_error(-TENON_E_UNSUPPORTED, "--kind %s: this build has CONFIG_PAYLOAD_ETHOS_U=n",
		    r->kind);
	return cli_error(cli, CLI_UNAVAILABLE);
}
#endif

static int verify_as(struct cli *cli, struct request *r)
{
	if (!strcmp(r->kind, "rocket") && r->is_of_ethosu)
		return cli_usage(cli, "--region, --target and --kernel go with --kind ethos-u");
	if (!strcmp(r->kind, "rocket"))
		return verify_commands(cli, r->file, r->json);
	if (!strcmp(r->kind, "ethos-u"))
		return verify_ethosu(cli, r);
	return cli_usage(cli, "--kind %s: unknown kind; known: ethos-u, rocket", r->kind);
}

static int read_options(struct cli *cli, int argc, char **argv, struct request *r)
{
	int found, code = CLI_OK;

	while (!code && (found = cli_option(cli, argc, argv, options)) >= 0) {
		r->json |= found == JSON;
		r->is_of_ethosu |= found == REGION || found == TARGET || found == KERNEL;
		if (found == KEY)
			r->key = optarg;
		if (found == SIGNATURE)
			r->signature = optarg;
		if (found == KIND)
			r->kind = optarg;
		if (found == REGION)
			code = ethosu_verify_region(cli, optarg, &r->payload);
		if (found == TARGET)
			code = ethosu_verify_target(cli, optarg, &r->payload);
		if (found == KERNEL)
			code = ethosu_verify_kernel(cli, optarg, &r->payload);
	}
	if (code)
		return code;
	if (found == CLI_OPTIONS_DONE)
		return CLI_OPTIONS_DONE;
	if (found == CLI_OPTIONS_BAD || cli_file(cli, argc, argv, &r->file))
		return CLI_USAGE;
	if (r->signature && !r->key)
		return cli_usage(cli, "--signature without --key: a signature is checked with the "
				      "public key of its author");
	if (r->is_of_ethosu && !r->kind)
		return cli_usage(cli, "--region, --target and --kernel go with --kind ethos-u");
	if (r->key && r->kind)
		return cli_usage(cli, "--key goes with modules, and not with --kind");
	return r->json && cli_needs_json(cli) ? CLI_UNAVAILABLE : CLI_OK;
}

static int verify_main(struct cli *cli, int argc, char **argv)
{
	struct request r = { 0 };
	struct verify v = { 0 };
	int code;

	ethosu_verify_init(&r.payload);
	code = read_options(cli, argc, argv, &r);
	if (code)
		return code == CLI_OPTIONS_DONE ? CLI_OK : code;
	if (r.kind)
		return verify_as(cli, &r);
	if (r.key && verify_signature(&v, r.file, r.key, r.signature)) {
		code = cli_error(cli, cli_exit_of(tenon_error_status(), CLI_NO_FILE));
	} else {
		check(&v, r.file);
		code = answer(cli, &v, r.file, r.json);
	}
	verify_fini(&v);
	return code;
}

const struct cli_command verify_command = {
	"verify",
	"Check all of a module's file, without running any of it",
	"Usage: tenon verify FILE [--key FILE] [--signature FILE] [--json]\n"
	"       tenon verify --kind ethos-u FILE [--region N=BYTES]… [--target NAME]\n"
	"                    [--kernel N] [--json]\n"
	"       tenon verify --kind rocket FILE [--json]\n"
	"\n"
	"  --key FILE        check that the owner of this public key signed the file\n"
	"  --signature FILE  by this signature; FILE.sig unless given\n"
	"  --kind ethos-u    FILE is no module, but what a compiler for Ethos-U wrote: a payload\n"
	"                    (COP1, COP2), or a .npz or .tflite file of Vela\n"
	"  --kind rocket     FILE has register commands for the NPU of RK3588\n"
	"  --region N=BYTES  region N will have so many bytes; the stream must stay inside.\n"
	"                    Without it, a region has what the file says, or any size\n"
	"  --target NAME     the device that is to run it: u55-128, u65-256, …\n"
	"  --kernel N        also check it by Linux's own rule, generation 1 to 3\n"
	"  --json            print JSON\n"
	"\n"
	"Checks the ELF file, the import tree, every payload, the tables of kernels and their\n"
	"programs, graphs, bytecode and constants, the names of artifacts, and the hashes of\n"
	"payloads that tenon link writes. Files for other machines are checked as well. Exits\n"
	"with 0 for a file without fault, with 3 for another.\n",
	verify_main,
};
