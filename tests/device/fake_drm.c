/* SPDX-License-Identifier: MIT */
/* A named fake of libdrm: a node that holds text is of the driver that the text names, version 3.57.1. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct version {
	int major, minor, patchlevel;
	int name_size;
	char *name;
	char text[32];
};

struct version *drmGetVersion(int fd);
void drmFreeVersion(struct version *version);

struct version *drmGetVersion(int fd)
{
	struct version *v = calloc(1, sizeof(*v));
	ssize_t n = v ? read(fd, v->text, sizeof(v->text)) : 0;

	if (n <= 0) {
		free(v);
		return NULL;
	}
	v->major = 3;
	v->minor = 57;
	v->patchlevel = 1;
	v->name_size = (int)n;
	v->name = v->text;
	return v;
}

void drmFreeVersion(struct version *version)
{
	free(version);
}
