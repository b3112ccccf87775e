/* SPDX-License-Identifier: MIT */
/* tenon inspect --show: artifacts as text. */
#include "tools/inspect/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>

#include "lib/json_tree.h"
#include "link/module/link_host.h"
#include "link/module/link_payload.h"
#include "tools/json/json_value.h"
#include "tools/text/text.h"

/* bytes of a program that is shown in hexadecimal */
#define HEX_MOST 512

/* bytes of an ELF file whose machine code is shown */
#define CODE_MOST (1u << 20)

extern char **environ;

/**
 * struct inspector - a way to show bytes
 * @suffix: of the names of such files; NULL for any
 * @magic: first bytes of such files; NULL for any
 * @show: prints the bytes; false for bytes that it cannot show
 */
struct inspector {
	const char *suffix;
	const char *magic;
	bool (*show)(struct tenon_slice bytes, FILE *out);
};

/* ---- ways to show bytes */

static bool show_json(struct tenon_slice bytes, FILE *out)
{
	cJSON *json;

	/* what is too large for a tree is shown as text */
	if (json_tree_read(bytes, "", &json)) {
		tenon_error_clear();
		return false;
	}
	json_print(json, out);
	return true;
}

/* Print text, and end its last line. */
static void print_lines(struct tenon_slice text, FILE *out)
{
	printable_lines(text, out);
	if (text.size && text.data[text.size - 1] != '\n')
		fputc('\n', out);
}

/* Run a program between two files. Its messages are dropped: they may repeat bytes of the file. */
static bool run_tool(char *const *words, FILE *input, FILE *output)
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return false;
	if (!posix_spawn_file_actions_adddup2(&actions, fileno(input), 0) &&
	    !posix_spawn_file_actions_adddup2(&actions, fileno(output), 1) &&
	    !posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) &&
	    !posix_spawnp(&pid, words[0], &actions, NULL, words, environ))
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&actions);
	return !status;
}

static bool print_file(FILE *file, FILE *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	char part[4096];
	bool whole;
	size_t n;

	rewind(file);
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		tenon_buffer_append(&text, part, n);
	whole = !text.status;
	if (whole)
		print_lines((struct tenon_slice){ text.data, text.size }, out);
	else
		tenon_error_clear();
	tenon_buffer_fini(&text);
	return whole;
}

/* Print what a program says of the bytes, which are its input; false without it, or if it fails. */
static bool show_by_tool(char *const *words, struct tenon_slice bytes, FILE *out)
{
	FILE *input = tmpfile(), *output = tmpfile();
	bool shown;

	shown = input && output && fwrite(bytes.data, 1, bytes.size, input) == bytes.size &&
		!fflush(input) && !fseek(input, 0, SEEK_SET) && run_tool(words, input, output) &&
		print_file(output, out);
	if (input)
		fclose(input);
	if (output)
		fclose(output);
	return shown;
}

static bool show_spirv(struct tenon_slice bytes, FILE *out)
{
	static char *const words[] = { "spirv-dis", NULL };

	return show_by_tool(words, bytes, out);
}

/* Print the machine code, if objdump knows the machine. */
static void show_code(struct tenon_slice bytes, FILE *out)
{
	static char *const words[] = { "objdump", "-d", "--no-show-raw-insn", "/dev/stdin", NULL };

	if (bytes.size <= CODE_MOST)
		show_by_tool(words, bytes, out);
}

static bool show_elf(struct tenon_slice bytes, FILE *out)
{
	struct elf_symbol symbol;
	struct elf_file elf;
	uint64_t i;

	if (elf_open(&elf, bytes, "program")) {
		tenon_error_clear();
		return false;
	}
	fprintf(out, "ELF %s\n", elf_machine_name(&elf));
	for (i = 0; i < elf.symbols.count; i++) {
		elf_symbol(&elf, i, &symbol);
		if (!symbol.name.size || (!symbol.global && symbol.kind != ELF_SYMBOL_FUNCTION &&
					  symbol.kind != ELF_SYMBOL_OBJECT))
			continue;
		fprintf(out, "  0x%08" PRIx64 " %8" PRIu64 "  %-8s  %-9s ", symbol.value,
			symbol.size,
			symbol.kind == ELF_SYMBOL_FUNCTION ? "function"
			: symbol.kind == ELF_SYMBOL_OBJECT ? "data"
							   : "",
			!symbol.defined ? "undefined"
			: symbol.weak	? "weak"
			: symbol.global ? "global"
					: "local");
		printable_cell(symbol.name, 0, out);
		fputc('\n', out);
	}
	show_code(bytes, out);
	return true;
}

static bool is_text(struct tenon_slice bytes)
{
	size_t i;

	for (i = 0; i < bytes.size; i++)
		if ((unsigned char)bytes.data[i] < ' ' && !strchr("\t\n\r\f", bytes.data[i]))
			return false;
	/* strchr() finds the NUL */
	return !memchr(bytes.data ? bytes.data : "", 0, bytes.size);
}

static bool show_text(struct tenon_slice bytes, FILE *out)
{
	if (!is_text(bytes))
		return false;
	print_lines(bytes, out);
	return true;
}

static bool show_hex(struct tenon_slice bytes, FILE *out)
{
	size_t i, k;

	for (i = 0; i < bytes.size && i < HEX_MOST; i += 16) {
		fprintf(out, "  %06zx ", i);
		for (k = i; k < i + 16 && k < bytes.size; k++)
			fprintf(out, " %02x", (unsigned char)bytes.data[k]);
		fputc('\n', out);
	}
	if (bytes.size > HEX_MOST)
		fprintf(out, "  … %zu bytes more\n", bytes.size - HEX_MOST);
	return true;
}

