/* SPDX-License-Identifier: MIT */
/* Check the library itself, the limits of the process, caches and memory. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/tenon.h>
#include <tenon/threads.h>

#include "lib/option.h"
#include "runtime/library/compat_library.h"
#include "tools/doctor/checkup.h"
#include "tools/doctor/doctor.h"
#include "tools/text/text.h"

static void found(struct finding *f, enum finding_level level, const char *format, ...)
	TENON_PRINTF(3, 4);

static void found(struct finding *f, enum finding_level level, const char *format, ...)
{
	va_list args;

	f->level = level;
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

static void check_version(struct finding *f)
{
	found(f, FINDING_OK, "tenon %s", tenon_version());
}

static void check_configuration(struct finding *f)
{
	found(f, FINDING_OK, "%s", tenon_configuration());
}

static void check_dlopen(struct finding *f)
{
	void *self;

	if (!OPTION_ON(DSO)) {
		found(f, FINDING_WARN, "this build opens no shared objects");
		checkup_remedy(f, "build with CONFIG_DSO to load modules from files");
		return;
	}
	self = dlopen(NULL, RTLD_LAZY);
	if (self) {
		dlclose(self);
		found(f, FINDING_OK, "the dynamic linker opens shared objects");
		return;
	}
	found(f, FINDING_FAIL, "the dynamic linker does not open shared objects: %s", dlerror());
	checkup_remedy(f, "use a tenon that is not linked statically");
}

static void check_compat(struct finding *f)
{
	if (!OPTION_ON(DSO) || !OPTION_ON(TVM_FFI_COMPAT)) {
		found(f, FINDING_OK,
		      "not in this build: modules that import the runtime's names do not "
		      "load");
		return;
	}
	if (!compat_library_open(false)) {
		found(f, FINDING_OK, "%s", compat_library_path());
		return;
	}
	found(f, FINDING_WARN, "%s", tenon_error_message());
	tenon_error_clear();
	checkup_remedy(f, "modules that import the runtime's names do not load; others do");
}

static void check_threads(struct finding *f)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	int workers = tenon_parallel_workers();

	found(f, FINDING_OK, "parallel loops run on %d of %ld processors", workers, online);
	if (workers >= online)
		return;
	checkup_remedy(f, "%s",
		       getenv("TENON_NUM_THREADS") || getenv("TVM_NUM_THREADS")
			       ? "the environment limits them"
			       : "more only if taskset, cpuset and the configuration allow it");
}

static void check_page_size(struct finding *f)
{
	char text[SIZE_TEXT];

	found(f, FINDING_OK, "%s", size_text((uint64_t)sysconf(_SC_PAGESIZE), text));
}

static void check_huge_pages(struct finding *f)
{
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
	char line[128] = "", *chosen, *end;

	if (fd >= 0) {
		if (read(fd, line, sizeof(line) - 1) < 0)
			*line = '\0';
		close(fd);
	}
	chosen = strchr(line, '[');
	end = chosen ? strchr(chosen, ']') : NULL;
	if (!end) {
		found(f, FINDING_OK, "this kernel has none");
		return;
	}
	*end = '\0';
	found(f, FINDING_OK, "transparent huge pages: %s", chosen + 1);
	if (strcmp(chosen + 1, "never"))
		return;
	f->level = FINDING_WARN;
	checkup_remedy(f, "large parameters load faster after: echo madvise > "
			  "/sys/kernel/mm/transparent_hugepage/enabled");
}

/* Make and remove a folder in a folder: permissions alone say little to root, /proc or an NFS. */
static const char *try_folder(const char *path)
{
	char name[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s/.tenon-doctor-XXXXXX", path) >= (int)sizeof(name))
		return strerror(ENAMETOOLONG);
	if (!mkdtemp(name))
		return strerror(errno);
	rmdir(name);
	return NULL;
}

/*
 * Test whether a folder is usable, or can be created below its nearest existing parent. NULL; the
 * reason if not. @path becomes the folder that was tested.
 */
static const char *unusable(char *path)
{
	struct stat st;

	while (stat(path, &st)) {
		char *slash = strrchr(path, '/');

		if (errno != ENOENT || !slash || slash == path)
			return strerror(errno);
		*slash = '\0';
	}
	if (!S_ISDIR(st.st_mode))
		return strerror(ENOTDIR);
	if (st.st_uid && st.st_uid != geteuid())
		return "belongs to another user";
	return try_folder(path);
}

/* The same for the folder of each API, which another user may have created; changes @path. */
static const char *kind_unusable(char *path, size_t room)
{
	static const char *const kinds[] = { "cuda", "opencl", "vulkan" };
	size_t base = strlen(path), i;
	const char *why = NULL;
	struct stat st;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !why; i++) {
		snprintf(path + base, room - base, "/%s", kinds[i]);
		if (!stat(path, &st) && st.st_uid && st.st_uid != geteuid())
			why = "belongs to another user";
	}
	return why;
}

