/* SPDX-License-Identifier: MIT */
/* Ask a server for its devices and print them. */
#include "tools/devices_verb/devices.h"

#include <string.h>
#include <unistd.h>

#include "tools/cli/progress.h"
#include "tools/json/json_value.h"
#include "tools/remote_option/remote.h"
#include "tools/text/text.h"

/* a server answers at once, or opens a driver first */
#define SILENCE_S  60
#define TYPES_MOST 127
#define IDS_MOST   64

/* a device of the server */
struct found {
	DLDevice there;
	struct tenon_value name;
	int64_t processors;
	int64_t memory;
};

static int number(struct tenon_remote *remote, DLDevice there, int attribute, int64_t *out)
{
	struct tenon_value value;
	int err = tenon_remote_attribute(remote, there, attribute, &value);

	*out = 0;
	if (!err && value.type == TENON_TYPE_INT)
		*out = value.as.integer;
	if (!err)
		tenon_value_release(&value);
	return err;
}

/* An exception means that the server does not know the type; only a lost session is an error. */
static int exists(struct tenon_remote *remote, DLDevice there, bool *out)
{
	int64_t answer = 1;
	int err = there.device_type == kDLCPU
			  ? 0
			  : number(remote, there, TENON_ATTRIBUTE_EXISTS, &answer);

	*out = !err && answer;
	if (err != -TENON_E_CALL)
		return err;
	tenon_error_clear();
	return 0;
}

/* Attributes that a server does not answer stay empty. */
static int describe_remote(struct tenon_remote *remote, struct found *f)
{
	int err = tenon_remote_attribute(remote, f->there, TENON_ATTRIBUTE_NAME, &f->name);

	if (!err)
		err = number(remote, f->there, TENON_ATTRIBUTE_PROCESSORS, &f->processors);
	if (!err)
		err = number(remote, f->there, TENON_ATTRIBUTE_TOTAL_MEMORY, &f->memory);
	if (err != -TENON_E_CALL)
		return err;
	tenon_error_clear();
	return 0;
}

static void print(const struct found *f, FILE *out)
{
	char name[48], memory[SIZE_TEXT];
	struct tenon_slice text = { "", 0 };

	snprintf(name, sizeof(name), "%s:%d", tenon_device_name(f->there.device_type),
		 f->there.device_id);
	if (f->name.type != TENON_TYPE_NONE && tenon_value_text(&f->name, &text))
		tenon_error_clear();
	fprintf(out, "%-9s ", name);
	if (text.size)
		printable_print(text.data, out);
	else
		fputs("no name", out);
	if (f->processors > 0)
		fprintf(out, ", %lld processor%s", (long long)f->processors,
			f->processors == 1 ? "" : "s");
	if (f->memory > 0)
		fprintf(out, ", %s memory", size_text((uint64_t)f->memory, memory));
	fputc('\n', out);
}

#ifdef CONFIG_JSON
static void add(cJSON *list, const struct found *f)
{
	cJSON *item = cJSON_CreateObject();
	struct tenon_slice text = { "", 0 };
	char name[48];

	snprintf(name, sizeof(name), "%s:%d", tenon_device_name(f->there.device_type),
		 f->there.device_id);
	cJSON_AddStringToObject(item, "device", name);
	if (f->name.type != TENON_TYPE_NONE && !tenon_value_text(&f->name, &text) && text.size)
		json_set(item, "model", json_of_text(text));
	tenon_error_clear();
	if (f->memory > 0)
		json_set(item, "memory", json_of_int(f->memory));
	if (f->processors > 0)
		json_set(item, "processors", json_of_int(f->processors));
	json_append(list, item);
}
#endif

/* Some of TVM's servers end when they are asked for a type that they do not know. */
static bool may_ask(const struct tenon_remote_facts *facts, int type)
{
	static const int all_know[] = { kDLCPU, kDLCUDA, kDLOpenCL, kDLVulkan, kDLMetal, kDLROCM };
	size_t i;

	if (facts->pipelined)
		return strcmp(tenon_device_name(type), "device") != 0 && type != TENON_DL_NULL;
	for (i = 0; i < sizeof(all_know) / sizeof(all_know[0]); i++)
		if (all_know[i] == type)
			return true;
	return false;
}

static int list(struct tenon_remote *remote, FILE *out, void *json)
{
	struct tenon_remote_facts facts;
	struct found f;
	bool there;
	int type, id, err = 0;

	tenon_remote_facts(remote, &facts);
	for (type = kDLCPU; type <= TYPES_MOST && !err; type++) {
		if (!may_ask(&facts, type))
			continue;
		there = true;
		for (id = 0; id < (type == kDLCPU ? 1 : IDS_MOST) && there && !err; id++) {
			f = (struct found){ .there = { (DLDeviceType)type, id } };
			err = exists(remote, f.there, &there);
			if (err || !there)
				break;
			err = describe_remote(remote, &f);
			if (!err && !json)
				print(&f, out);
#ifdef CONFIG_JSON
			if (!err && json)
				add(json, &f);
#endif
			tenon_value_release(&f.name);
		}
	}
	return err;
}

int devices_remote(struct cli *cli, const char *address, bool json, double timeout)
{
	struct tenon_remote *remote;
	void *items = NULL;
	int err, code;

	progress_report_waits();
	if (progress_start(0, cli->err == stderr && isatty(STDERR_FILENO)))
		return cli_error(cli, CLI_FAILED);
	code = remote_connect(cli, address, timeout > 0 ? timeout : SILENCE_S, &remote);
	if (code) {
		progress_stop();
		return code;
	}
	progress_say("asking %s for its devices", address);
#ifdef CONFIG_JSON
	cJSON *all = cJSON_CreateObject();

	if (json)
		items = cJSON_AddArrayToObject(all, "devices");
#endif
	err = list(remote, cli->out, items);
	progress_stop();
	tenon_remote_close(remote);
#ifdef CONFIG_JSON
	if (json && !err)
		err = json_print(all, cli->out);
	else
		cJSON_Delete(all);
#endif
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : CLI_OK;
}
