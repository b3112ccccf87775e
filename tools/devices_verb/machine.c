/* SPDX-License-Identifier: MIT */
/* Read the processor's name and features from /proc/cpuinfo. */
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/devices_verb/machine.h"
#include "tools/file/file.h"

/* flags that matter to code generators; a kernel lists several hundred */
static const char *const telling[] = {
	"sse4_2",   "avx",	   "f16c",     "fma",	      "avx2",	     "avx512f",
	"avx512bw", "avx512_vnni", "avx_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
	"neon",	    "vfpv4",	   "asimd",    "asimdhp",     "asimddp",     "sve",
	"sve2",	    "i8mm",	   "bf16",     "sme",
};

static const char *after_colon(const char *line)
{
	const char *colon = strchr(line, ':');

	return colon ? colon + 1 + strspn(colon + 1, " \t") : NULL;
}

static void keep_features(struct machine *m, char *list)
{
	char *save, *word;
	size_t used = 0;

	for (word = strtok_r(list, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save)) {
		for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++) {
			if (!strcmp(word, telling[i]) &&
			    used + strlen(word) + 2 < sizeof(m->features))
				used += (size_t)snprintf(m->features + used,
							 sizeof(m->features) - used, "%s%s",
							 used ? " " : "", word);
		}
	}
}

static void read_line(struct machine *m, char *line)
{
	const char *value = after_colon(line);

	if (!value)
		return;
	if (!*m->model && (!strncmp(line, "model name", 10) || !strncmp(line, "uarch", 5)))
		snprintf(m->model, sizeof(m->model), "%.*s", (int)strcspn(value, "\n"), value);
	if (*m->features)
		return;
	if (!strncmp(line, "flags", 5) || !strncmp(line, "Features", 8))
		keep_features(m, line + (value - line));
	else if (!strncmp(line, "isa", 3) && isspace((unsigned char)line[3])) /* RISC-V */
		snprintf(m->features, sizeof(m->features), "%.*s", (int)strcspn(value, "\n"),
			 value);
}

static void read_processor(struct machine *m)
{
	struct tenon_buffer info = TENON_BUFFER_INIT;
	char *line, *end;

	if (file_read_text("/proc/cpuinfo", &info))
		tenon_error_clear();
	for (line = info.data; line && *line && !(*m->model && *m->features); line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		read_line(m, line);
	}
	tenon_buffer_fini(&info);
}

void machine_read(struct machine *m)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	struct utsname name;
	cpu_set_t set;

	memset(m, 0, sizeof(*m));
	if (!uname(&name))
		snprintf(m->arch, sizeof(m->arch), "%s", name.machine);
	if (pages > 0 && page > 0)
		m->memory = (uint64_t)pages * (uint64_t)page;
	m->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (!sched_getaffinity(0, sizeof(set), &set))
		m->processors = CPU_COUNT(&set);
	read_processor(m);
}
