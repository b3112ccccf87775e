/* SPDX-License-Identifier: MIT */
/* Print target, operations, regions and tensors. */
#include "tools/ethosu/ethosu_print.h"

#include <inttypes.h>

#include "devices/ethosu/ethosu_arguments.h"
#include "tools/text/printable.h"

static const char *const roles[ETHOSU_ROLES] = { "input", "output", "variable" };

/* ---- where arguments of a call are when a network runs */

/* what a kernel does with dma-bufs that are not of its driver */
#define OF_OTHERS "of other drivers are copied: Linux's driver ethosu imports its own alone"

/* Of models the operators between decide. Return: whether the arguments are known. */
static bool arguments_of(const struct ethosu_inspection *n, struct ethosu_arguments *out)
{
	if (n->fault || n->file->is_model)
		return false;
	if (!ethosu_arguments_of(&n->file->contents, n->file->path, out))
		return true;
	tenon_error_clear();
	return false;
}

static bool has_arguments(const struct ethosu_arguments *a, unsigned int region)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		if (a->items[i].region == region && a->items[i].bytes)
			return true;
	return false;
}

static const char *container(const struct ethosu_file *f)
{
	return f->contents.payload.version == 1 ? "COP1" : "COP2";
}

/* ---- text */

static void print_operations(const struct ethosu_extents *e, FILE *out)
{
	unsigned int i;
	const char *between = "";

	for (i = ETHOSU_OP_CONV; i <= ETHOSU_OP_DMA_START; i++) {
		if (!e->operations[i])
			continue;
		fprintf(out, "%s%s %u", between, ethosu_command_name(i), e->operations[i]);
		between = ", ";
	}
	fputc('\n', out);
}

static void print_regions(const struct ethosu_inspection *n, FILE *out)
{
	const struct ethosu_file *f = n->file;
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		const bool known = f->contents.sizes[i] != ETHOSU_UNLIMITED;

		if (!n->extents.read[i] && !n->extents.write[i] && !(known && f->contents.sizes[i]))
			continue;
		fprintf(out, "  region %u          %-13s  reads %" PRIu64 ", writes %" PRIu64, i,
			ethosu_region_role(f, i), n->extents.read[i], n->extents.write[i]);
		if (known)
			fprintf(out, ", has %" PRIu64, f->contents.sizes[i]);
		fputs(" bytes\n", out);
	}
}

static void print_tensor(const struct ethosu_tensor *t, FILE *out)
{
	int i;

	fprintf(out, "  %-17s ", roles[t->role]);
	for (i = 0; i < ETHOSU_DIMENSIONS; i++)
		fprintf(out, "%s%" PRIu64, i ? "x" : "", t->shape[i]);
	fprintf(out, " of %" PRIu64 " byte%s at %" PRIu64 " of region %" PRIu64 "\n", t->element,
		t->element == 1 ? "" : "s", t->offset, t->region);
}

static void print_tensors(const struct ethosu_file *f, FILE *out)
{
	struct ethosu_tensor t;
	unsigned int role;
	uint64_t i;

	for (role = 0; role < ETHOSU_ROLES; role++)
		for (i = 0; i < f->contents.counts[role]; i++) {
			t = ethosu_container_tensor(&f->contents, role, i);
			print_tensor(&t, out);
		}
}

static void print_places(const struct ethosu_inspection *n, FILE *out)
{
	struct ethosu_arguments a;
	const char *why;
	unsigned int i;

	if (!arguments_of(n, &a))
		return;
	for (i = 0; i < ETHOSU_REGIONS; i++) {
		if (!has_arguments(&a, i))
			continue;
		why = ethosu_arguments_in_place(&a, i);
		fprintf(out, "  arguments         region %u: %s%s\n", i,
			why ? "copied: " : "used where they are in a buffer of the device",
			why ? why : "");
	}
	fprintf(out, "  dma-bufs          %s\n", OF_OTHERS);
}

