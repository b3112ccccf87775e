/* SPDX-License-Identifier: MIT */
/* Find what dlopen() of a driver mapped, by the dynamic sections. */
#include "tools/doctor/doctor.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/backend/buffer.h>
#include <tenon/device.h>
#include <unistd.h>

#define OBJECTS_MOST 512
#define OPEN_SECONDS 60

/**
 * struct loaded - a shared object of the process
 * @path: as the dynamic linker found it
 * @strings: its table of strings
 * @section: its dynamic section
 * @wanted: the driver brought it, or needs it
 */
struct loaded {
	const char *path;
	const char *strings;
	const ElfW(Dyn) * section;
	bool wanted;
};

struct objects {
	struct loaded at[OBJECTS_MOST];
	size_t count;
};

static int add_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct objects *all = context;
	struct loaded *one = &all->at[all->count];
	uintptr_t strings = 0;

	if (all->count == OBJECTS_MOST)
		return 1;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		*one = (struct loaded){ .path = info->dlpi_name };
		one->section = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		for (const ElfW(Dyn) *d = one->section; d->d_tag != DT_NULL; d++)
			if (d->d_tag == DT_STRTAB)
				strings = (uintptr_t)d->d_un.d_ptr;
		/* Some C libraries relocate this address, others do not. */
		one->strings = (const char *)(strings < info->dlpi_addr ? strings + info->dlpi_addr
									: strings);
		all->count++;
	}
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool needs(const struct loaded *one, const char *name, bool beginning)
{
	for (const ElfW(Dyn) *d = one->section; d->d_tag != DT_NULL; d++) {
		const char *needed;

		if (d->d_tag != DT_NEEDED)
			continue;
		needed = one->strings + d->d_un.d_val;
		if (!(beginning ? strncmp(needed, name, strlen(name)) : strcmp(needed, name)))
			return true;
	}
	return false;
}

/* Libraries that every image has, which must fit to its C library. */
static bool is_of_the_image(const char *path)
{
	static const char *const names[] = { "ld-",	   "ld.so",	 "ld64.so",	"libc.",
					     "libm.",	   "libdl.",	 "libpthread.", "librt.",
					     "libresolv.", "libutil.",	 "libmvec.",	"libnss_",
					     "libgcc_s.",  "libstdc++.", "libtenon." };
	const char *name = base_name(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return *path != '/';
}

/* Mark what a wanted object needs, and what that needs. */
static void want_needs_of(struct objects *all, const struct loaded *one)
{
	for (size_t i = 0; i < all->count; i++) {
		struct loaded *other = &all->at[i];

		if (other->wanted || !needs(one, base_name(other->path), false))
			continue;
		other->wanted = true;
		want_needs_of(all, other);
	}
}

/* Mark what was loaded since then, except plug-ins of libtenon. */
static void want_new(struct objects *all, const struct objects *before)
{
	for (size_t i = 0; i < all->count; i++) {
		struct loaded *one = &all->at[i];
		size_t k = 0;

		while (k < before->count && before->at[k].section != one->section)
			k++;
		if (k < before->count || one->wanted || needs(one, "libtenon.", true))
			continue;
		one->wanted = true;
		want_needs_of(all, one);
	}
}

static void list_wanted(const struct objects *all, struct tenon_buffer *out)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->at[i].wanted && !is_of_the_image(all->at[i].path))
			tenon_buffer_printf(out, "%s\n", all->at[i].path);
}

/* In the child process: open the device and write the list, or the reason for having none. */
static int write_list(const char *uri, int fd)
{
	static struct objects before, after;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct tenon_device *device;
	size_t done = 0;
	ssize_t n = 0;
	int err;

	alarm(OPEN_SECONDS);
	dl_iterate_phdr(add_object, &before);
	err = tenon_device_open(uri, &device);
	if (err) {
		tenon_buffer_printf(&text, "%s", tenon_error_message());
	} else {
		dl_iterate_phdr(add_object, &after);
		want_new(&after, &before);
		list_wanted(&after, &text);
	}
	for (; done < text.size && n >= 0; done += (size_t)n)
		n = write(fd, text.data + done, text.size - done);
	return err || text.status || n < 0;
}

static int read_list(int fd, struct tenon_buffer *out)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) != 0) {
		if (n < 0 && errno != EINTR)
			return tenon_error(-TENON_E_IO, "read from a child process: %s",
					   strerror(errno));
		if (n > 0)
			tenon_buffer_append(out, part, (size_t)n);
	}
	return out->status;
}

int driver_libraries(const char *uri, struct tenon_buffer *out)
{
	int fds[2], status = 0, err;
	pid_t child;

	if (pipe(fds))
		return tenon_error(-TENON_E_IO, "no pipe for a child process: %s", strerror(errno));
	child = fork();
	if (!child) {
		close(fds[0]);
		_exit(write_list(uri, fds[1]));
	}
	close(fds[1]);
	err = child < 0 ? tenon_error(-TENON_E_IO, "no child process: %s", strerror(errno))
			: read_list(fds[0], out);
	close(fds[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!err && WIFSIGNALED(status))
		err = tenon_error(-TENON_E_DEVICE,
				  "%s: its driver ended the process that opened it (signal %d)",
				  uri, WTERMSIG(status));
	else if (!err && status)
		err = tenon_error(-TENON_E_DEVICE, "%s", out->size ? out->data : uri);
	return err;
}
