/* SPDX-License-Identifier: MIT */
/* Write the suite's kernels as GLSL, and compile them. */
#include "tests/cts/vulkan_glsl.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "tests/vulkan/vulkan_environment.h"

/*
 * @element: of all buffers. Buffer i is b<i>.d[]; scalar i is s<i>. Scalars of fewer than 32 bits
 * are words of which only the low bits count.
 */
static const struct kernel {
	const char *name;
	const char *element;
	const char *threads;
	const char *body;
} kernels[] = {
	{ "add", "int", "local_size_x = 32",
	  "int i = int(gl_GlobalInvocationID.x); if (i < s0) b2.d[i] = b0.d[i] + b1.d[i];" },
	{ "scale", "float", "local_size_x = 32",
	  "int i = int(gl_GlobalInvocationID.x); if (i < s1) b0.d[i] *= s0;" },
	{ "bump", "int", "local_size_x = 1", "b0.d[gl_WorkGroupID.x] += 1;" },
	{ "order", "int", "local_size_x = 1",
	  "b0.d[0] = s0; b0.d[1] = int(s1 * 4.0); b0.d[2] = int(s2); b0.d[3] = b1.d[0]; b0.d[4] = "
	  "s3;" },
	{ "order_wide", "int64_t", "local_size_x = 1",
	  "b0.d[0] = bitfieldExtract(s0, 0, 8); b0.d[1] = int64_t(s1 * 4.0lf); b0.d[2] = s2; "
	  "b0.d[3] = s3; b0.d[4] = b1.d[0]; b0.d[5] = bitfieldExtract(s4, 0, 16);" },
	{ "many", "int", "local_size_x = 1",
	  "b0.d[0] = s0; b0.d[1] = s1; b0.d[2] = s2; b0.d[3] = s3; b0.d[4] = s4; "
	  "b0.d[5] = s5; b0.d[6] = s6; b0.d[7] = s7; b0.d[8] = s8; b0.d[9] = s9;" },
	{ "where", "int", "local_size_x = 1",
	  "uvec3 w = gl_WorkGroupID, n = gl_NumWorkGroups; "
	  "b0.d[(w.z * n.y + w.y) * n.x + w.x] = int(w.x + 10 * w.y + 100 * w.z);" },
	{ "threads", "int", "local_size_x = 4, local_size_y = 2",
	  "uvec3 t = gl_LocalInvocationID; b0.d[gl_WorkGroupID.x * 8 + t.y * 4 + t.x] = "
	  "int(1000 * gl_WorkGroupID.x + 10 * t.y + t.x);" },
	{ "reverse", "int", "local_size_x = 16",
	  "uint t = gl_LocalInvocationID.x, i = gl_GlobalInvocationID.x; shared_words[15 - t] = "
	  "b0.d[i]; "
	  "barrier(); b0.d[i] = shared_words[t];" },
};

/* scalar_* copy bits: a type of the size does for all types of it */
static const struct {
	const char *type;
	const char *scalar;
	const char *element;
} types[] = {
	{ "int8", "int", "uint8_t" },	   { "uint8", "uint", "uint8_t" },
	{ "int16", "int", "uint16_t" },	   { "uint16", "uint", "uint16_t" },
	{ "int32", "int", "int" },	   { "uint32", "uint", "uint" },
	{ "int64", "int64_t", "int64_t" }, { "uint64", "uint64_t", "uint64_t" },
	{ "float16", "uint", "uint16_t" }, { "bfloat16", "uint", "uint16_t" },
	{ "float32", "float", "float" },   { "float64", "double", "double" },
	{ "bool", "uint", "uint8_t" },
};

static size_t type_of(const char *name)
{
	size_t i = 0;

	while (strcmp(types[i].type, name))
		i++;
	return i;
}

