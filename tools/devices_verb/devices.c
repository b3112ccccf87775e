/* SPDX-License-Identifier: MIT */
/* Print devices, nodes and the processor as text. */
#include <stdlib.h>
#include <string.h>
#include <tenon/threads.h>

#include "lib/option.h"
#include "tools/cli/cli.h"
#include "tools/device_option/target_list.h"
#include "tools/devices_verb/devices.h"
#include "tools/devices_verb/driver_probe.h"
#include "tools/text/text.h"

static void print_processor(const struct machine *m, FILE *out)
{
	int workers = tenon_parallel_workers();
	char memory[SIZE_TEXT];

	fprintf(out, "cpu:0     %s%s%s, %d thread%s, %s memory\n", m->arch, *m->model ? ", " : "",
		m->model, workers, workers == 1 ? "" : "s", size_text(m->memory, memory));
	if (*m->features)
		fprintf(out, "          %s\n", m->features);
}

static void print_handles(const struct tenon_device_properties *p, FILE *out)
{
	struct device_handles h;

	device_handles(p, &h);
	if (*h.memory_imports || *h.memory_exports)
		fprintf(out, "          memory: %s%s%s%s%s\n", *h.memory_imports ? "imports " : "",
			h.memory_imports, *h.memory_imports && *h.memory_exports ? ", " : "",
			*h.memory_exports ? "exports " : "", h.memory_exports);
	fprintf(out, "          fences: imports %s, exports %s\n", h.fence_imports,
		h.fence_exports);
}

static void print_device(const struct listed_device *d, FILE *out)
{
	const struct tenon_device_properties *p = &d->properties;
	char name[32], memory[SIZE_TEXT];

	snprintf(name, sizeof(name), "%s:%u", d->driver, d->index);
	fprintf(out, "%-9s ", name);
	printable_print(p->name, out);
	if (p->processors)
		fprintf(out, ", %u processor%s", p->processors, p->processors == 1 ? "" : "s");
	if (p->total_memory)
		fprintf(out, ", %s memory", size_text(p->total_memory, memory));
	fputc('\n', out);
	if (*p->driver) {
		fputs("          ", out);
		printable_print(p->driver, out);
		fputc('\n', out);
	}
	print_handles(p, out);
}

static void print_node(const struct device_list *l, const struct drm_node *n, FILE *out)
{
	char users[128], what[256];

	fprintf(out, "%s  ", n->path);
	printable_print(*n->driver ? n->driver : "driver not known", out);
	fputs(*n->version ? " " : "", out);
	printable_print(n->version, out);
	if (n->error)
		fprintf(out, ", cannot be opened: %s", strerror(n->error));
	node_users(l, n, users, sizeof(users));
	if (*users) {
		fputs(", used by ", out);
		printable_print(users, out);
	}
	fputc('\n', out);
	node_remedy(n, *users, what, sizeof(what));
	if (*what)
		fprintf(out, "          → %s\n", what);
}

static void print_devices(const struct device_list *l, FILE *out)
{
	size_t i;

	print_processor(&l->machine, out);
	for (i = 0; i < l->device_count; i++)
		print_device(&l->devices[i], out);
	for (i = 0; i < l->absent_count; i++) {
		printable_cell(tenon_slice_of(l->absent[i].name), 9, out);
		fputc(' ', out);
		printable_print(l->absent[i].why, out);
		fputc('\n', out);
	}
	for (i = 0; i < l->node_count; i++)
		print_node(l, &l->nodes[i], out);
}

static int devices_main(struct cli *cli, int argc, char **argv)
{
	struct device_list *list;
	const char *remote = NULL;
	double timeout = 0;
	bool json = false;
	const struct cli_option options[] = { { "json", .flag = &json },
					      { "timeout", .real = &timeout },
					      { "remote", .text = &remote },
					      { 0 } };
	int code;

	code = cli_options(cli, argc, argv, options);
	if (code)
		return code;
	if (optind < argc)
		return cli_usage(cli, "%s: no file or name is wanted here", argv[optind]);
	if (json && cli_needs_json(cli))
		return CLI_UNAVAILABLE;
	if (remote)
		return devices_remote(cli, remote, json, timeout);
	if (OPTION_ON(DEVICES))
		driver_probe_seconds(timeout);
	list = malloc(sizeof(*list));
	if (!list) {
		tenon_error(-TENON_E_NOMEM, "no memory for a list of devices");
		return cli_error(cli, CLI_FAILED);
	}
	devices_list(list);
	target_warn_of_choice(cli);
	if (!json)
		print_devices(list, cli->out);
	else if (OPTION_ON(JSON) && devices_json(list, cli->out))
		code = cli_error(cli, CLI_FAILED);
	free(list);
	return code;
}

const struct cli_command devices_command = {
	"devices",
	"List the devices that functions can run on",
	"Usage: tenon devices [--json] [--timeout S] [--remote ADDRESS]\n"
	"\n"
	"  --json        print JSON\n"
	"  --timeout S   give up on a driver after S seconds (20), on a silent server after S "
	"seconds (60)\n"
	"  --remote ADDRESS  list the devices of another machine: HOST:PORT[/KEY]\n"
	"\n"
	"Each driver is probed in a separate process.\n",
	devices_main,
};
