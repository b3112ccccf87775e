/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/file_map.h"
#include "runtime/link/artifact_record.h"
#include "tools/link/link.h"

extern char **environ;

/* ---- a command line that grows */

struct words {
	char **word;
	size_t count;
	bool failed; /* no memory: checked once, when the command is run */
};

static void add_bytes(struct words *w, const char *text, size_t size)
{
	char **bigger = reallocarray(w->word, w->count + 2, sizeof(*bigger));

	w->failed |= !bigger;
	if (!bigger)
		return;
	w->word = bigger;
	w->word[w->count] = strndup(text, size);
	w->failed |= !w->word[w->count];
	w->word[++w->count] = NULL;
}

static void add(struct words *w, const char *text)
{
	add_bytes(w, text, strlen(text));
}

/* Add the words of a variable of the environment, which are separated by spaces as in make. */
static void add_variable(struct words *w, const char *name, const char *otherwise)
{
	const char *at = getenv(name);
	size_t n;

	if (!at || !at[strspn(at, " \t\n")])
		at = otherwise;
	for (at += strspn(at, " \t\n"); *at; at += strspn(at, " \t\n")) {
		n = strcspn(at, " \t\n");
		add_bytes(w, at, n);
		at += n;
	}
}

static void words_fini(struct words *w)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		free(w->word[i]);
	free(w->word);
}

static int wait_for(pid_t pid, const char *command, const char *what)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return tenon_error(-TENON_E_IO, "%s: %s", command, strerror(errno));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFSIGNALED(status))
		return tenon_error(-TENON_E_CALL, "%s: %s was ended by signal %d", what, command,
				   WTERMSIG(status));
	return tenon_error(-TENON_E_CALL, "%s: %s failed with status %d; its messages are above",
			   what, command, WEXITSTATUS(status));
}

/* Run a command, whose messages go to standard error. @what is made of, for the message. */
static int run(struct words *w, const char *what)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	if (w->failed)
		return tenon_error(-TENON_E_NOMEM, "no memory for a command line");
	err = posix_spawn_file_actions_init(&actions);
	if (!err) {
		err = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
		if (!err)
			err = posix_spawnp(&pid, w->word[0], &actions, NULL, w->word, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (err)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "cannot run the compiler, %s: %s. Install one, or set CC",
				   w->word[0], strerror(err));
	return wait_for(pid, w->word[0], what);
}

/* ---- temporary files */

static int make_folder(struct link_work *w)
{
	const char *base = getenv("TMPDIR");
	int n;

	n = snprintf(w->folder, sizeof(w->folder), "%s/tenon-link-XXXXXX",
		     base && *base ? base : "/tmp");
	if (n < 0 || (size_t)n >= sizeof(w->folder) - 64 || !mkdtemp(w->folder)) {
		w->folder[0] = 0;
		return tenon_error(-TENON_E_IO, "cannot make a temporary folder: %s; set TMPDIR",
				   strerror(errno));
	}
	return 0;
}

static void remove_folder(struct link_work *w)
{
	char path[sizeof(w->folder) + NAME_MAX + 2];
	struct dirent *entry;
	DIR *folder;

	if (!w->folder[0])
		return;
	folder = opendir(w->folder);
	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", w->folder, entry->d_name);
		unlink(path);
	}
	if (folder)
		closedir(folder);
	rmdir(w->folder);
}

/* Path of a temporary file; allocated. */
static char *temporary(const struct link_work *w, const char *name)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_printf(&b, "%s/%s", w->folder, name);
	if (!b.status)
		return b.data;
	tenon_buffer_fini(&b);
	return NULL;
}

/* ---- the import tree as an object file */

/* Append a symbol whose contents are a file. The contents are aligned for loaders that use them in place. */
static void put_symbol(struct tenon_buffer *out, const char *symbol, const char *folder,
		       const char *file)
{
	tenon_buffer_printf(out,
			    "\t.balign 64\n\t.globl %s\n\t.type %s, %%object\n%s:\n\t.incbin \"",
			    symbol, symbol, symbol);
	for (; *folder; folder++)
		tenon_buffer_printf(out, *folder == '"' || *folder == '\\' ? "\\%c" : "%c",
				    *folder);
	tenon_buffer_printf(out, "/%s\"\n\t.size %s, . - %s\n", file, symbol, symbol);
}

/* Write a temporary file: unlike file_write() without waiting for the disk. */
static int write_file(const struct link_work *w, const char *name, const struct tenon_buffer *b)
{
	char *path = b->status ? NULL : temporary(w, name);
	FILE *file;
	bool failed;

	if (!path)
		return tenon_error(-TENON_E_NOMEM, "no memory for temporary files");
	file = fopen(path, "we");
	failed = !file || fwrite(b->data, 1, b->size, file) != b->size;
	if (file && fclose(file))
		failed = true;
	free(path);
	return failed ? tenon_error(-TENON_E_IO, "cannot write to %s: %s", w->folder,
				    strerror(errno))
		      : 0;
}

