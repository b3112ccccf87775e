/* SPDX-License-Identifier: MIT */
/* Check payloads against their target and the memory of each region. */
#include "tools/ethosu/ethosu_verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/ethosu_linux.h"
#include "tools/ethosu/ethosu_file.h"
#include "tools/json/json_value.h"
#include "tools/text/printable.h"

void ethosu_verify_init(struct ethosu_verify *v)
{
	unsigned int i;

	*v = (struct ethosu_verify){ 0 };
	for (i = 0; i < ETHOSU_REGIONS; i++)
		v->sizes[i] = ETHOSU_UNLIMITED;
}

int ethosu_verify_region(struct cli *cli, const char *text, struct ethosu_verify *v)
{
	const char *digits = text + 2;
	char *end;

	if (text[0] < '0' || text[0] >= '0' + ETHOSU_REGIONS || text[1] != '=' || text[2] < '0' ||
	    text[2] > '9')
		return cli_usage(cli, "--region %s: want N=BYTES, with N from 0 to %d", text,
				 ETHOSU_REGIONS - 1);
	errno = 0;
	/* a leading zero does not make a number octal */
	v->sizes[text[0] - '0'] = strtoull(digits, &end, strncmp(digits, "0x", 2) ? 10 : 16);
	if (*end || errno || v->sizes[text[0] - '0'] == ETHOSU_UNLIMITED)
		return cli_usage(cli, "--region %s: the size is no number of bytes", text);
	return CLI_OK;
}

int ethosu_verify_target(struct cli *cli, const char *name, struct ethosu_verify *v)
{
	v->target = name;
	if (!ethosu_target_find(name, &v->device))
		return CLI_OK;
	return cli_error(cli, tenon_error_status() == -TENON_E_NOMEM ? CLI_FAILED : CLI_USAGE);
}

int ethosu_verify_kernel(struct cli *cli, const char *text, struct ethosu_verify *v)
{
	if (text[0] < '0' + ETHOSU_LINUX_FIRST || text[0] > '0' + ETHOSU_LINUX_LAST || text[1])
		return cli_usage(cli, "--kernel %s: want a generation of Linux's rule, %d to %d",
				 text, ETHOSU_LINUX_FIRST, ETHOSU_LINUX_LAST);
	v->kernel = text[0] - '0';
	return CLI_OK;
}

/* what was found */
struct extents {
	struct ethosu_extents exact;
	struct ethosu_linux_extents kernel;
};

/* Compare the target of the payload with the device that is to run it. */
static int check_target(const struct ethosu_verify *v, const struct ethosu_file *f)
{
	char have[ETHOSU_TARGET_NAME];
	const char *differs;

	if (!v->target)
		return 0;
	differs = ethosu_target_runs(&v->device, &f->contents.payload.target);
	if (!differs)
		return 0;
	ethosu_target_name(&f->contents.payload.target, have);
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"%s at 0x%" PRIx64 ": compiled for %s (config 0x%08x, id 0x%08x), and %s "
		"does not run it: %s; compile it for that target",
		f->path, f->contents.payload.target_at, have, f->contents.payload.target.config,
		f->contents.payload.target.id, v->target, differs);
}

/* What passes the exact check need not pass Linux's. */
static int check_linux(const struct ethosu_verify *v, const struct ethosu_file *f,
		       struct extents *e)
{
	const struct ethosu_target *t = v->target ? &v->device : &f->contents.payload.target;
	int err;

	if (!v->kernel)
		return 0;
	if (ethosu_product_of(t) == ETHOSU_PRODUCT_U55)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s at 0x%" PRIx64 ": compiled for U55, which Linux does not "
				   "drive; it drives U65 and U85",
				   f->path, f->contents.payload.target_at);
	err = ethosu_linux_check(ethosu_file_stream(f), t, (enum ethosu_linux)v->kernel,
				 &e->kernel);
	return err ? err : ethosu_linux_sees(&e->exact, &e->kernel, f->path);
}

/* Check the payload that the file has chosen. */
static int check_payload(const struct ethosu_verify *v, struct ethosu_file *f, struct extents *e)
{
	unsigned int i;
	int err = check_target(v, f);

	if (err)
		return err;
	for (i = 0; i < ETHOSU_REGIONS; i++)
		if (v->sizes[i] != ETHOSU_UNLIMITED)
			f->contents.sizes[i] = v->sizes[i];
	err = ethosu_file_check(f, &e->exact);
	return err ? err : check_linux(v, f, e);
}

