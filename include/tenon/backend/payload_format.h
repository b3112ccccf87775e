/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_PAYLOAD_FORMAT_H
#define TENON_BACKEND_PAYLOAD_FORMAT_H

/**
 * DOC: payload formats
 *
 * A *payload* is what a blob holds of a module: for a device, a table of kernels and a program. A
 * *payload format* describes the payloads of one or several kinds of modules: how they are read,
 * which code belongs to which kernel, and which files hold such programs apart from a library.
 *
 * Formats come with a backend (tenon_backend.formats), or are registered by a program. The runtime
 * itself knows no kind of device: it lists, inspects, loads and runs through these slots.
 *
 * Most formats are data alone: a string of letters, a field each, and names. Slots are for what
 * letters cannot say. All structs here begin with their size, so that they can grow: a format that was
 * built with a shorter struct keeps working, and slots that it lacks count as NULL.
 */

#include <tenon/backend/cursor.h>
#include <tenon/backend/executable.h>
#include <tenon/export.h>
#include <tenon/visit.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_payload_function - a function that a payload holds
 * @name: name by which the host calls it
 * @arg_types: DLDataType of each argument, 4 bytes each as in a payload; empty when not known
 * @tags: the launch tags, @tag_count strings, each a u64 length and bytes
 * @extra: a u32 for each argument, 1 for a tensor map; empty where the table has none
 * @tag_count: how many launch tags
 */
struct tenon_payload_function {
	struct tenon_slice name;
	struct tenon_slice arg_types;
	struct tenon_slice tags;
	struct tenon_slice extra;
	uint64_t tag_count;
};

/**
 * struct tenon_payload_part - a program of one kernel
 * @name: the kernel's
 * @code: its program
 * @flags: what the backend finds in tenon_kernel_info.code_flags
 * @reserved: 0
 */
struct tenon_payload_part {
	struct tenon_slice name;
	struct tenon_slice code;
	uint32_t flags;
	uint32_t reserved;
};

/**
 * struct tenon_payload_info - what was found in a payload
 * @size: sizeof(struct tenon_payload_info) of the library
 * @kind: kind of the module
 * @generation: enum tenon_generation of its blob
 * @extra_tags: function tables have a list of argument tags behind the launch tags (TVM 0.20 and later)
 * @has_kernels: functions are kernels, with types and launch tags: a program can be made of them
 * @collect: lists of functions and parts are wanted; false while only the end of a payload is looked for
 * @format: "cl", "ptx", …; empty when the kind has none
 * @name: symbol or module name, of kinds that have one
 * @text: graph or source text
 * @code: program bytes, of kinds that have one program
 * @tensor_count: tensors inside
 * @tensor_bytes: the bytes of their elements
 * @functions: @function_count of them; added by tenon_payload_add_function()
 * @parts: @part_count of them; added by tenon_payload_add_part()
 *
 * Slices lie in the payload, or live as long as the process.
 */
struct tenon_payload_info {
	size_t size;
	struct tenon_slice kind;
	uint8_t generation;
	bool extra_tags;
	bool has_kernels;
	bool collect;
	uint32_t reserved;
	struct tenon_slice format;
	struct tenon_slice name;
	struct tenon_slice text;
	struct tenon_slice code;
	uint64_t tensor_count;
	uint64_t tensor_bytes;
	struct tenon_payload_function *functions;
	size_t function_count;
	struct tenon_payload_part *parts;
	size_t part_count;
};

/**
 * struct tenon_payload_file - files that hold a program apart from a library
 * @suffix: what follows the dot, "ptx"; also the payload's format field, and so the suffix that a
 *	program with that field has when it is written to a file
 * @kind: kind of the module that such a file becomes
 * @table: suffix of the file beside it that holds the kernel table as JSON, "tvm_meta.json"; NULL
 *	when the file is the whole payload
 */
struct tenon_payload_file {
	const char *suffix;
	const char *kind;
	const char *table;
};

/**
 * struct tenon_payload_format - payloads of some kinds; lives as long as the process
 *
 * All slots may be NULL, and be called from any thread.
 */
