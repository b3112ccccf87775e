/* SPDX-License-Identifier: MIT */
/* Parse options, read the graph, run generators and write their files. */
#include "tools/cli/verbs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/params.h>

#include "lib/file_map.h"
#include "link/module/link_graph.h"
#include "link/module/link_host.h"
#include "link/partition/partition.h"
#include "tools/file/output.h"
#include "tools/json/json_value.h"
#include "tools/text/text.h"

#define WANTED_MOST 8

/* struct request - the command line */
struct request {
	const char *graph;
	const char *params;
	const char *folder;
	const struct generator *wanted[WANTED_MOST + 1];
	bool json;
};

/* ---- options */

static const struct generator *generator_of(const char *name, size_t size)
{
	size_t i;

	for (i = 0; generators[i]; i++)
		if (strlen(generators[i]->name) == size && !memcmp(generators[i]->name, name, size))
			return generators[i];
	return NULL;
}

/* "dnnl,c": the first is the most wanted */
static int set_generators(struct cli *cli, void *request)
{
	struct request *r = request;
	struct nearest_name nearest = { .wanted = tenon_slice_of(optarg) };
	const char *at = optarg;
	size_t size, i, count = 0;

	for (;; at += size + 1) {
		size = strcspn(at, ",");
		if (count == WANTED_MOST)
			return cli_usage(cli, "--for %s: too many code generators", optarg);
		r->wanted[count] = generator_of(at, size);
		if (!r->wanted[count++])
			break;
		r->wanted[count] = NULL;
		if (!at[size])
			return 0;
	}
	for (i = 0; generators[i]; i++)
		nearest_name_offer(&nearest, tenon_slice_of(generators[i]->name));
	return cli_unknown(cli, "code generator", optarg, &nearest);
}

static int read_options(struct cli *cli, int argc, char **argv, struct request *r)
{
	const struct cli_option options[] = {
		{ "for", .take = set_generators, .context = r },
		{ "params", .text = &r->params },
		{ "output", .letter = 'o', .text = &r->folder },
		{ "json", .flag = &r->json },
		{ 0 },
	};
	int code;

	r->wanted[0] = generators[0];
	code = cli_options(cli, argc, argv, options);
	if (code)
		return code;
	if (!r->folder)
		return cli_usage(cli, "which folder to write to? -o FOLDER");
	return cli_file(cli, argc, argv, &r->graph);
}

/* ---- files */

static int write_files(const struct partition *p, const char *folder)
{
	struct tenon_slice bytes;
	uint32_t i;
	int err = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return tenon_error(-TENON_E_IO, "%s: cannot make the folder: %s", folder,
				   strerror(errno));
	for (i = 0; i < p->file_count && !err; i++) {
		bytes = (struct tenon_slice){ p->files[i].bytes.data, p->files[i].bytes.size };
		err = output_write_in(folder, p->files[i].name, bytes);
	}
	return err;
}

/* ---- the answer */

static uint32_t operators_of(const struct partition *p, const struct region *r)
{
	uint32_t i, count = 0;

	for (i = 0; i < r->node_count; i++)
		count += p->g->nodes[r->nodes[i]].op_count;
	return count;
}

static void print_text(struct cli *cli, const struct request *r, const struct partition *p)
{
	const struct region *region;
	uint32_t i;

	for (i = 0; i < p->region_count; i++) {
		region = &p->regions[i];
		fprintf(cli->out,
			"%-16s %-12s nodes: %u, operators: %u, inputs: %u, outputs: %u, "
			"constants: %u",
			region->name, region->generator->name, region->node_count,
			operators_of(p, region), region->input_count, region->output_count,
			region->baked_count);
		if (region->parted)
			fprintf(cli->out, "; parted: a function has at most %u values",
				region->generator->most_values);
		fputc('\n', cli->out);
	}
	for (i = 0; i < p->g->node_count; i++)
		if (p->region_of[i] == UINT32_MAX) {
			printable_cell(p->g->nodes[i].function, 16, cli->out);
			fprintf(cli->out, " kept         %s\n",
				p->crowded[i] ? "more values than a function of its code "
						"generator has"
					      : "no code generator of --for supports it");
		}
	fprintf(cli->out, "%u of %u nodes in %u region%s", p->g->node_count - p->kept,
		p->g->node_count, p->region_count, p->region_count == 1 ? "" : "s");
	if (p->region_count)
		printable_format(cli->out, "; link them: sh %s/link.sh -o model.so", r->folder);
	fputc('\n', cli->out);
}

static int print_as_json(struct cli *cli, const struct partition *p)
{
	cJSON *root = cJSON_CreateObject(), *list, *item;
	const struct region *r;
	uint32_t i;

	list = cJSON_AddArrayToObject(root, "regions");
	for (i = 0; i < p->region_count; i++) {
		r = &p->regions[i];
		item = cJSON_CreateObject();
		json_set(item, "name", json_of_text(tenon_slice_of(r->name)));
		json_set(item, "generator", json_of_text(tenon_slice_of(r->generator->name)));
		json_set(item, "nodes", json_of_int(r->node_count));
		json_set(item, "operators", json_of_int(operators_of(p, r)));
		json_set(item, "inputs", json_of_int(r->input_count));
		json_set(item, "outputs", json_of_int(r->output_count));
		json_set(item, "constants", json_of_int(r->baked_count));
		json_set(item, "parted", cJSON_CreateBool(r->parted));
		json_append(list, item);
	}
	list = cJSON_AddArrayToObject(root, "kept");
	for (i = 0; i < p->g->node_count; i++)
		if (p->region_of[i] == UINT32_MAX)
			json_append(list, json_of_text(p->g->nodes[i].function));
	list = cJSON_AddArrayToObject(root, "files");
	for (i = 0; i < p->file_count; i++)
		json_append(list, json_of_text(tenon_slice_of(p->files[i].name)));
	return json_print(root, cli->out);
}

