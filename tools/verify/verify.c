/* SPDX-License-Identifier: MIT */
/* Parse options, have the file checked, print what was found. */
#include "tools/cli/verbs.h"

#include <tenon/error.h>
#include <tenon/link.h>

#include "tools/host_code/code_text.h"
#include "tools/json/json_value.h"
#include "tools/program/program_file.h"
#include "tools/text/text.h"
#include "tools/verify/verify_program.h"

static void print_finding(const struct tenon_link_finding *f, FILE *out)
{
	fputs(f->fault ? "wrong: " : "note: ", out);
	if (f->module != SIZE_MAX) {
		fprintf(out, "module %zu (", f->module);
		printable_cell(f->kind, 0, out);
		fputs("): ", out);
	}
	printable_cell(tenon_slice_of(f->text), 0, out);
	fputc('\n', out);
}

static void print_text(const struct tenon_link_report *r, const char *file, FILE *out)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		print_finding(r->findings[i], out);
	if (!r->faults)
		printable_format(out, "%s: no fault: %s, TVM %s, %zu module%s\n", file, r->machine,
				 r->tvm, r->modules, r->modules == 1 ? "" : "s");
}

static int print_json(const struct tenon_link_report *r, const struct tenon_link_processor *code,
		      const char *file, FILE *out)
{
	cJSON *root = cJSON_CreateObject(), *list, *item;
	const struct tenon_link_finding *f;
	size_t i;

	json_set(root, "file", json_of_text(tenon_slice_of(file)));
	json_set(root, "valid", cJSON_CreateBool(!r->faults));
	if (r->readable) {
		json_set(root, "machine", json_of_text(tenon_slice_of(r->machine)));
		json_set(root, "tvm", json_of_text(tenon_slice_of(r->tvm)));
		json_set(root, "modules", json_of_int((int64_t)r->modules));
	}
	list = cJSON_AddArrayToObject(root, "findings");
	for (i = 0; i < r->finding_count; i++) {
		f = r->findings[i];
		item = cJSON_CreateObject();
		json_set(item, "fault", cJSON_CreateBool(f->fault));
		if (f->module != SIZE_MAX) {
			json_set(item, "module", json_of_int((int64_t)f->module));
			json_set(item, "kind", json_of_text(f->kind));
		}
		json_set(item, "text", json_of_text(tenon_slice_of(f->text)));
		json_append(list, item);
	}
	if (code)
		json_set(root, "processor", code_json(code));
	return json_print(root, out);
}

/* @code is NULL where it was not asked for. */
static int answer(struct cli *cli, const struct tenon_link_report *r,
		  const struct tenon_link_processor *code, const char *file, bool json)
{
	if (!json)
		print_text(r, file, cli->out);
	else if (print_json(r, code, file, cli->out))
		return cli_error(cli, CLI_FAILED);
	if (!json && code)
		code_text(code, cli->out);
	if (!r->faults)
		return code && code->missing && !code->chooses ? CLI_UNAVAILABLE : CLI_OK;
	printable_format(cli->err, "tenon: %s: %zu fault%s\n", file, r->faults,
			 r->faults == 1 ? "" : "s");
	return CLI_NO_FILE;
}

/**
 * struct request - the command line
 * @json: print JSON
 * @cpu: also look at what host code needs of the processor
 * @file: the file
 * @key: public key; NULL: do not check a signature
 * @signature: file of the signature; NULL for the default
 * @program: with --kind: what it is instead of a module, and options for its check
 */
struct request {
	bool json, cpu;
	const char *file;
	const char *key;
	const char *signature;
	struct verify_program program;
};

/* Keep an option for the format of the program's kind. */
static int add_option(struct cli *cli, struct verify_program *p, const char *name)
{
	if (p->option_count == VERIFY_OPTIONS)
		return cli_usage(cli, "--%s: more than %d options for a check", name,
				 VERIFY_OPTIONS);
	p->options[p->option_count++] = (struct tenon_payload_option){ name, optarg };
	return CLI_OK;
}

static int add_region(struct cli *cli, void *program)
{
	return add_option(cli, program, "region");
}