/* The first that fits and can show the bytes. */
static const struct inspector inspectors[] = {
	{ NULL, "\x03\x02\x23\x07", show_spirv },
	{ NULL,
	  "\x7f"
	  "ELF",
	  show_elf },
	{ "json", NULL, show_json },
	{ "graph", NULL, show_json },
	{ NULL, "{", show_json },
	{ NULL, NULL, show_text },
	{ NULL, NULL, show_hex },
};

static bool fits(const struct inspector *i, const char *name, struct tenon_slice bytes)
{
	const char *dot = strrchr(name, '.');
	const size_t size = i->magic ? strlen(i->magic) : 0;

	if (i->suffix && (!dot || strcmp(dot + 1, i->suffix)))
		return false;
	return bytes.size >= size &&
	       !memcmp(bytes.data ? bytes.data : "", i->magic ? i->magic : "", size);
}

static void show_bytes(struct cli *cli, const char *name, struct tenon_slice bytes)
{
	const struct inspector *i = inspectors;

	while (!fits(i, name, bytes) || !i->show(bytes, cli->out))
		i++;
}

/* ---- artifacts of a module */

static int find_module(const struct link_host *h, const char *name, size_t *out)
{
	size_t at = artifact_find(&h->names, name);
	struct tenon_buffer names = TENON_BUFFER_INIT;
	unsigned long number;
	char *end;
	int err;

	number = at == SIZE_MAX ? strtoul(name, &end, 10) : h->names.items[at].module;
	if (at != SIZE_MAX || (*name && !*end)) {
		*out = number;
		if (number < h->tree.count && number != h->tree.library)
			return 0;
	}
	for (at = 0; at < h->names.count; at++)
		if (!artifact_is_native(&h->names.items[at]))
			tenon_buffer_printf(&names, "%s%s", names.size ? ", " : "",
					    h->names.items[at].file_name);
	err = tenon_error(
		-TENON_E_NOT_FOUND,
		"%s: --show %s: no program has this name, and no module this number; %s%s", h->path,
		name,
		names.size ? "programs: "
			   : "the file has no names: give a number, as tenon "
			     "unpack does",
		names.size ? names.data : "");
	tenon_buffer_fini(&names);
	return err;
}

/* Show a program in the words of its format; false when the format has none. */
static bool show_by_format(struct cli *cli, const struct tenon_payload_format *format,
			   const struct tenon_payload_info *info)
{
	int (*show)(const struct tenon_payload_info *, struct tenon_buffer *) =
		PAYLOAD_SLOT(format, show);
	struct tenon_buffer text = TENON_BUFFER_INIT;
	bool shown;

	shown = show && !show(info, &text) &&
		show_text((struct tenon_slice){ text.data, text.size }, cli->out);
	/* bytes that the format cannot explain are shown as bytes */
	if (show && !shown)
		tenon_error_clear();
	tenon_buffer_fini(&text);
	return shown;
}

/* The programs of a payload: one for each kernel, a text, or one for all. */
static void show_payload(struct cli *cli, const struct tenon_payload_format *format,
			 struct tenon_payload_info *info, struct tenon_slice bytes,
			 const char *name)
{
	int (*split)(struct tenon_payload_info *) = PAYLOAD_SLOT(format, split);
	size_t i;

	if (show_by_format(cli, format, info))
		return;
	if (format && !info->part_count && split && split(info))
		tenon_error_clear();
	for (i = 0; i < info->part_count; i++) {
		fprintf(cli->out, "%s", i ? "\n" : "");
		printable_cell(info->parts[i].name, 0, cli->out);
		fprintf(cli->out, ":\n");
		show_bytes(cli, name, info->parts[i].code);
	}
	if (info->part_count)
		return;
	show_bytes(cli, name, info->text.size ? info->text : info->code.size ? info->code : bytes);
}

static int show_module(struct cli *cli, const struct link_host *h, size_t module, const char *name)
{
	const struct import_entry *e = &h->tree.entries[module];
	struct tenon_payload_info info = { 0 };
	int err;

	err = link_payload_check(e->kind, e->bytes, name, h->source.generation, h->tree.dialect,
				 &info);
	if (!err)
		show_payload(cli, payload_format_of(e->kind), &info, e->bytes, name);
	payload_info_fini(&info);
	return err;
}

/* Show a file that is a whole payload by the format that has its suffix; false for other files. */
static bool show_payload_file(struct cli *cli, const char *name, struct tenon_slice bytes)
{
	const char *dot = strrchr(name, '.');
	struct tenon_slice kind = tenon_slice_of(dot ? dot + 1 : "");
	const struct tenon_payload_format *format = payload_format_of(kind);
	const struct tenon_payload_file *file = NULL;
	struct tenon_payload_info info = { 0 };
	bool shown = false;

	if (!PAYLOAD_SLOT(format, show))
		return false;
	if (!link_payload_file(kind, name, bytes, &file) && file && !file->table &&
	    !link_payload_check(kind, bytes, name, TENON_GENERATION_FFI, PAYLOAD_EXTRA_TAGS, &info))
		shown = show_by_format(cli, format, &info);
	payload_info_fini(&info);
	tenon_error_clear();
	return shown;
}

void inspect_show_bytes(struct cli *cli, const char *name, struct tenon_slice bytes)
{
	if (!show_payload_file(cli, name, bytes))
		show_bytes(cli, name, bytes);
}

int inspect_show(struct cli *cli, const char *file, const char *name)
{
	struct link_host h = { 0 };
	size_t module = 0;
	int err;

	err = link_host_open(file, &h);
	if (!err)
		err = find_module(&h, name, &module);
	if (!err)
		err = show_module(cli, &h, module, name);
	link_host_fini(&h);
	return err ? cli_error(cli, cli_exit_of(err, CLI_NO_FILE)) : CLI_OK;
}