struct tenon_payload_format {
	/** @size: sizeof(struct tenon_payload_format) */
	size_t size;
	/** @kinds: kinds of modules, ended by NULL */
	const char *const *kinds;
	/**
	 * @fields: fields of a payload in their order, a letter each
	 *
	 * Where payloads were written in several forms, these are separated by '|' and tried in order.
	 * A string is a u64 length and bytes, a list a u64 count and elements.
	 *
	 *	f  string: the format, a short word
	 *	m  kernel table as TVM writes it
	 *	d  string: the program
	 *	b  list of named strings, each the program of a kernel
	 *	n  string: symbol or module name, which is also a function
	 *	k  list of names, each a function
	 *	t  string: text (graph, source)
	 *	x  string: a version, "0.1.0"
	 *	y  string: something else
	 *	i  32-bit number
	 *	q  64-bit number
	 *	a  list of tensors
	 *	p  list of names, then as many tensors
	 *	*  list of the next field, or of the fields in parentheses: "*(yy)"
	 *
	 * Capital letters are read by @field.
	 */
	const char *fields;
	/** @legacy: @fields in blobs of TVM up to 0.21, whose payloads have no length; NULL: the same */
	const char *legacy;
	/** @remedy: what to do where nothing here runs the kind: "Install …"; NULL: a general advice */
	const char *remedy;
	/** @files: files that are loaded as modules, ended by one without @suffix */
	const struct tenon_payload_file *files;
	/**
	 * @field: read the field that a capital letter of @fields stands for
	 *
	 * The bytes are hostile: read them through @c alone. Leaves @c behind the field, fills @info and adds
	 * functions and parts. Returns 0, or a negative status with the place (tenon_cursor_error()).
	 */
	int (*field)(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);
	/**
	 * @split: add a part for each kernel that has a piece of info->code of its own
	 *
	 * Called when a program is made of a payload in which reading found no parts. Returns 0, or a
	 * negative status.
	 */
	int (*split)(struct tenon_payload_info *info);
	/**
	 * @tag: know a launch tag besides those of all devices
	 *
	 * Known to all are blockIdx.*, threadIdx.* and the one for dynamic shared memory. Adds to *@flags
	 * (enum tenon_kernel_flag), and sets *@extent to the enum tenon_launch_tag that an integer behind the
	 * arguments sets; it comes as -1, for none. Returns false for a tag that is not known.
	 */
	bool (*tag)(struct tenon_slice tag, int *extent, uint32_t *flags);
	/** @visit: show more fields to those who inspect a module; as tenon_module_ops.visit */
	int (*visit)(const struct tenon_payload_info *info, const struct tenon_visitor *v);
	/** @recognise: is a file with one of the suffixes of this format; NULL: all are */
	bool (*recognise)(const struct tenon_payload_file *file, struct tenon_slice bytes);
	/**
	 * @pack: append the payload that a file's program makes
	 *
	 * @program is over the bytes of the file. @table is the kernel table as a payload has it, with
	 * argument tags; empty where the file has none. NULL: format, table and program as a string where
	 * there is a table, else the bytes of the file. Returns 0, or a negative status with the place.
	 */
	int (*pack)(const struct tenon_payload_file *file, struct tenon_cursor *program,
		    struct tenon_slice table, struct tenon_buffer *out);
};

/**
 * tenon_payload_format_register - add a format
 * @format: must live as long as the process. It goes before formats of the library and of backends.
 *
 * Context: any thread; takes a lock. For starting up.
 * Return: 0; -TENON_E_EXISTS for a kind that was registered; -TENON_E_USAGE for a struct without kinds
 *	or fields; -TENON_E_NOMEM.
 */
TENON_API int tenon_payload_format_register(const struct tenon_payload_format *format);

/**
 * tenon_payload_add_function - add a function to what was found in a payload; for formats
 * @info: from tenon_payload_format.field
 * @function: copied; its slices lie in the payload or live as long as the process
 *
 * Return: 0, also while @info->collect is false; -TENON_E_NOMEM.
 */
TENON_API int tenon_payload_add_function(struct tenon_payload_info *info,
					 const struct tenon_payload_function *function);

/**
 * tenon_payload_add_part - add the program of a kernel; for formats
 * @info: from tenon_payload_format.field or split
 * @name: the kernel's; of parts with the same name the last one counts
 * @code: its program
 * @flags: for tenon_kernel_info.code_flags
 *
 * Return: as tenon_payload_add_function().
 */
TENON_API int tenon_payload_add_part(struct tenon_payload_info *info, struct tenon_slice name,
				     struct tenon_slice code, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_PAYLOAD_FORMAT_H */
