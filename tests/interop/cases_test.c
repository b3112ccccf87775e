/* SPDX-License-Identifier: MIT */
/*
 * Walks tests/interop/data and makes every call of every cases.json with the tenon command: the exit code,
 * the comparison with the expected outputs, and the words of a refusal are looked at. Every module is
 * listed too, as text and as JSON, and the kinds in its tree are held against what the peer said.
 */
#include "spawn.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int cases_done, cases_failed;

/* ---- results, as TAP */

static void say(const char *verdict, const char *name, const char *format, ...)
{
	const char *pattern = getenv("TENON_CASE");
	char text[8192], *line, *rest;
	va_list args;

	if (pattern && *pattern && fnmatch(pattern, name, 0))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!strcmp(verdict, "skip")) {
		printf("ok %d %s # SKIP %s\n", ++cases_done, name, text);
		return;
	}
	printf("%s %d %s\n", verdict, ++cases_done, name);
	if (strcmp(verdict, "ok")) {
		cases_failed++;
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			printf("# %s\n", line);
	}
	fflush(stdout);
}

static const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	long size;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
		text = calloc(1, (size_t)size + 1);
		if (text && fread(text, 1, (size_t)size, f) != (size_t)size)
			text[0] = '\0';
	}
	fclose(f);
	return text;
}

static cJSON *read_json(const char *folder, const char *file)
{
	char path[1024], *text;
	cJSON *json;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	text = read_text(path);
	json = text ? cJSON_Parse(text) : NULL;
	free(text);
	return json;
}

/* ---- what this build and this machine can run */

/* what a call needs beyond host code, by its device or its kind of model */
static const struct requirement {
	const char *of, *option;
	bool on;
} requirements[] = {
#ifdef CONFIG_DEVICE_OPENCL
	{ "opencl", "CONFIG_DEVICE_OPENCL", true },
#else
	{ "opencl", "CONFIG_DEVICE_OPENCL", false },
#endif
#ifdef CONFIG_DEVICE_VULKAN
	{ "vulkan", "CONFIG_DEVICE_VULKAN", true },
#else
	{ "vulkan", "CONFIG_DEVICE_VULKAN", false },
#endif
#ifdef CONFIG_DEVICE_CUDA
	{ "cuda", "CONFIG_DEVICE_CUDA", true },
#else
	{ "cuda", "CONFIG_DEVICE_CUDA", false },
#endif
#ifdef CONFIG_GRAPH_EXECUTOR
	{ "graph_factory", "CONFIG_GRAPH_EXECUTOR", true },
	{ "graph_separate", "CONFIG_GRAPH_EXECUTOR", true },
#else
	{ "graph_factory", "CONFIG_GRAPH_EXECUTOR", false },
	{ "graph_separate", "CONFIG_GRAPH_EXECUTOR", false },
#endif
#ifdef CONFIG_AOT_EXECUTOR
	{ "aot_factory", "CONFIG_AOT_EXECUTOR", true },
#else
	{ "aot_factory", "CONFIG_AOT_EXECUTOR", false },
#endif
#ifdef CONFIG_RELAX_VM
	{ "relax_vm", "CONFIG_RELAX_VM", true },
#ifdef CONFIG_LANGUAGE_MODELS
	{ "relax_language", "CONFIG_LANGUAGE_MODELS", true },
#else
	{ "relax_language", "CONFIG_LANGUAGE_MODELS", false },
#endif
#else
	{ "relax_vm", "CONFIG_RELAX_VM", false },
	{ "relax_language", "CONFIG_RELAX_VM", false },
#endif
};

/* the option that is off and without which @what is not run; NULL when none is */
static const char *missing_option(const char *what)
{
	size_t i, length = what ? strcspn(what, ":") : 0;

	for (i = 0; what && i < sizeof(requirements) / sizeof(*requirements); i++)
		if (!requirements[i].on && strlen(requirements[i].of) == length &&
		    !strncmp(what, requirements[i].of, length))
			return requirements[i].option;
	return NULL;
}