/* ---- the graph */

/* struct source - where the graph comes from: a file, or the payload of a module */
struct source {
	struct tenon_slice file;
	struct link_host host;
	struct tenon_buffer bytes; /* parameters of a payload, as a .params file has them */
	struct tenon_params *params;
	struct tenon_slice graph;
};

static int skip_tensor(struct tenon_cursor *c)
{
	uint32_t ndim = 0;
	uint64_t bytes = 0;
	int err;

	err = tenon_cursor_skip(c, 24);
	if (!err)
		err = tenon_cursor_u32(c, &ndim);
	if (!err)
		err = tenon_cursor_skip(c, 4 + 8 * (uint64_t)ndim);
	if (!err)
		err = tenon_cursor_u64(c, &bytes);
	return err ? err : tenon_cursor_skip(c, bytes);
}

/* The graph, a count, and parameters as in a file, but without the count before the tensors. */
static int read_payload(struct tenon_slice payload, const char *name, struct source *s)
{
	struct tenon_cursor c = tenon_cursor_of(payload.data, payload.size, name, 0), from, tensors;
	struct tenon_slice text;
	uint64_t count = 0, i;
	int err;

	err = tenon_cursor_string(&c, &s->graph);
	if (!err)
		err = tenon_cursor_skip(&c, 8);
	from = c;
	if (!err)
		err = tenon_cursor_count(&c, 8, &count);
	for (i = 0; i < count && !err; i++)
		err = tenon_cursor_string(&c, &text);
	tensors = c;
	for (i = 0; i < count && !err; i++)
		err = skip_tensor(&c);
	if (err)
		return err;
	tenon_buffer_u64(&s->bytes, UINT64_C(0xF7E58D4F05049CB7));
	tenon_buffer_u64(&s->bytes, 0);
	tenon_buffer_append(&s->bytes, from.at, (size_t)(tensors.at - from.at));
	tenon_buffer_u64(&s->bytes, count);
	err = tenon_buffer_append(&s->bytes, tensors.at, (size_t)(c.at - tensors.at));
	return err ? err
		   : tenon_params_read((struct tenon_slice){ s->bytes.data, s->bytes.size }, NULL,
				       name, &s->params);
}

static int read_module(const struct request *r, struct source *s)
{
	const struct import_blob *tree = &s->host.tree;
	size_t i;
	int err = link_host_open(r->graph, &s->host);

	if (err)
		return err;
	for (i = 0; s->host.symbols.has_blob && i < tree->count; i++)
		if (i != tree->library &&
		    tenon_slice_equal(tree->entries[i].kind, tenon_slice_of(LINK_GRAPH_KIND)))
			return read_payload(tree->entries[i].bytes, r->graph, s);
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"%s: no module of kind " LINK_GRAPH_KIND
		", so it has no graph. Give a graph.json, or a model of the graph executor",
		r->graph);
}

static int open_source(const struct request *r, struct source *s)
{
	int err = file_map_open(r->graph, &s->file);

	if (!err && s->file.size > 4 && !memcmp(s->file.data, "\177ELF", 4))
		err = read_module(r, s);
	else
		s->graph = s->file;
	if (!err && r->params) {
		tenon_object_unref(s->params);
		s->params = NULL;
		err = tenon_params_open(r->params, &s->params);
	}
	return err;
}

static void close_source(struct source *s)
{
	tenon_object_unref(s->params);
	tenon_buffer_fini(&s->bytes);
	link_host_fini(&s->host);
	file_map_close(&s->file);
}

static int partition_it(struct cli *cli, const struct request *r)
{
	struct source s = { .bytes = TENON_BUFFER_INIT };
	struct op_graph g = { .node_count = 0 };
	struct partition p = { .g = &g };
	int err;

	err = open_source(r, &s);
	if (!err)
		err = op_graph_read(s.graph, r->graph, s.params, &g);
	if (!err)
		err = partition_make(&g, s.params, r->wanted, &p);
	if (!err)
		err = partition_generate(&p);
	if (!err)
		err = write_files(&p, r->folder);
	if (!err && r->json)
		err = print_as_json(cli, &p);
	else if (!err)
		print_text(cli, r, &p);
	partition_fini(&p);
	op_graph_fini(&g);
	close_source(&s);
	return err;
}

static int partition_main(struct cli *cli, int argc, char **argv)
{
	struct request r = { .graph = NULL };
	int code = read_options(cli, argc, argv, &r), err;

	if (code)
		return code;
	json_prepare();
	err = partition_it(cli, &r);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : CLI_OK;
}

const struct cli_command partition_command = {
	"partition",
	"Give parts of a graph to code generators",
	"Usage: tenon partition -o FOLDER [OPTION]… GRAPH\n"
	"\n"
	"  -o, --output FOLDER  the folder to write to\n"
	"  --for NAME[,NAME]…   code generators, the most wanted first: c, the default;\n"
	"                       examplejson, mortise, dnnl\n"
	"  --params FILE        parameters of the graph, a .params file\n"
	"  --json               print JSON\n"
	"\n"
	"GRAPH is a graph.json, or a model for the graph executor, with its parameters.\n"
	"A function of a node is the name of an operator, such as nn.conv2d, with attributes; or\n"
	"one that TVM fused, whose name says its operators. Each node goes to the first code\n"
	"generator that supports it, and neighbours become one function. Nodes that none supports\n"
	"keep their function: give code that has it to link.sh, which makes the module.\n"
	"  sh FOLDER/link.sh -o model.so [HOST CODE]…\n",
	partition_main,
};
