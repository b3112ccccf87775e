/* SPDX-License-Identifier: MIT */
/* Keep the folder of a record: contents by their hash, entries in order, and what is left out. */
#include "runtime/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/json_quote.h"
#include "lib/whole_io.h"

/* values of an entry, beside its arguments */
#define ENTRY_VALUES 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__thread bool record_inside;

static struct {
	bool recording;
	uint32_t generation;
	pid_t owner;
	char *folder;
	int fd;
	uint64_t limit;
	uint64_t used;
	uint64_t values;
	bool full;
	int failed; /* errno of the first file that could not be written */
	struct tenon_buffer files;
	struct tenon_buffer *entries; /* by number - 1; empty for those left out */
	uint64_t count, room;
	uint64_t left_out[RECORD_LACKS];
} record;

/* Take the lock, unless nothing is recorded, or by another process: the parent. */
static bool enter(void)
{
	if (__atomic_load_n(&record.owner, __ATOMIC_RELAXED) != getpid())
		return false;
	pthread_mutex_lock(&lock);
	if (record.recording)
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

static bool enter_again(const struct record_place *place)
{
	if (!enter())
		return false;
	if (place->generation == record.generation)
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

static void leave(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- contents */

/* Write a file that must not exist. Return: 0; an errno. */
static int write_file(const char *name, struct tenon_slice bytes)
{
	int fd =
		openat(record.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	int err = 0;

	if (fd < 0)
		return errno;
	if (!write_whole(fd, bytes.data, bytes.size))
		err = errno;
	if (close(fd) && !err)
		err = errno;
	return err;
}

/* Caller holds the lock. @end: what the name ends with. */
static int keep(struct tenon_slice bytes, const char *end, char name[SHA256_TEXT])
{
	char file[SHA256_TEXT + 16];
	struct stat st;
	int err;

	sha256_of(bytes.data, bytes.size, name);
	snprintf(file, sizeof(file), "%s%s", name, end);
	/* the folder is new, so a file of this name has these contents */
	if (!fstatat(record.fd, file, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (record.full || record.failed || bytes.size > record.limit - record.used) {
		record.full = true;
		return 1 + RECORD_LACK_LIMIT;
	}
	err = write_file(file, bytes);
	if (err) {
		record.failed = err;
		return 1 + RECORD_LACK_LIMIT;
	}
	record.used += bytes.size;
	return 0;
}

int record_keep(const struct record_place *place, struct tenon_slice bytes, char name[SHA256_TEXT])
{
	int why;

	if (!enter_again(place))
		return 1 + RECORD_LACK_LIMIT;
	why = keep(bytes, "", name);
	leave();
	return why;
}

/* ---- entries */

bool record_open_place(struct record_place *out)
{
	if (!enter())
		return false;
	if (record.full || !array_reserve(record.entries, record.room, record.count + 1)) {
		record.full = true;
		record.left_out[RECORD_LACK_LIMIT]++;
		leave();
		return false;
	}
	record.entries[record.count] = (struct tenon_buffer)TENON_BUFFER_INIT;
	out->number = ++record.count;
	out->generation = record.generation;
	leave();
	return true;
}

/* As lib/json_tree.c counts them. */
static uint64_t values_in(const struct tenon_buffer *text)
{
	uint64_t count = ENTRY_VALUES;
	size_t i;

	for (i = 0; i < text->size; i++)
		count += text->data[i] == ',' || text->data[i] == '[' || text->data[i] == '{';
	return count;
}

void record_close_place(const struct record_place *place, struct tenon_buffer *text)
{
	const uint64_t values = values_in(text);

	if (!enter_again(place)) {
		tenon_buffer_fini(text);
		return;
	}
	if (text->status || text->size > record.limit - record.used ||
	    values > RECORD_VALUES_MOST - record.values) {
		record.full = true;
		record.left_out[RECORD_LACK_LIMIT]++;
		tenon_buffer_fini(text);
	} else {
		record.used += text->size;
		record.values += values;
		record.entries[place->number - 1] = *text;
		*text = (struct tenon_buffer)TENON_BUFFER_INIT;
	}
	leave();
}

void record_leave_out(const struct record_place *place, enum record_lack why)
{
	if (place ? !enter_again(place) : !enter())
		return;
	record.left_out[why]++;
	leave();
}

/* ---- files of the module */

/* The end of a name that loaders go by: ".so"; "" for one that is not kept. */
static void end_of(const char *path, char end[16])
{
	const char *dot = strrchr(path, '.');

	*end = '\0';
	if (dot && strlen(dot) < 16 &&
	    strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(dot + 1))
		strcpy(end, dot);
}

static void keep_file(const char *path)
{
	const char *base = strrchr(path, '/');
	struct tenon_slice bytes;
	char name[SHA256_TEXT], end[16];
	bool kept = false;

	end_of(path, end);
	/* a manifest names other files, which would not be kept */
	if (strcmp(end, ".json") && !file_map_open(path, &bytes)) {
		kept = !keep(bytes, end, name);
		file_map_close(&bytes);
		/* too large a module does not make the record full */
		record.full = false;
	}
	tenon_error_clear();
	tenon_buffer_printf(&record.files, "%s\n{\"name\":", record.files.size ? "," : "");
	json_quote(&record.files, tenon_slice_of(base ? base + 1 : path));
	if (kept)
		tenon_buffer_printf(&record.files, ",\"file\":\"%s%s\"", name, end);
	else
		record.left_out[RECORD_LACK_FILE]++;
	tenon_buffer_printf(&record.files, "}");
}

/* ---- beginning and end */

static int make_folder(const char *folder)
{
	if (mkdir(folder, 0777))
		return errno == EEXIST
			       ? tenon_error(-TENON_E_EXISTS,
					     "%s exists; a record is written to a new folder",
					     folder)
			       : tenon_error(-TENON_E_IO, "%s: cannot be created: %s", folder,
					     strerror(errno));
	record.fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (record.fd < 0)
		return tenon_error(-TENON_E_IO, "%s: %s", folder, strerror(errno));
	return 0;
}

static int begin(const void *context)
{
	const struct record_options *o = context;
	size_t i;
	int err;

	if (record.recording)
		return tenon_error(-TENON_E_USAGE,
				   "%s: a process whose parent is recorded writes no record",
				   o->folder);
	record.folder = strdup(o->folder);
	if (!record.folder)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a record", o->folder);
	err = make_folder(o->folder);
	if (err) {
		free(record.folder);
		return err;
	}
	record.limit = o->limit;
	record.used = record.values = record.count = record.room = 0;
	record.full = false;
	record.failed = 0;
	record.entries = NULL;
	record.files = (struct tenon_buffer)TENON_BUFFER_INIT;
	memset(record.left_out, 0, sizeof(record.left_out));
	for (i = 0; i < o->file_count; i++)
		keep_file(o->files[i]);
	pthread_mutex_lock(&lock);
	record.generation++;
	record.recording = true;
	__atomic_store_n(&record.owner, getpid(), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void put_left_out(struct tenon_buffer *out)
{
	static const char *const keys[RECORD_LACKS] = { "limit",   "argument", "commands",
							"reading", "failed",   "file" };
	unsigned int i;

	tenon_buffer_printf(out, "\n],\"left_out\":{");
	for (i = 0; i < RECORD_LACKS; i++)
		tenon_buffer_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "", keys[i],
				    record.left_out[i]);
	tenon_buffer_printf(out, "}}\n");
}

static int manifest(struct tenon_buffer *out, uint64_t *operations)
{
	uint64_t i;

	tenon_buffer_printf(out,
			    "{\"format\":\"%s\",\"version\":%d,\"tenon\":\"%s\",\"limit\":%" PRIu64
			    ",\"modules\":[",
			    RECORD_FORMAT, RECORD_VERSION, tenon_version(), record.limit);
	tenon_buffer_append(out, record.files.data, record.files.size);
	tenon_buffer_printf(out, "\n],\"operations\":[");
	for (i = 0; i < record.count; i++) {
		if (!record.entries[i].size)
			continue;
		tenon_buffer_printf(out, "%s\n", (*operations)++ ? "," : "");
		tenon_buffer_append(out, record.entries[i].data, record.entries[i].size);
	}
	put_left_out(out);
	return out->status;
}

/* The manifest comes last, and after all other bytes are on the disk: what has one is whole. */
static int write_manifest(const struct tenon_buffer *text)
{
	const struct tenon_slice part = { text->data, text->size };
	char *path;
	int err;

	if (record.failed)
		return tenon_error(-TENON_E_IO, "%s: %s", record.folder, strerror(record.failed));
	if (syncfs(record.fd))
		return tenon_error(-TENON_E_IO, "%s: %s", record.folder, strerror(errno));
	if (asprintf(&path, "%s/%s", record.folder, RECORD_MANIFEST) < 0)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a path", record.folder);
	err = file_write(path, &part, 1);
	free(path);
	return err;
}

static void release(void)
{
	uint64_t i;

	for (i = 0; i < record.count; i++)
		tenon_buffer_fini(&record.entries[i]);
	free(record.entries);
	tenon_buffer_fini(&record.files);
	close(record.fd);
	free(record.folder);
}

static int end(struct record_report *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	if (__atomic_load_n(&record.owner, __ATOMIC_RELAXED) != getpid())
		return tenon_error(-TENON_E_USAGE, "the record is of the parent process");
	pthread_mutex_lock(&lock);
	record.recording = false;
	pthread_mutex_unlock(&lock);
	err = manifest(&text, &out->operations);
	if (!err)
		err = write_manifest(&text);
	out->bytes = record.used;
	memcpy(out->left_out, record.left_out, sizeof(out->left_out));
	tenon_buffer_fini(&text);
	release();
	return err;
}

const struct recorder run_recorder = {
	.tracer = { .submit = record_submit, .before = record_before_operator },
	.begin = begin,
	.end = end,
};