static void check_cache(struct finding *f)
{
	const char *own = secure_getenv("TENON_CACHE_DIR");
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	char path[160], tried[176];
	const char *why;

	if (own && !*own) {
		found(f, FINDING_OK, "compiled kernels are not kept: TENON_CACHE_DIR is empty");
		return;
	}
	if (own) {
		snprintf(path, sizeof(path), "%s", own);
	} else if (cache && *cache == '/') {
		snprintf(path, sizeof(path), "%s/tenon", cache);
	} else if (home && *home == '/') {
		snprintf(path, sizeof(path), "%s/.cache/tenon", home);
	} else {
		found(f, FINDING_WARN, "neither XDG_CACHE_HOME nor HOME names a folder");
		checkup_remedy(f, "set TENON_CACHE_DIR, so that compiled kernels can be kept");
		return;
	}
	strcpy(tried, path);
	why = unusable(tried);
	if (!why) {
		strcpy(tried, path);
		why = kind_unusable(tried, sizeof(tried));
	}
	if (!why) {
		found(f, FINDING_OK, "%s can be written", path);
		return;
	}
	found(f, FINDING_WARN, "%s cannot be used: %s: %s", path, tried, why);
	checkup_remedy(
		f, "set TENON_CACHE_DIR to a folder that can be written, to keep compiled kernels");
}

static void check_files(struct finding *f)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		found(f, FINDING_WARN, "the limit cannot be read: %s", strerror(errno));
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY)
		found(f, FINDING_OK, "as many open files as there are");
	else
		found(f, limit.rlim_cur < 256 ? FINDING_WARN : FINDING_OK, "%llu open files",
		      (unsigned long long)limit.rlim_cur);
	if (f->level == FINDING_WARN)
		checkup_remedy(f, "raise it: ulimit -n 1024");
}

static void check_limit(struct finding *f, int resource, uint64_t least, const char *what,
			const char *raise)
{
	struct rlimit limit;
	char text[SIZE_TEXT];

	if (getrlimit(resource, &limit)) {
		found(f, FINDING_WARN, "the limit cannot be read: %s", strerror(errno));
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY) {
		found(f, FINDING_OK, "%s: no limit", what);
		return;
	}
	found(f, limit.rlim_cur < least ? FINDING_WARN : FINDING_OK, "%s: %s", what,
	      size_text(limit.rlim_cur, text));
	if (f->level == FINDING_WARN)
		checkup_remedy(f, "raise it: %s", raise);
}

static void check_stack(struct finding *f)
{
	check_limit(f, RLIMIT_STACK, 1u << 20, "stack of the main thread", "ulimit -s 8192");
}

static void check_memory(struct finding *f)
{
	check_limit(f, RLIMIT_AS, UINT64_C(1) << 30, "address space", "ulimit -v unlimited");
}

static const struct check {
	const char *name;
	void (*check)(struct finding *f);
} checks[] = {
	{ "version", check_version },	    { "configuration", check_configuration },
	{ "shared objects", check_dlopen }, { "compat library", check_compat },
	{ "threads", check_threads },	    { "page size", check_page_size },
	{ "huge pages", check_huge_pages }, { "cache", check_cache },
	{ "open files", check_files },	    { "stack", check_stack },
	{ "memory", check_memory },
};

size_t doctor_examine(struct finding *findings, bool verbose)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!verbose && checks[i].check == check_configuration)
			continue;
		memset(&findings[count], 0, sizeof(findings[count]));
		findings[count].name = checks[i].name;
		checks[i].check(&findings[count++]);
	}
	if (OPTION_ON(DEVICES))
		count += doctor_devices(findings + count, FINDINGS_MOST - count);
	return count;
}
