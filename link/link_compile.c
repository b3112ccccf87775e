/* SPDX-License-Identifier: MIT */
/* Run the compiler: sources to objects, objects and blob to a shared object. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "link/link_request.h"
#include "link/link_system.h"

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
static int run_compiler(struct words *w, const char *what)
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

/* ---- the compiler */

/*
 * The file that has this code: the library, or a program that has it inside. The dynamic linker has the name by which a
 * program was started; the kernel knows its file.
 */
static bool own_file(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	Dl_info own;

	if (n > 0)
		path[n] = 0;
	if (dladdr((const void *)link_compile, &own) && own.dli_fname &&
	    strstr(own.dli_fname, "libtenon-link"))
		return realpath(own.dli_fname, path);
	return n > 0;
}

/* The folder of tenon/launcher.h where this was built or installed: PREFIX of PREFIX/bin, or of PREFIX/lib/MACHINE. */
static void add_own_headers(struct words *w)
{
	char path[PATH_MAX], header[PATH_MAX + 64], *slash;
	int up;

	if (!own_file(path))
		return;
	for (up = 0; up < 3; up++) {
		slash = strrchr(path, '/');
		if (!slash)
			return;
		*slash = 0;
		snprintf(header, sizeof(header), "%s/include/tenon/launcher.h", path);
		if (!up || access(header, R_OK))
			continue;
		add(w, "-isystem");
		snprintf(header, sizeof(header), "%s/include", path);
		add(w, header);
		return;
	}
}

static bool is_assembler(const char *source)
{
	const char *dot = strrchr(source, '.');

	return dot && !strcmp(dot, ".s");
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
	/* clang warns of what the assembler does not read: a macro, a folder of headers */
	if (r->generation == TENON_GENERATION_LEGACY && !is_assembler(source))
		add(&words, "-DTENON_LAUNCHER_LEGACY");
	for (i = 0; i < r->include_count; i++) {
		add(&words, "-I");
		add(&words, r->includes[i]);
	}
	if (!is_assembler(source))
		add_own_headers(&words);
	add(&words, "-c");
	add(&words, source);
	add(&words, "-o");
	add(&words, object);
	err = run_compiler(&words, source);
	words_fini(&words);
	return err;
}

static bool is_source(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && strcmp(dot, ".o") && strcmp(dot, ".a");
}

static int compile_source(const struct link_work *w, const struct link_object *o)
{
	link_say(w->request, "compiling", o->source);
	return compile(w, o->source, o->path);
}

/* Compile the sources of the host; there is room for all artifacts. */
static int make_objects(struct link_work *w)
{
	struct link_object *o;
	char name[32];
	size_t i;
	int err = 0;

	for (i = 0; i < w->set.count && !err; i++) {
		if (!artifact_is_native(&w->set.items[i]))
			continue;
		o = &w->objects[w->object_count++];
		o->source = link_path_of(w, &w->set.items[i]);
		snprintf(name, sizeof(name), "%zu.o", i);
		o->path = is_source(o->source) ? temporary(w, name) : strdup(o->source);
		if (!o->path)
			err = tenon_error(-TENON_E_NOMEM, "no memory for a path");
		else if (is_source(o->source))
			err = compile_source(w, o);
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
	if (w->request->system) {
		add(&words, "-r");
		add(&words, "-nostdlib");
	} else {
		add(&words, "-shared");
		add(&words, "-fPIC");
	}
	add_variable(&words, "CFLAGS", "");
	for (i = 0; i < count; i++)
		add(&words, objects[i].path);
	add(&words, embedding);
	if (!w->request->system) {
		add_variable(&words, "LDFLAGS", "");
		add(&words, "-Wl,--as-needed");
		add(&words, "-lm");
	}
	add(&words, "-o");
	add(&words, to);
	err = run_compiler(&words, w->request->output);
	words_fini(&words);
	return err;
}

/* ---- a module that is linked into a program */

/* Compile the source that registers the symbols of @whole. */
static int make_registration(const struct link_work *w, const char *whole, const char *source,
			     const char *object)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	err = link_system_source(whole, w->request->generation,
				 w->request->prefix ? w->request->prefix : "", &text);
	if (!err)
		err = link_folder_write(w->folder, "register.c",
					(struct tenon_slice){ text.data, text.size });
	if (!err)
		err = compile(w, source, object);
	tenon_buffer_fini(&text);
	return err;
}

/* Make all symbols local that an object defines, so that they meet no others in the program. */
static int localise(const struct link_work *w, const char *object)
{
	struct words words = { 0 };
	int err;

	add_variable(&words, "OBJCOPY", "objcopy");
	add(&words, "--keep-global-symbol=");
	add(&words, object);
	err = run_compiler(&words, w->request->output);
	words_fini(&words);
	return err;
}

/* Make one object of the module's code, its import tree and what registers them. */
static int make_system_object(struct link_work *w, const char *whole, const char *to)
{
	char *source = temporary(w, "register.c"), *object = temporary(w, "register.o");
	struct link_object own = { .path = (char *)(uintptr_t)whole };
	int err;

	if (source && object)
		err = make_registration(w, whole, source, object);
	else
		err = tenon_error(-TENON_E_NOMEM, "no memory for paths");
	if (!err)
		err = link_objects(w, &own, 1, object, to);
	if (!err)
		err = localise(w, to);
	free(source);
	free(object);
	return err;
}

/* Make the object file of the import tree, and link it with all others. */
static int embed_and_link(struct link_work *w, struct tenon_slice *out)
{
	char *source = temporary(w, LINK_EMBED_SOURCE), *object = temporary(w, "embed.o");
	char *result = temporary(w, "module.so"), *whole = temporary(w, "whole.o");
	int err = 0;

	if (!source || !object || !result || !whole) {
		err = tenon_error(-TENON_E_NOMEM, "no memory for paths");
		goto out;
	}
	err = link_embed_write(w);
	if (!err)
		err = compile(w, source, object);
	if (!err)
		err = link_check_objects(w->objects, w->object_count, object,
					 w->request->allow_weak);
	if (!err)
		err = link_objects(w, w->objects, w->object_count, object,
				   w->request->system ? whole : result);
	if (!err && w->request->system)
		err = make_system_object(w, whole, result);
	if (!err)
		err = file_map_open(result, out);
out:
	free(source);
	free(object);
	free(result);
	free(whole);
	return err;
}

int link_join(struct link_work *w, struct link_output *out)
{
	int err;

	err = embed_and_link(w, &out->linked);
	if (err)
		return err;
	if (link_embed_is_apart(w))
		return link_embed_put(w, out);
	out->parts = calloc(1, sizeof(*out->parts));
	if (!out->parts)
		return tenon_error(-TENON_E_NOMEM, "no memory for the parts of a file");
	out->parts[0] = out->linked;
	out->count = 1;
	return 0;
}

void link_output_fini(struct link_output *out)
{
	file_map_close(&out->linked);
	tenon_buffer_fini(&out->moved);
	free(out->parts);
}

int link_compile(struct link_work *w)
{
	int err;

	w->objects = calloc(w->set.count + 1, sizeof(*w->objects));
	if (!w->objects)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu objects", w->set.count);
	err = link_folder_make(w->folder);
	return err ? err : make_objects(w);
}

void link_compile_fini(struct link_work *w)
{
	size_t i;

	link_folder_remove(w->folder);
	for (i = 0; i < w->object_count; i++)
		free(w->objects[i].path);
	free(w->objects);
}