/* is a device listed by the command; what it lists must then be able to run */
static bool device_is_there(const char *device)
{
	static char *listing;
	char quoted[96];
	struct spawn s;

	if (!listing) {
		spawn_command(&s);
		spawn_arg(&s, "devices");
		spawn_arg(&s, "--json");
		spawn_run(&s, ".");
		listing = strdup(s.out ? s.out : "");
		spawn_fini(&s);
	}
	snprintf(quoted, sizeof(quoted), "\"%s\"", device);
	return listing && strstr(listing, quoted);
}

/* why a call cannot be made here; NULL when it can */
static const char *not_made(const cJSON *call)
{
	static char why[128];
	const char *option = missing_option(text_of(call, "device"));

	if (!option)
		option = missing_option(text_of(call, "kind"));
	if (!strcmp(text_of(call, "class"), "other"))
		return "for an embedding program, see embed_test";
	if (option) {
		snprintf(why, sizeof(why), "needs %s", option);
		return why;
	}
	if (text_of(call, "device") && !device_is_there(text_of(call, "device"))) {
		snprintf(why, sizeof(why), "no device %s here", text_of(call, "device"));
		return why;
	}
#ifdef __x86_64__
	return NULL;
#else
	return "the module is for x86-64";
#endif
}

/* a library of this machine's C++ and C libraries is no module's fault */
static const char *not_loaded(const char *err)
{
#ifndef __GLIBC__
	if (strstr(err, "libstdc++") || strstr(err, "ld-linux") || strstr(err, "__cxa"))
		return "the module needs glibc's C++ library";
#endif
	if (strstr(err, "libstdc++.so"))
		return "libstdc++ is not installed";
	return NULL;
}

/* ---- one call */

static void add_args(struct spawn *s, const cJSON *call)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(call, "args"))
	{
		const char *input = text_of(item, "input"), *output = text_of(item, "output");

		spawn_arg(s, input ? "--input" : "--output");
		spawn_arg(s, input ? input : output);
	}
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(call, "expect"))
	{
		spawn_arg(s, "--expect");
		spawn_arg(s, item->valuestring);
	}
}

static void add_option(struct spawn *s, const char *option, const char *value)
{
	if (!value)
		return;
	spawn_arg(s, option);
	spawn_arg(s, value);
}

/* a model for several devices lists them all in "devices", and in "device" what may be missing */
static void add_devices(struct spawn *s, const cJSON *call)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(call, "devices"), *item;

	if (!list)
		add_option(s, "--device", text_of(call, "device"));
	cJSON_ArrayForEach(item, list) add_option(s, "--device", item->valuestring);
}

static void add_tolerance(struct spawn *s, const cJSON *call, char text[2][40])
{
	static const char *const keys[2] = { "rtol", "atol" };
	static const char *const options[2] = { "--rtol", "--atol" };
	int i;

	for (i = 0; i < 2; i++) {
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(call, keys[i]);

		if (!cJSON_IsNumber(item))
			continue;
		snprintf(text[i], 40, "%.17g", item->valuedouble);
		spawn_arg(s, options[i]);
		spawn_arg(s, text[i]);
	}
}

static int count_of(const char *text, const char *word)
{
	int n = 0;

	for (text = strstr(text, word); text; text = strstr(text + 1, word))
		n++;
	return n;
}

static bool has_null(const cJSON *call)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(call, "args"))
	{
		const char *input = text_of(item, "input");

		if (input && !strcmp(input, "null"))
			return true;
	}
	return false;
}

/*
 * The peer's words for a refusal, without its error kind; NULL where they are its runtime's own, or
 * ours: legacy code is not shown a null, since some of it crashes.
 */
