/* SPDX-License-Identifier: MIT */
/* Unpack uploaded objects and link them by the machine's compiler. */
#include "rpc/server/session_link.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"

#include "driver/archive/archive.h"

#define WORDS_MOST 2000 /* bytes of the compiler's messages that an error has */

extern char **environ;

static bool ends_in(const char *name, const char *end)
{
	size_t size = strlen(name), more = strlen(end);

	return size > more && !strcmp(name + size - more, end);
}

bool session_is_linked(const char *name)
{
	return ends_in(name, ".o") || ends_in(name, ".tar");
}

/**
 * struct linking - one run of the compiler
 * @words: the command: compiler, options, objects; allocated
 * @count: how many
 * @objects: index of the first object
 * @path: what the client uploaded; allocated, as are the following
 * @output: the shared object
 * @log: file of the compiler's messages
 * @folder: of unpacked objects; NULL without an archive
 */
struct linking {
	char **words;
	size_t count;
	size_t objects;
	char *path;
	char *output;
	char *log;
	char *folder;
};

static int no_memory(void)
{
	return tenon_error(-TENON_E_NOMEM, "no memory to link objects");
}

/* Add a word, whose memory passes to the list, also on failure. NULL: there was no memory for it. */
static int add_word(struct linking *l, char *word)
{
	char **more = word ? reallocarray(l->words, l->count + 2, sizeof(*more)) : NULL;

	if (!more) {
		free(word);
		return no_memory();
	}
	l->words = more;
	l->words[l->count++] = word;
	l->words[l->count] = NULL;
	return 0;
}

/* linking_fini() follows, also on failure. */
static int linking_init(struct linking *l, const char *folder, const char *name)
{
	*l = (struct linking){ 0 };
	if (asprintf(&l->path, "%s/%s", folder, name) < 0)
		l->path = NULL;
	if (asprintf(&l->output, "%s/%s.so", folder, name) < 0)
		l->output = NULL;
	if (asprintf(&l->log, "%s/.link", folder) < 0)
		l->log = NULL;
	return l->path && l->output && l->log ? 0 : no_memory();
}

static void linking_fini(struct linking *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		if (l->folder && i >= l->objects)
			unlink(l->words[i]);
		free(l->words[i]);
	}
	if (l->folder)
		rmdir(l->folder);
	free(l->folder);
	free(l->words);
	if (l->log)
		unlink(l->log);
	free(l->log);
	free(l->output);
	free(l->path);
}

/* ---- archives */

static int unpack_one(struct linking *l, const struct archive_file *f, size_t index)
{
	const struct tenon_slice bytes = { f->bytes.data, f->bytes.size };
	const char *base = strrchr(f->path, '/');
	char *path = NULL;
	int err;

	/* the number keeps names apart that differ in their folders */
	if (asprintf(&path, "%s/%zu-%s", l->folder, index, base ? base + 1 : f->path) < 0)
		return no_memory();
	err = file_write(path, &bytes, 1);
	if (err) {
		free(path);
		return err;
	}
	return add_word(l, path);
}

static int unpack(struct session *s, const char *name, struct linking *l)
{
	struct archive_files files = { NULL, 0 };
	struct tenon_slice bytes;
	uint64_t size = 0;
	size_t i;
	int err;

	err = file_map_open(l->path, &bytes);
	if (err)
		return err;
	err = archive_read(bytes, name, &files);
	for (i = 0; i < files.count; i++)
		size += files.items[i].bytes.size;
	if (!err &&
	    (size > s->options->folder_most || s->folder_used > s->options->folder_most - size))
		err = tenon_error(-TENON_E_IO,
				  "%s: %" PRIu64 " bytes of objects are more than the folder may "
				  "have (tenon rpc serve --folder-size)",
				  name, size);
	if (!err && (asprintf(&l->folder, "%s.objects", l->path) < 0 || mkdir(l->folder, 0700)))
		err = tenon_error(-TENON_E_IO, "%s: a folder for its objects: %s", name,
				  strerror(errno));
	for (i = 0; i < files.count && !err; i++)
		err = unpack_one(l, &files.items[i], i);
	archive_files_fini(&files);
	file_map_close(&bytes);
	return err;
}

/* ---- the compiler */