static void print_command(const struct ethosu_command *c, FILE *out)
{
	fprintf(out, "  0x%06" PRIx64 "  %-18s", tenon_cursor_place(&c->place),
		ethosu_command_name(c->id));
	switch (ethosu_command_form(c->id)) {
	case ETHOSU_NUMBER:
		fprintf(out, " %u", c->param);
		break;
	case ETHOSU_SIGNED:
		fprintf(out, " %d", (int16_t)c->param);
		break;
	case ETHOSU_OFFSET:
		fprintf(out, " 0x%" PRIx64, ethosu_offset(c->param, c->word));
		break;
	case ETHOSU_LENGTH:
		fprintf(out, " %u", c->word);
		break;
	case ETHOSU_SCALE:
		fprintf(out, " %u >> %u", c->word, c->param & 0x3f);
		break;
	}
	fputc('\n', out);
}

static void print_stream(const struct ethosu_file *f, FILE *out)
{
	struct tenon_cursor c = ethosu_file_stream(f);
	struct ethosu_command command;

	while (tenon_cursor_left(&c)) {
		if (ethosu_command_next(&c, ethosu_product_of(&f->contents.payload.target),
					&command)) {
			/* the check has said why */
			tenon_error_clear();
			return;
		}
		print_command(&command, out);
	}
}

static void print_payload(const struct ethosu_inspection *n, FILE *out)
{
	const struct ethosu_payload *p = &n->file->contents.payload;

	fprintf(out, "  target            config 0x%08x, id 0x%08x\n", p->target.config,
		p->target.id);
	fprintf(out, "  command stream    %zu bytes at 0x%" PRIx64 ", %u commands\n",
		p->stream.size, p->stream_at, n->extents.commands);
	fprintf(out, "  operations        ");
	print_operations(&n->extents, out);
	if (p->fast_scratch)
		fprintf(out, "  fast scratch      %" PRIu64 " bytes in use\n", p->fast_scratch);
	print_regions(n, out);
	print_tensors(n->file, out);
	print_places(n, out);
}

void ethosu_print_title(const struct ethosu_file *f, FILE *out)
{
	char target[ETHOSU_TARGET_NAME];

	ethosu_target_name(&f->contents.payload.target, target);
	fprintf(out, "payload of Ethos-U for %s (%s)", target, container(f));
}

void ethosu_print(const struct ethosu_inspection *n, bool disassemble, FILE *out)
{
	const bool read = n->file->contents.payload.stream.data;

	if (read)
		print_payload(n, out);
	if (n->fault) {
		fputs("  refused           ", out);
		printable_cell(tenon_slice_of(n->fault), 0, out);
		fputc('\n', out);
	}
	if (read && disassemble)
		print_stream(n->file, out);
}

/* ---- JSON */

static cJSON *json_of_operations(const struct ethosu_extents *e)
{
	cJSON *list = cJSON_CreateObject();
	unsigned int i;

	for (i = ETHOSU_OP_CONV; i <= ETHOSU_OP_DMA_START; i++)
		if (e->operations[i])
			json_set(list, ethosu_command_name(i), json_of_int(e->operations[i]));
	return list;
}

static void set_place(cJSON *item, const struct ethosu_arguments *a, unsigned int region)
{
	const char *why;

	if (!has_arguments(a, region))
		return;
	why = ethosu_arguments_in_place(a, region);
	json_set(item, "in_place", cJSON_CreateBool(!why));
	if (why)
		json_set(item, "copied_because", json_of_text(tenon_slice_of(why)));
}

static cJSON *json_of_regions(const struct ethosu_inspection *n)
{
	cJSON *list = cJSON_CreateArray(), *item;
	struct ethosu_arguments a;
	const bool known = arguments_of(n, &a);
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		item = cJSON_CreateObject();
		json_set(item, "role",
			 json_of_text(tenon_slice_of(ethosu_region_role(n->file, i))));
		json_set(item, "reads", json_of_int((int64_t)n->extents.read[i]));
		json_set(item, "writes", json_of_int((int64_t)n->extents.write[i]));
		if (n->file->contents.sizes[i] != ETHOSU_UNLIMITED)
			json_set(item, "bytes", json_of_int((int64_t)n->file->contents.sizes[i]));
		if (known)
			set_place(item, &a, i);
		json_append(list, item);
	}
	return list;
}