static const char *refusal(const cJSON *meta, const cJSON *call, int number)
{
	const cJSON *functions = cJSON_GetObjectItemCaseSensitive(meta, "functions");
	const char *said = text_of(cJSON_GetArrayItem(functions, number), "error_text");
	static char words[1024];
	char *text = words, *colon, *got;

	if (!said || strstr(said, "Check failed") || strstr(said, "annot find"))
		return NULL;
	if (has_null(call) && strstr(said, "Assert fail"))
		return NULL;
	snprintf(words, sizeof(words), "%s", said);
	got = strstr(text, " but got "); /* a string has several types to go by */
	if (got)
		*got = '\0';
	colon = strstr(text, "Error: ");
	if (colon && strcspn(text, " :") == (size_t)(colon + 5 - text))
		text = colon + 7;
	return text + strspn(text, " ");
}

static void make_call(const char *name, const char *folder, const cJSON *call, const cJSON *meta,
		      int number)
{
	const cJSON *exit_item = cJSON_GetObjectItemCaseSensitive(call, "exit");
	const cJSON *expect = cJSON_GetObjectItemCaseSensitive(call, "expect");
	const char *words = refusal(meta, call, number), *why;
	int want = exit_item ? exit_item->valueint : 0, equal;
	char title[1536], tolerance[2][40];
	struct spawn s;

	if (want)
		snprintf(title, sizeof(title), "%s call %d is refused with exit %d", name, number,
			 want);
	else
		snprintf(title, sizeof(title), "%s call %d of %s gives what numpy gives", name,
			 number,
			 text_of(call, "function") ? text_of(call, "function") : "the model");
	why = not_made(call);
	if (why) {
		say("skip", title, "%s", why);
		return;
	}

	spawn_command(&s);
	spawn_arg(&s, "run");
	spawn_arg(&s, text_of(call, "file"));
	add_option(&s, "--function", text_of(call, "function"));
	add_devices(&s, call);
	add_option(&s, "--graph", text_of(call, "graph"));
	add_option(&s, "--params", text_of(call, "params"));
	add_args(&s, call);
	add_tolerance(&s, call, tolerance);
	spawn_run(&s, folder);
	equal = count_of(s.out, ": equal");

	if (s.status == 3 && not_loaded(s.err))
		say("skip", title, "%s", not_loaded(s.err));
	else if (s.status == 4 && strstr(s.err, "no loader for this kind"))
		say("skip", title, "%s", "a part of the model has no loader in this build");
	else if (s.status != want)
		say("not ok", title, "%s\nexit %d, want %d\n%s\n%s", spawn_line(&s), s.status, want,
		    s.out, s.err);
	else if (!want && equal != cJSON_GetArraySize(expect))
		say("not ok", title, "%s\n%d outputs equal, want %d\n%s\n%s", spawn_line(&s), equal,
		    cJSON_GetArraySize(expect), s.out, s.err);
	else if (want && words && !strstr(s.err, words))
		say("not ok", title, "%s\nsaid: %s\nthe peer says: %s", spawn_line(&s), s.err,
		    words);
	else if (want && !*s.err)
		say("not ok", title, "%s\nrefused without a word", spawn_line(&s));
	else
		say("ok", title, "%s", "");
	spawn_fini(&s);
}

/* ---- listing */

#define KINDS_MAX 64

struct kinds {
	const char *name[KINDS_MAX];
	int count;
};

static bool host_kind(const char *kind)
{
	return !strcmp(kind, "llvm") || !strcmp(kind, "c") || !strcmp(kind, "library") ||
	       !strcmp(kind, "static_library") || !strcmp(kind, "_lib");
}