/* Write the assembler source of the tree and the record, and the files that it takes in. */
static int write_embedding(const struct link_work *w)
{
	struct tenon_buffer text = TENON_BUFFER_INIT, record = TENON_BUFFER_INIT;
	const char *symbol = w->request->generation == TENON_GENERATION_FFI
				     ? "__tvm_ffi__library_bin"
				     : "__tvm_dev_mblob";
	int err;

	tenon_buffer_printf(&text, "\t.section .rodata\n");
	if (w->blob.size)
		put_symbol(&text, symbol, w->folder, "imports");
	put_symbol(&text, ARTIFACT_RECORD_SYMBOL, w->folder, "record");
	tenon_buffer_printf(&text, "\t.section .note.GNU-stack,\"\",%%progbits\n");
	err = artifact_record_write(&w->set, &record);
	if (!err && w->blob.size)
		err = write_file(w, "imports", &w->blob);
	if (!err)
		err = write_file(w, "record", &record);
	if (!err)
		err = write_file(w, "embed.s", &text);
	tenon_buffer_fini(&record);
	tenon_buffer_fini(&text);
	return err;
}

/* ---- the compiler */

/* The folder of tenon/launcher.h beside the command: where it was built or installed. */
static void add_own_headers(struct words *w)
{
	char path[PATH_MAX], header[PATH_MAX + 64], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int i;

	if (n <= 0)
		return;
	path[n] = 0;
	for (i = 0; i < 2; i++) {
		slash = strrchr(path, '/');
		if (!slash)
			return;
		*slash = 0;
	}
	snprintf(header, sizeof(header), "%s/include/tenon/launcher.h", path);
	if (access(header, R_OK))
		return;
	add(w, "-isystem");
	snprintf(header, sizeof(header), "%s/include", path);
	add(w, header);
}

static int compile(const struct link_work *w, const char *source, const char *object)
{
	const struct link_request *r = w->request;
	struct words words = { 0 };
	size_t i;
	int err;

	add_variable(&words, "CC", "cc");
	add(&words, "-fPIC");
	add_variable(&words, "CFLAGS", "-O2");
	if (r->generation == TENON_GENERATION_LEGACY)
		add(&words, "-DTENON_LAUNCHER_LEGACY");
	for (i = 0; i < r->include_count; i++) {
		add(&words, "-I");
		add(&words, r->includes[i]);
	}
	add_own_headers(&words);
	add(&words, "-c");
	add(&words, source);
	add(&words, "-o");
	add(&words, object);
	err = run(&words, source);
	words_fini(&words);
	return err;
}

static bool is_source(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && strcmp(dot, ".o") && strcmp(dot, ".a");
}

/* Compile the sources of the host; @objects has room for all artifacts. */
static int make_objects(struct link_work *w, struct link_object *objects, size_t *count)
{
	struct link_object *o;
	char name[32];
	size_t i;
	int err = 0;

	for (i = 0; i < w->set.count && !err; i++) {
		if (!artifact_is_native(&w->set.items[i]))
			continue;
		o = &objects[(*count)++];
		o->source = link_path_of(w, &w->set.items[i]);
		snprintf(name, sizeof(name), "%zu.o", i);
		o->path = is_source(o->source) ? temporary(w, name) : strdup(o->source);
		if (!o->path)
			err = tenon_error(-TENON_E_NOMEM, "no memory for a path");
		else if (is_source(o->source))
			err = compile(w, o->source, o->path);
	}
	return err;
}

static int link_objects(const struct link_work *w, const struct link_object *objects, size_t count,
			const char *embedding, const char *to)
{
	struct words words = { 0 };
	size_t i;
	int err;

	add_variable(&words, "CC", "cc");
	add(&words, "-shared");
	add(&words, "-fPIC");
	add_variable(&words, "CFLAGS", "");
	for (i = 0; i < count; i++)
		add(&words, objects[i].path);
	add(&words, embedding);
	add_variable(&words, "LDFLAGS", "");
	add(&words, "-o");
	add(&words, to);
	err = run(&words, w->request->output);
	words_fini(&words);
	return err;
}

static int compile_all(struct link_work *w, struct link_object *objects, struct tenon_slice *out)
{
	char *source = temporary(w, "embed.s"), *object = temporary(w, "embed.o");
	char *result = temporary(w, "module.so");
	size_t count = 0;
	int err = 0;

	if (!source || !object || !result) {
		err = tenon_error(-TENON_E_NOMEM, "no memory for paths");
		goto out;
	}
	err = write_embedding(w);
	if (!err)
		err = compile(w, source, object);
	if (!err)
		err = make_objects(w, objects, &count);
	if (!err)
		err = link_check_objects(objects, count, object, w->request->allow_weak);
	if (!err)
		err = link_objects(w, objects, count, object, result);
	if (!err)
		err = file_map_open(result, out);
out:
	free(source);
	free(object);
	free(result);
	return err;
}

int link_compile(struct link_work *w, struct tenon_slice *out)
{
	struct link_object *objects = calloc(w->set.count + 1, sizeof(*objects));
	size_t i;
	int err;

	if (!objects)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu objects", w->set.count);
	err = make_folder(w);
	if (!err)
		err = compile_all(w, objects, out);
	remove_folder(w);
	for (i = 0; i < w->set.count; i++)
		free(objects[i].path);
	free(objects);
	return err;
}