static cJSON *json_of_tensor_place(const struct ethosu_tensor *t)
{
	cJSON *item = cJSON_CreateObject(), *shape = cJSON_CreateArray();
	int k;

	json_set(item, "role", json_of_text(tenon_slice_of(roles[t->role])));
	json_set(item, "region", json_of_int((int64_t)t->region));
	json_set(item, "offset", json_of_int((int64_t)t->offset));
	json_set(item, "element_bytes", json_of_int((int64_t)t->element));
	for (k = 0; k < ETHOSU_DIMENSIONS; k++)
		json_append(shape, json_of_int((int64_t)t->shape[k]));
	json_set(item, "shape", shape);
	return item;
}

static cJSON *json_of_tensors(const struct ethosu_file *f)
{
	cJSON *list = cJSON_CreateArray();
	struct ethosu_tensor t;
	unsigned int role;
	uint64_t i;

	for (role = 0; role < ETHOSU_ROLES; role++)
		for (i = 0; i < f->contents.counts[role]; i++) {
			t = ethosu_container_tensor(&f->contents, role, i);
			json_append(list, json_of_tensor_place(&t));
		}
	return list;
}

static cJSON *json_of_stream(const struct ethosu_file *f)
{
	cJSON *list = cJSON_CreateArray(), *item;
	struct tenon_cursor c = ethosu_file_stream(f);
	struct ethosu_command command;

	while (tenon_cursor_left(&c)) {
		if (ethosu_command_next(&c, ethosu_product_of(&f->contents.payload.target),
					&command)) {
			tenon_error_clear();
			break;
		}
		item = cJSON_CreateObject();
		json_set(item, "offset", json_of_int((int64_t)tenon_cursor_place(&command.place)));
		json_set(item, "command",
			 json_of_text(tenon_slice_of(ethosu_command_name(command.id))));
		json_set(item, "parameter", json_of_int(command.param));
		if (ethosu_command_form(command.id) >= ETHOSU_OFFSET)
			json_set(item, "word", json_of_int(command.word));
		json_append(list, item);
	}
	return list;
}

static void set_payload(cJSON *item, const struct ethosu_inspection *n)
{
	const struct ethosu_payload *p = &n->file->contents.payload;
	char target[ETHOSU_TARGET_NAME];

	ethosu_target_name(&p->target, target);
	json_set(item, "container", json_of_text(tenon_slice_of(container(n->file))));
	json_set(item, "target", json_of_text(tenon_slice_of(target)));
	json_set(item, "config", json_of_int(p->target.config));
	json_set(item, "id", json_of_int(p->target.id));
	json_set(item, "stream_offset", json_of_int((int64_t)p->stream_at));
	json_set(item, "stream_bytes", json_of_int((int64_t)p->stream.size));
	if (p->version > 1 && p->fast_scratch <= INT64_MAX)
		json_set(item, "fast_scratch_bytes", json_of_int((int64_t)p->fast_scratch));
	json_set(item, "commands", json_of_int(n->extents.commands));
	json_set(item, "operations", json_of_operations(&n->extents));
	json_set(item, "regions", json_of_regions(n));
	json_set(item, "dma_bufs", json_of_text(tenon_slice_of(OF_OTHERS)));
}

void ethosu_json(cJSON *item, const struct ethosu_inspection *n, bool disassemble)
{
	const bool read = n->file->contents.payload.stream.data;

	if (read)
		set_payload(item, n);
	if (read && !n->file->is_model)
		json_set(item, "tensors", json_of_tensors(n->file));
	if (n->fault)
		json_set(item, "fault", json_of_text(tenon_slice_of(n->fault)));
	if (read && disassemble)
		json_set(item, "stream", json_of_stream(n->file));
}