/* every "kind" (or "type_key") below @json that is not the host library's */
static void collect(const cJSON *json, struct kinds *kinds)
{
	const cJSON *item;
	const char *kind = text_of(json, "kind");

	if (!kind)
		kind = text_of(json, "type_key");
	if (cJSON_IsObject(json) && kind && !host_kind(kind) && kinds->count < KINDS_MAX)
		kinds->name[kinds->count++] = kind;
	cJSON_ArrayForEach(item, json) if (cJSON_IsObject(item) || cJSON_IsArray(item))
		collect(item, kinds);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* what the command listed holds each kind of the peer's tree, as often */
static const char *kind_missing(const cJSON *listed, const cJSON *tree)
{
	struct kinds have = { .count = 0 }, want = { .count = 0 };
	int i, j = 0;

	collect(listed, &have);
	collect(tree, &want);
	qsort(have.name, (size_t)have.count, sizeof(*have.name), by_name);
	qsort(want.name, (size_t)want.count, sizeof(*want.name), by_name);
	for (i = 0; i < want.count; i++) {
		while (j < have.count && strcmp(have.name[j], want.name[i]) < 0)
			j++;
		if (j == have.count || strcmp(have.name[j], want.name[i]))
			return want.name[i];
		j++;
	}
	return NULL;
}

static void list_module(const char *name, const char *folder, const char *file, const cJSON *meta)
{
	const cJSON *tree = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(meta, "tree"), file);
	const char *missing;
	char title[1536];
	struct spawn s, j;
	cJSON *json;

	snprintf(title, sizeof(title), "%s %s opens and lists its tree", name, file);
	spawn_command(&s);
	spawn_arg(&s, "inspect");
	spawn_arg(&s, file);
	spawn_run(&s, folder);
	spawn_command(&j);
	spawn_arg(&j, "inspect");
	spawn_arg(&j, file);
	spawn_arg(&j, "--json");
	spawn_run(&j, folder);
	json = cJSON_Parse(j.out ? j.out : "");
	missing = json ? kind_missing(json, tree) : NULL;

	if (s.status || !*s.out)
		say("not ok", title, "%s\nexit %d\n%s\n%s", spawn_line(&s), s.status, s.out, s.err);
	else if (j.status || !json)
		say("not ok", title, "%s\nexit %d, no JSON\n%s\n%s", spawn_line(&j), j.status,
		    j.out, j.err);
	else if (missing)
		say("not ok", title, "%s\nkind %s is missing\n%s", spawn_line(&j), missing, j.out);
	else
		say("ok", title, "%s", "");
	cJSON_Delete(json);
	spawn_fini(&s);
	spawn_fini(&j);
}

/* ---- walking */

static bool is_module(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && !strcmp(dot, ".so");
}

static void run_case(const char *suite, const char *data, const char *folder_name)
{
	char folder[1536], name[768];
	struct dirent **files;
	cJSON *calls, *meta, *call;
	int i, n, number = 0;

	snprintf(folder, sizeof(folder), "%s/%s/%s", data, suite, folder_name);
	snprintf(name, sizeof(name), "%s %s", suite, folder_name);
	calls = read_json(folder, "cases.json");
	if (!calls)
		return;
	meta = read_json(folder, "meta.json");
	n = scandir(folder, &files, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (is_module(files[i]->d_name))
			list_module(name, folder, files[i]->d_name, meta);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	cJSON_ArrayForEach(call, calls) make_call(name, folder, call, meta, number++);
	cJSON_Delete(meta);
	cJSON_Delete(calls);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	const char *source = getenv("TENON_SOURCE"), *only = argc > 1 ? argv[1] : "";
	struct dirent **suites, **folders;
	char data[768], path[1024];
	int i, j, n, m;

	snprintf(data, sizeof(data), "%s/tests/interop/data", source ? source : ".");
	printf("TAP version 14\n");
	n = scandir(data, &suites, not_hidden, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", data, suites[i]->d_name);
		m = scandir(path, &folders, not_hidden, alphasort);
		for (j = 0; j < m; j++) {
			if (strstr(suites[i]->d_name, only) || strstr(folders[j]->d_name, only))
				run_case(suites[i]->d_name, data, folders[j]->d_name);
			free(folders[j]);
		}
		if (m >= 0)
			free(folders);
		free(suites[i]);
	}
	if (n >= 0)
		free(suites);
	if (!cases_done) {
		printf("Bail out! no case in %s\n", data);
		return 1;
	}
	printf("1..%d\n", cases_done);
	return cases_failed != 0;
}
