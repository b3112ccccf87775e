/* SPDX-License-Identifier: MIT */
/* Check the register commands in a payload. */
#include "tools/verify/verify_commands.h"

#include <inttypes.h>
#include <tenon/string.h>
#include <tenon/uapi/rocket.h>

#include "devices/rocket/rocket_walk.h"
#include "lib/file_map.h"
#include "tools/json/json_value.h"
#include "tools/text/printable.h"

static const struct cmdstream_target target = {
	.name = "rocket",
	.unit = ROCKET_TASK_ALIGNMENT,
	.alignment = TENON_CMDSTREAM_ALIGNMENT,
	.setter = rocket_setter,
	.walk = rocket_walk,
};

/* what an answer is made of; @list is NULL without JSON */
struct answer {
	FILE *out;
	cJSON *list;
};

static void add_kernel(const struct answer *a, const struct cmdstream *s,
		       const struct cmdstream_kernel *k, uint64_t used)
{
	cJSON *item = a->list ? cJSON_CreateObject() : NULL;
	cJSON *regions = a->list ? cJSON_CreateArray() : NULL;
	uint32_t i;

	if (!a->list) {
		printable_cell(k->name, 0, a->out);
		fprintf(a->out, ": %" PRIu64 " words, relocations: %zu\n", k->size / ROCKET_WORD,
			k->relocation_count);
	}
	for (i = 0; i < s->region_count; i++) {
		if (!(used >> i & 1))
			continue;
		if (a->list)
			json_append(regions, json_of_int(i));
		else
			fprintf(a->out, "  region %u (%s): %" PRIu64 " bytes\n", i,
				cmdstream_region_name(s->regions[i].kind), s->regions[i].size);
	}
	if (!a->list)
		return;
	json_set(item, "name", json_of_text(k->name));
	json_set(item, "words", json_of_int((int64_t)(k->size / ROCKET_WORD)));
	json_set(item, "regions", regions);
	json_append(a->list, item);
}

static int check_target(const struct cmdstream *s)
{
	if (tenon_slice_equal(s->target, tenon_slice_of(target.name)))
		return rocket_check_config(s);
	return tenon_error(-TENON_E_FORMAT,
			   "%s: a command stream for target \"%.*s\", not for \"rocket\"", s->name,
			   (int)s->target.size, s->target.data);
}

static int check_kernels(const struct cmdstream *s, const struct answer *a, bool answers)
{
	struct tenon_cursor c = tenon_cursor_of(s->kernels.data, s->kernels.size, s->name, 0);
	struct cmdstream_kernel k;
	uint64_t used;
	size_t i;
	int err = 0;

	for (i = 0; i < s->kernel_count && !err; i++) {
		err = cmdstream_next_kernel(s, &c, &k);
		err = err ? err : cmdstream_check(s, &target, &k, &used);
		if (!err && answers)
			add_kernel(a, s, &k, used);
	}
	return err;
}

/* Check all kernels, and answer when all of them passed. */
static int check(const char *path, struct tenon_slice bytes, const struct answer *a)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, path, 0);
	struct cmdstream s;
	int err = cmdstream_read(&c, &s);

	if (!err && tenon_cursor_left(&c))
		err = tenon_cursor_error(&c, -TENON_E_FORMAT, "%zu bytes behind the command stream",
					 tenon_cursor_left(&c));
	err = err ? err : check_target(&s);
	err = err ? err : check_kernels(&s, a, false);
	if (err)
		return err;
	if (!a->list)
		fprintf(a->out, "%s: no fault: for RK%u, kernels: %zu\n", path, s.config[0],
			s.kernel_count);
	return check_kernels(&s, a, true);
}

int verify_commands(struct cli *cli, const char *path, bool json)
{
	cJSON *root = json ? cJSON_CreateObject() : NULL;
	struct answer a = { cli->out, json ? cJSON_CreateArray() : NULL };
	struct tenon_slice bytes = { NULL, 0 };
	int code = CLI_OK, err;

	err = file_map_open(path, &bytes);
	err = err ? err : check(path, bytes, &a);
	if (json) {
		json_set(root, "file", json_of_text(tenon_slice_of(path)));
		json_set(root, "valid", cJSON_CreateBool(!err));
		if (err)
			json_set(root, "fault",
				 json_of_text(tenon_slice_of(tenon_error_message())));
		json_set(root, "kernels", a.list);
		if (json_print(root, cli->out))
			code = CLI_FAILED;
	}
	if (err || code)
		code = cli_error(cli, code || err == -TENON_E_NOMEM ? CLI_FAILED : CLI_NO_FILE);
	file_map_close(&bytes);
	return code;
}