static int add_target(struct cli *cli, void *program)
{
	return add_option(cli, program, "target");
}

static int add_kernel(struct cli *cli, void *program)
{
	return add_option(cli, program, "kernel");
}

static int read_options(struct cli *cli, int argc, char **argv, struct request *r)
{
	const struct cli_option options[] = {
		{ "json", .flag = &r->json },
		{ "cpu", .flag = &r->cpu },
		{ "key", .text = &r->key },
		{ "signature", .text = &r->signature },
		{ "kind", .text = &r->program.kind },
		{ "region", .take = add_region, .context = &r->program },
		{ "target", .take = add_target, .context = &r->program },
		{ "kernel", .take = add_kernel, .context = &r->program },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	if (cli_file(cli, argc, argv, &r->file))
		return CLI_USAGE;
	if (r->signature && !r->key)
		return cli_usage(cli, "--signature without --key: a signature is checked with the "
				      "public key of its author");
	if (r->program.option_count && !r->program.kind)
		return cli_usage(cli,
				 "--%s goes with --kind: it is for the check of a device's program",
				 r->program.options[0].name);
	if ((r->key || r->cpu) && r->program.kind)
		return cli_usage(cli, "--%s goes with modules, and not with --kind",
				 r->key ? "key" : "cpu");
	return r->json && cli_needs_json(cli) ? CLI_UNAVAILABLE : CLI_OK;
}

static int verify_module(struct cli *cli, const struct request *r)
{
	const struct tenon_link_verify_options o = { sizeof(o), r->key, r->signature };
	const struct tenon_link_processor *processor = NULL;
	const struct tenon_link_report *report;
	int code, err;

	err = tenon_link_verify(r->file, &o, &report);
	/* of a file that cannot be read, the report has the reason */
	if (!err && r->cpu && report->readable) {
		err = tenon_link_processor(r->file, &processor);
		if (err)
			tenon_link_report_free(report);
	}
	if (err)
		return cli_error(cli, err == -TENON_E_NOMEM ? CLI_FAILED
							    : cli_exit_of(err, CLI_NO_FILE));
	code = answer(cli, report, processor, r->file, r->json);
	tenon_link_processor_free(processor);
	tenon_link_report_free(report);
	return code;
}

static int verify_main(struct cli *cli, int argc, char **argv)
{
	struct request r = { 0 };
	int code;

	code = read_options(cli, argc, argv, &r);
	if (code)
		return code;
	if (!r.program.kind)
		return verify_module(cli, &r);
	r.program.path = r.file;
	r.program.json = r.json;
	return verify_program(cli, &r.program);
}

const struct cli_command verify_command = {
	"verify",
	"Check all of a module's file, without running any of it",
	"Usage: tenon verify FILE [--cpu] [--key FILE] [--signature FILE] [--json]\n"
	"       tenon verify --kind KIND FILE [--region N=BYTES]… [--target NAME]\n"
	"                    [--kernel N] [--json]\n"
	"\n"
	"  --cpu             also tell which extensions of the processor the host code uses, and\n"
	"                    whether this machine has them; exit with 4 if it lacks one\n"
	"  --key FILE        check that the owner of this public key signed the file\n"
	"  --signature FILE  by this signature; FILE.sig unless given\n"
	"  --kind KIND       FILE is no module, but a device's program of this kind, as its\n"
	"                    compiler wrote it, or a model with such operators; the\n"
	"                    message for an unknown kind names those of this build\n"
	"  --region N=BYTES  region N of the device will have so many bytes; the program must\n"
	"                    stay inside. Without it, a region has what the file says, or any\n"
	"                    size\n"
	"  --target NAME     the device that is to run it\n"
	"  --kernel N        also check it by the rule of Linux's driver, of generation N\n"
	"  --json            print JSON\n"
	"\n"
	"Checks the ELF file, the import tree, every payload, the tables of kernels and their\n"
	"programs, graphs, bytecode and constants, the names of artifacts, and the hashes of\n"
	"payloads that tenon link writes. Files for other machines are checked as well. Exits\n"
	"with 0 for a file without fault, with 3 for another.\n",
	verify_main,
};