/* int8_t as a target of narrow types: only the low bits are stored */
static struct kernel scalar_kernel(const struct cts_kernel *k)
{
	const char *type = strcmp(k->arguments[0], "handle") ? k->arguments[0] : k->arguments[1];
	const char *element = types[type_of(type)].element;
	static char body[64];
	struct kernel out = { k->name, element, "local_size_x = 1", body };

	snprintf(body, sizeof(body), "b0.d[0] = %s(s0);", element);
	return out;
}

static int find(const struct cts_kernel *k, struct kernel *out)
{
	size_t i;

	if (!strncmp(k->name, "scalar_", 7)) {
		*out = scalar_kernel(k);
		return 0;
	}
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (!strcmp(kernels[i].name, k->name)) {
			*out = kernels[i];
			return 0;
		}
	}
	return -1;
}

static void write_scalars(FILE *f, const struct cts_kernel *k, uint32_t buffers, uint32_t block)
{
	const char *const *a;
	uint32_t n = 0;

	for (a = k->arguments; *a; a++) {
		if (!strcmp(*a, "handle"))
			continue;
		if (!n && block)
			fprintf(f, "layout(std140, set = 0, binding = %u) uniform P {\n", buffers);
		else if (!n)
			fprintf(f, "layout(push_constant) uniform P {\n");
		fprintf(f, "layout(offset = %u) %s s%u;\n", 8 * n, types[type_of(*a)].scalar, n);
		n++;
	}
	if (n)
		fprintf(f, "};\n");
}

static int write_source(const char *path, const struct cts_kernel *k, uint32_t block)
{
	FILE *f = fopen(path, "w");
	const char *const *a;
	struct kernel kernel;
	uint32_t buffers = 0;

	if (!f)
		return -1;
	if (find(k, &kernel)) {
		fclose(f);
		return -1;
	}
	fprintf(f,
		"#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : enable\n"
		"#extension GL_EXT_shader_8bit_storage : enable\n"
		"#extension GL_EXT_shader_16bit_storage : enable\nlayout(%s) in;\n",
		kernel.threads);
	for (a = k->arguments; *a; a++) {
		if (strcmp(*a, "handle"))
			continue;
		fprintf(f, "layout(std430, set = 0, binding = %u) buffer B%u { %s d[]; } b%u;\n",
			buffers, buffers, kernel.element, buffers);
		buffers++;
	}
	write_scalars(f, k, buffers, block);
	/* its size is the program's, whatever a launch says */
	fprintf(f, "shared int shared_words[16];\nvoid main() { %s }\n", kernel.body);
	return fclose(f);
}

static int read_all(const char *path, struct tenon_buffer *out)
{
	FILE *f = fopen(path, "rb");
	char bytes[4096];
	size_t n;

	if (!f)
		return -1;
	while ((n = fread(bytes, 1, sizeof(bytes), f)))
		tenon_buffer_append(out, bytes, n);
	fclose(f);
	return out->status;
}

int vulkan_glsl_code(const struct cts_kernel *k, struct tenon_buffer *out, uint32_t *flags)
{
	static uint32_t turn;
	const char *folder = getenv("TMPDIR");
	char source[512], code[512], command[1600];
	int err;

	*flags = turn++ & 1;
	snprintf(source, sizeof(source), "%s/cts-%d.comp", folder ? folder : "/tmp", (int)getpid());
	snprintf(code, sizeof(code), "%s/cts-%d.spv", folder ? folder : "/tmp", (int)getpid());
	snprintf(command, sizeof(command),
		 "glslangValidator -V --target-env vulkan1.1 --source-entrypoint main -e %s -o %s "
		 "%s >&2",
		 k->name, code, source);
	err = write_source(source, k, *flags);
	if (!err)
		err = system(command) || read_all(code, out) ? -1 : 0;
	unlink(source);
	unlink(code);
	return err;
}

const char *vulkan_glsl_setup(void)
{
	if (system("command -v glslangValidator > /dev/null"))
		return "glslangValidator is not installed (Debian: glslang-tools)";
	vulkan_environment("abort");
	return NULL;
}