/* The environment with TMPDIR in the session's folder, the only one that it may write to. */
static char **environment(const char *folder, char **temporary)
{
	size_t count = 0, i, n = 0;
	char **list;

	while (environ[count])
		count++;
	if (asprintf(temporary, "TMPDIR=%s", folder) < 0) {
		*temporary = NULL;
		return NULL;
	}
	list = calloc(count + 2, sizeof(*list));
	if (!list)
		return NULL;
	list[n++] = *temporary;
	for (i = 0; i < count; i++)
		if (strncmp(environ[i], "TMPDIR=", 7))
			list[n++] = environ[i];
	return list;
}

static int start(const struct session *s, const struct linking *l, pid_t *pid)
{
	char *temporary, **list = environment(s->folder, &temporary);
	posix_spawn_file_actions_t actions;
	int err = list ? posix_spawn_file_actions_init(&actions) : ENOMEM;

	if (err)
		goto free_list;
	err = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, l->log,
					       O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	if (!err)
		err = posix_spawnp(pid, l->words[0], &actions, NULL, l->words, list);
	posix_spawn_file_actions_destroy(&actions);
free_list:
	free(list);
	free(temporary);
	return err;
}

/* Raise an error that ends in what the compiler said last. */
static int refuse(const struct linking *l, const char *name, int status)
{
	struct tenon_slice log = { NULL, 0 };
	size_t skip;

	if (file_map_open(l->log, &log))
		tenon_error_clear();
	skip = log.size > WORDS_MOST ? log.size - WORDS_MOST : 0;
	tenon_error(-TENON_E_CALL,
		    "%s: %s on the server does not link its objects (status %d): %.*s", name,
		    l->words[0], status, (int)(log.size - skip), log.data ? log.data + skip : "");
	file_map_close(&log);
	return -TENON_E_CALL;
}

static int compile(const struct session *s, const struct linking *l, const char *name)
{
	int status, err;
	pid_t pid;

	err = start(s, l, &pid);
	if (err)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s: the server links objects with the compiler %s, which does "
			"not run there (%s). Install one on the server (Debian: gcc), or "
			"upload a shared object: export_library(\"x.so\"), for MetaSchedule "
			"LocalBuilder(f_export=...)",
			name, l->words[0], strerror(err));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return tenon_error(-TENON_E_IO, "%s: %s", l->words[0], strerror(errno));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return refuse(l, name, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* The compiler is $CC, which may be several words, as make has it. */
static int add_command(struct linking *l)
{
	const char *at = getenv("CC");
	int err = 0;
	size_t n;

	if (!at || !at[strspn(at, " ")])
		at = "cc";
	for (at += strspn(at, " "); *at && !err; at += n + strspn(at + n, " ")) {
		n = strcspn(at, " ");
		err = add_word(l, strndup(at, n));
	}
	if (!err)
		err = add_word(l, strdup("-shared"));
	if (!err)
		err = add_word(l, strdup("-o"));
	if (!err)
		err = add_word(l, strdup(l->output));
	l->objects = l->count;
	return err;
}

/* What was linked before may be loaded, and must not change under its code: remove it first. */
static int remove_earlier(struct session *s, const char *output)
{
	struct stat st;

	if (lstat(output, &st))
		return 0;
	if (unlink(output))
		return tenon_error(-TENON_E_IO, "%s: %s", output, strerror(errno));
	s->folder_used -=
		(uint64_t)st.st_size < s->folder_used ? (uint64_t)st.st_size : s->folder_used;
	return 0;
}

static int link_objects(struct session *s, const char *name, struct linking *l)
{
	struct stat st;
	int err;

	if (stat(l->path, &st))
		return tenon_error(-TENON_E_IO, "cannot find file %s", name);
	err = add_command(l);
	if (!err && ends_in(name, ".tar"))
		err = unpack(s, name, l);
	else if (!err)
		err = add_word(l, strdup(l->path));
	if (!err)
		err = remove_earlier(s, l->output);
	if (!err)
		err = compile(s, l, name);
	if (!err && !stat(l->output, &st))
		s->folder_used += (uint64_t)st.st_size;
	return err;
}

int session_link(struct session *s, char name[PATH_MAX])
{
	struct linking l;
	int err;

	if (!s->options->native_code)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: this server runs no native code, and links none (tenon rpc "
				   "serve --no-native-code)",
				   name);
	if (strlen(name) + sizeof(".so") > PATH_MAX)
		return tenon_error(-TENON_E_VALUE, "%s: the name is too long to link it", name);
	err = linking_init(&l, s->folder, name);
	if (!err)
		err = link_objects(s, name, &l);
	linking_fini(&l);
	if (!err)
		strcat(name, ".so");
	return err;
}
