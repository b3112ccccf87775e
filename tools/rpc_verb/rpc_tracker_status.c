/* SPDX-License-Identifier: MIT */
/* tenon rpc tracker status: the queues and servers of a tracker. */
#include <stdlib.h>
#include <tenon/rpc.h>
#include <tenon/string.h>

#include "lib/json_tree.h"
#include "tools/json/json_value.h"
#include "tools/rpc_verb/rpc.h"
#include "tools/text/text.h"

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return text ? text : "";
}

static void print_address(struct cli *cli, const cJSON *server)
{
	const cJSON *address = cJSON_GetObjectItemCaseSensitive(server, "addr");
	const char *host = cJSON_GetStringValue(cJSON_GetArrayItem(address, 0));
	const cJSON *port = cJSON_GetArrayItem(address, 1);
	char number[16];

	/* TVM's server in C++ sends the port as a string */
	snprintf(number, sizeof(number), "%.5s", cJSON_IsString(port) ? port->valuestring : "?");
	if (cJSON_IsNumber(port))
		snprintf(number, sizeof(number), "%u", (unsigned int)(uint16_t)port->valuedouble);
	printable_print(host ? host : "?", cli->out);
	fputc(':', cli->out);
	printable_print(number, cli->out);
}

static void print_queues(struct cli *cli, const cJSON *queues)
{
	const cJSON *q;

	fprintf(cli->out, "%-24s %8s %8s %8s %8s\n", "key", "free", "waiting", "out", "served");
	cJSON_ArrayForEach(q, queues)
	{
		printable_cell(tenon_slice_of(q->string), 24, cli->out);
		fprintf(cli->out, " %8.0f %8.0f %8.0f %8.0f\n", number_of(q, "free"),
			number_of(q, "pending"), number_of(q, "out"), number_of(q, "served"));
	}
}

/* Servers that are in use, or those that are @out. */
static void print_servers(struct cli *cli, const cJSON *servers, bool out)
{
	const char *why = out ? "reason" : "health";
	const cJSON *s;

	cJSON_ArrayForEach(s, servers)
	{
		printable_cell(tenon_slice_of(text_of(s, "key")), 24, cli->out);
		fputc(' ', cli->out);
		print_address(cli, s);
		if (!out && cJSON_HasObjectItem(s, "free"))
			fprintf(cli->out, "  %.0f free", number_of(s, "free"));
		if (out || *text_of(s, why)) {
			fputs("  out: ", cli->out);
			printable_print(text_of(s, why), cli->out);
		}
		fputc('\n', cli->out);
	}
}

static void print_status(struct cli *cli, const cJSON *status)
{
	const cJSON *ours = cJSON_GetObjectItemCaseSensitive(status, "tenon");

	print_queues(cli, cJSON_GetObjectItemCaseSensitive(status, "queue_info"));
	print_servers(cli, cJSON_GetObjectItemCaseSensitive(status, "server_info"), false);
	print_servers(cli, cJSON_GetObjectItemCaseSensitive(ours, "out"), true);
}

static int show(struct cli *cli, const char *address, const struct tenon_buffer *reply, bool json)
{
	cJSON *tree, *status = NULL;
	int code = CLI_OK;

	if (json_tree_read((struct tenon_slice){ reply->data, reply->size }, address, &tree))
		return cli_error(cli, CLI_UNAVAILABLE);
	if (cJSON_IsArray(tree) && cJSON_GetArraySize(tree) == 2 &&
	    cJSON_IsObject(cJSON_GetArrayItem(tree, 1)))
		status = cJSON_DetachItemFromArray(tree, 1);
	cJSON_Delete(tree);
	if (!status) {
		tenon_error(-TENON_E_FORMAT, "%s sent no summary", address);
		return cli_error(cli, CLI_UNAVAILABLE);
	}
	if (json)
		return json_print(status, cli->out) ? cli_error(cli, CLI_FAILED) : CLI_OK;
	print_status(cli, status);
	cJSON_Delete(status);
	return code;
}

/* as TVM's query tool: the operand, or TVM_TRACKER_HOST and TVM_TRACKER_PORT */
static void default_address(char *text, size_t size)
{
	const char *host = getenv("TVM_TRACKER_HOST"), *port = getenv("TVM_TRACKER_PORT");

	snprintf(text, size, "%s:%s", host && *host ? host : "127.0.0.1",
		 port && *port ? port : "9190");
}

int rpc_tracker_status(struct cli *cli, int argc, char **argv)
{
	struct tenon_buffer reply = TENON_BUFFER_INIT;
	uint64_t timeout_ms = 10000;
	char address[256];
	bool json = false;
	const struct cli_option options[] = {
		{ "json", .flag = &json },
		{ "timeout", .scaled = &timeout_ms, .least = 0.1, .most = 1e6, .unit = 1e3 },
		{ 0 },
	};
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	if (argc - optind > 1)
		return cli_usage(cli, "%s: one tracker at a time", argv[optind + 1]);
	default_address(address, sizeof(address));
	if (optind < argc)
		snprintf(address, sizeof(address), "%s", argv[optind]);
	json_prepare();
	if (tenon_rpc_ask_tracker(address, "[6]", timeout_ms, &reply))
		code = cli_error(cli, tenon_error_status() == -TENON_E_VALUE ? CLI_USAGE
									     : CLI_UNAVAILABLE);
	else
		code = show(cli, address, &reply, json);
	tenon_buffer_fini(&reply);
	return code;
}