static void print_text(const struct ethosu_verify *v, const struct ethosu_file *f, uint32_t index,
		       const struct extents *all, FILE *out)
{
	const struct ethosu_extents *e = &all->exact;
	char target[ETHOSU_TARGET_NAME];
	unsigned int i;

	ethosu_target_name(&f->contents.payload.target, target);
	fprintf(out, "%s: ", v->path);
	if (f->is_model && f->model.graph)
		fprintf(out, "graph %" PRIu32 ", ", f->model.graph);
	if (f->is_model)
		fprintf(out, "operator %" PRIu32 ": ", index);
	fprintf(out, "no fault: for %s, %u commands\n", target, e->commands);
	for (i = 0; i < ETHOSU_REGIONS; i++) {
		if (!e->read[i] && !e->write[i] && !all->kernel.size[i])
			continue;
		fprintf(out, "region %u: reads %" PRIu64 ", writes %" PRIu64, i, e->read[i],
			e->write[i]);
		if (f->contents.sizes[i] != ETHOSU_UNLIMITED)
			fprintf(out, ", has %" PRIu64, f->contents.sizes[i]);
		fputs(" bytes", out);
		if (v->kernel)
			fprintf(out, "; Linux requires %" PRIu64 "%s", all->kernel.size[i],
				all->kernel.written[i] ? ", with a fence" : "");
		fputc('\n', out);
	}
}

static void set_extents(cJSON *item, const struct ethosu_verify *v, const struct extents *all)
{
	const struct ethosu_extents *e = &all->exact;
	cJSON *reads = cJSON_CreateArray(), *writes = cJSON_CreateArray(), *requires;
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		json_append(reads, json_of_int((int64_t)e->read[i]));
		json_append(writes, json_of_int((int64_t)e->write[i]));
	}
	json_set(item, "commands", json_of_int(e->commands));
	json_set(item, "reads", reads);
	json_set(item, "writes", writes);
	requires = v->kernel ? cJSON_AddArrayToObject(item, "kernel") : NULL;
	for (i = 0; requires && i < ETHOSU_REGIONS; i++)
		json_append(requires, json_of_int((int64_t)all->kernel.size[i]));
}

/* The first object of a fault, or of what was checked. */
static cJSON *json_of(const struct ethosu_verify *v, const char *fault)
{
	cJSON *root = cJSON_CreateObject();

	json_set(root, "file", json_of_text(tenon_slice_of(v->path)));
	json_set(root, "valid", cJSON_CreateBool(!fault));
	if (fault)
		json_set(root, "fault", json_of_text(tenon_slice_of(fault)));
	return root;
}

static int refuse(struct cli *cli, const struct ethosu_verify *v)
{
	const int code = tenon_error_status() == -TENON_E_NOMEM ? CLI_FAILED : CLI_NO_FILE;

	if (v->json && json_print(json_of(v, tenon_error_message()), cli->out))
		return cli_error(cli, CLI_FAILED);
	return cli_error(cli, code);
}

/* Check the payloads of a graph, and print what each of them touches, or with @root add it there. */
static int check_graph(const struct ethosu_verify *v, struct ethosu_file *f, cJSON *root,
		       cJSON *list, FILE *out, uint32_t *found)
{
	uint32_t i, count = ethosu_file_count(f);
	struct extents e;
	cJSON *item;
	int err;

	for (i = 0; i < count; i++) {
		if (!ethosu_file_has(f, i))
			continue;
		++*found;
		e = (struct extents){ 0 };
		err = ethosu_file_choose(f, i);
		err = err ? err : check_payload(v, f, &e);
		if (err)
			return err;
		item = list ? cJSON_CreateObject() : root;
		if (list)
			json_set(item, "operator", json_of_int(i));
		if (list && f->model.graph)
			json_set(item, "graph", json_of_int(f->model.graph));
		if (root)
			set_extents(item, v, &e);
		else
			print_text(v, f, i, &e, out);
		if (list)
			json_append(list, item);
	}
	return 0;
}

static int check_all(const struct ethosu_verify *v, struct ethosu_file *f, cJSON *root, FILE *out)
{
	cJSON *list = root && f->is_model ? cJSON_AddArrayToObject(root, "payloads") : NULL;
	uint32_t graph, count = 0, found = 0;
	int err = 0;

	for (graph = 0; graph < ethosu_file_graphs(f) && !err; graph++) {
		err = ethosu_file_graph(f, graph);
		count += ethosu_file_count(f);
		err = err ? err : check_graph(v, f, root, list, out, &found);
	}
	if (err)
		return err;
	return found ? 0
		     : tenon_error(-TENON_E_FORMAT,
				   "%s: none of its %" PRIu32
				   " operators is compiled for Ethos-U; compile it with Vela",
				   v->path, count);
}

int ethosu_verify(struct cli *cli, const struct ethosu_verify *v)
{
	cJSON *root = v->json ? json_of(v, NULL) : NULL;
	struct ethosu_file f;
	int code = CLI_OK, err;

	err = ethosu_file_open(v->path, &f);
	err = err ? err : check_all(v, &f, root, cli->out);
	if (err) {
		cJSON_Delete(root);
		code = refuse(cli, v);
	} else if (root && json_print(root, cli->out)) {
		code = cli_error(cli, CLI_FAILED);
	}
	ethosu_file_fini(&f);
	return code;
}
