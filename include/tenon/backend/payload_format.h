/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_PAYLOAD_FORMAT_H
#define TENON_BACKEND_PAYLOAD_FORMAT_H

/**
 * DOC: payload formats
 *
 * A *payload* is the data of a module in a blob: for a device, a table of kernels and a program. A
 * *payload format* describes the payloads of one or several module kinds: how to read them, which
 * code belongs to which kernel, and which files hold such programs outside a library.
 *
 * Formats belong to a backend (tenon_backend.formats) or are registered by a program. The runtime
 * has no code for particular device kinds: it lists, inspects, loads and runs payloads through
 * these slots.
 *
 * Most formats are pure data: a string with a letter for each field, and names. Slots handle what
 * letters cannot express. Structs begin with their size, so that they can grow: a format built with
 * an older struct keeps working, and slots that it lacks are NULL.
 */

#include <tenon/backend/cursor.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/report.h>
#include <tenon/export.h>
#include <tenon/module.h>
#include <tenon/visit.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_payload_function - a function in a payload
 * @name: name by which the host calls it
 * @arg_types: DLDataType of each argument, 4 bytes each as in a payload; empty when unknown
 * @tags: @tag_count launch tags, each a u64 length and bytes
 * @extra: a u32 for each argument, 1 for a tensor map; empty if the table has none
 * @tag_count: number of launch tags
 */
struct tenon_payload_function {
	struct tenon_slice name;
	struct tenon_slice arg_types;
	struct tenon_slice tags;
	struct tenon_slice extra;
	uint64_t tag_count;
};

/**
 * struct tenon_payload_part - the program of one kernel
 * @name: name of the kernel
 * @code: its program
 * @flags: copied to tenon_kernel_info.code_flags
 * @reserved: 0
 */
struct tenon_payload_part {
	struct tenon_slice name;
	struct tenon_slice code;
	uint32_t flags;
	uint32_t reserved;
};

/**
 * struct tenon_payload_info - contents of a payload
 * @size: sizeof(struct tenon_payload_info) in the library
 * @kind: kind of the module
 * @generation: enum tenon_generation of its blob
 * @extra_tags: in function tables a list of argument tags follows the launch tags (TVM 0.20 and
 *	later)
 * @has_kernels: the functions are kernels with types and launch tags, and form a program
 * @collect: collect functions and parts; false when only the end of the payload is needed
 * @format: "cl", "ptx", …; empty when the kind has none
 * @name: symbol or module name, for kinds that have one
 * @text: graph or source text
 * @code: program bytes, for kinds with one program
 * @lent: private to the library
 * @tensor_count: number of tensors
 * @tensor_bytes: total size of their elements in bytes
 * @functions: @function_count functions; added by tenon_payload_add_function()
 * @parts: @part_count parts; added by tenon_payload_add_part()
 *
 * Slices point into the payload or to static storage.
 */
struct tenon_payload_info {
	size_t size;
	struct tenon_slice kind;
	uint8_t generation;
	bool extra_tags;
	bool has_kernels;
	bool collect;
	uint32_t lent;
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
 * struct tenon_payload_file - a kind of file that holds a program outside a library
 * @suffix: file name suffix without the dot, "ptx". It is also the payload's format field: a
 *	program with that field is written to a file with this suffix.
 * @kind: module kind of such a file
 * @table: suffix of the accompanying file with the kernel table as JSON, "tvm_meta.json"; NULL when
 *	the file is the whole payload
 */
struct tenon_payload_file {
	const char *suffix;
	const char *kind;
	const char *table;
};

/**
 * struct tenon_payload_option - what a person asks of a check: "--region 1=4096"
 * @name: "region"
 * @value: "1=4096"
 */
struct tenon_payload_option {
	const char *name;
	const char *value;
};

/**
 * struct tenon_payload_request - a program that is to be checked or described
 * @size: sizeof(struct tenon_payload_request) in the library
 * @program: cursor over the whole payload, as it is in a module or a file; with the name of the file, for messages, and its
 *	place there
 * @options: of a check: @option_count options
 * @option_count: number of options
 * @commands: of a description: the commands of the program, too
 */
struct tenon_payload_request {
	size_t size;
	struct tenon_cursor program;
	const struct tenon_payload_option *options;
	size_t option_count;
	bool commands;
};

/**
 * struct tenon_payload_format - a payload format; must stay valid for the life of the process
 *
 * Any slot may be NULL. Any thread may call the slots.
 */
struct tenon_payload_format {
	/** @size: sizeof(struct tenon_payload_format) */
	size_t size;
	/** @kinds: module kinds, ended by NULL */
	const char *const *kinds;
	/**
	 * @fields: the fields of a payload in order, one letter each
	 *
	 * Alternative forms are separated by '|' and tried in order. A string is a u64 length and
	 * bytes, a list is a u64 count and elements.
	 *
	 *	f  string: the format, such as "ptx"
	 *	m  kernel table in TVM's encoding
	 *	d  string: the program
	 *	b  list of named strings, each the program of a kernel
	 *	n  string: symbol or module name, also the name of a function
	 *	k  list of function names
	 *	t  string: text (graph, source)
	 *	x  string: a version, "0.1.0"
	 *	y  string: ignored
	 *	i  32-bit number
	 *	q  64-bit number
	 *	a  list of tensors
	 *	p  list of names, then as many tensors
	 *	*  list of the next field, or of the fields in parentheses: "*(yy)"
	 *
	 * Capital letters are read by @field.
	 */
	const char *fields;
	/**
	 * @legacy: @fields in blobs of TVM up to 0.21, whose payloads have no length; NULL: the
	 * same
	 */
	const char *legacy;
	/**
	 * @remedy: advice when no backend runs the kind: "Install …"; NULL for the default advice
	 */
	const char *remedy;
	/** @files: files that can be loaded as modules, ended by an entry without @suffix */
	const struct tenon_payload_file *files;
	/**
	 * @field: read the field of a capital letter in @fields
	 *
	 * The bytes are untrusted: read them only through @c. Moves @c past the field, fills @info
	 * and adds functions and parts. Returns 0, or a negative status with the offset in the
	 * message (tenon_cursor_error()).
	 */
	int (*field)(char letter, struct tenon_cursor *c, struct tenon_payload_info *info);
	/**
	 * @split: split info->code into a part for each kernel
	 *
	 * Called when a program is created from a payload without parts. Returns 0, or a negative
	 * status.
	 */
	int (*split)(struct tenon_payload_info *info);
	/**
	 * @tag: interpret a launch tag that only this format has
	 *
	 * The core handles blockIdx.*, threadIdx.* and dynamic shared memory. Adds to *@flags (enum
	 * tenon_kernel_flag). If an integer argument belongs to the tag, sets *@extent to its enum
	 * tenon_launch_tag; *@extent is -1 on entry. Returns false for an unknown tag.
	 */
	bool (*tag)(struct tenon_slice tag, int *extent, uint32_t *flags);
	/** @visit: visit additional fields for inspection; as tenon_module_ops.visit */
	int (*visit)(const struct tenon_payload_info *info, const struct tenon_visitor *v);
	/**
	 * @recognise: test whether a file with a suffix in @files has this format; NULL: always
	 *
	 * A format with @describe is also asked with @file NULL: whether the bytes alone tell that they have it.
	 */
	bool (*recognise)(const struct tenon_payload_file *file, struct tenon_slice bytes);
	/**
	 * @pack: append the payload for a file
	 *
	 * @program covers the bytes of the file. @table is the kernel table in the encoding of a
	 * payload, with argument tags; empty if the file has none. Returns 0, or a negative status
	 * with the offset in the message. Default if NULL: with a table, its format, table and
	 * program as a string; else the bytes of the file.
	 */
	int (*pack)(const struct tenon_payload_file *file, struct tenon_cursor *program,
		    struct tenon_slice table, struct tenon_buffer *out);
	/**
	 * @backend: name of the backend that runs a payload; NULL: the one that has its kind
	 *
	 * For kinds that several backends run, where the payload names its target.
	 */
	struct tenon_slice (*backend)(const struct tenon_payload_info *info);
	/**
	 * @unpack: append the file of which @pack made a payload
	 *
	 * @rest covers what follows the format and the kernel table in the payload. Returns 0;
	 * -TENON_E_UNSUPPORTED when the payload is of no file; or another negative status. Default
	 * if NULL and @pack is NULL: a string, the program. Without it and with @pack, the payload
	 * is written to a file as it is.
	 */
	int (*unpack)(const struct tenon_payload_file *file, struct tenon_cursor *rest,
		      struct tenon_buffer *out);
	/**
	 * @form: append what follows the kernel table, in the form of a generation's blobs
	 *
	 * @rest covers the bytes in any form that @field reads. Returns 0, or a negative status
	 * with the offset in the message. NULL: the form is the same in all.
	 */
	int (*form)(enum tenon_generation generation, struct tenon_cursor *rest,
		    struct tenon_buffer *out);
	/**
	 * @show: append the program as text: lines that end with a newline
	 *
	 * For "tenon inspect --show", of modules of the kinds and of files with the suffixes of this
	 * format. No device is needed. Control characters in the text are not printed as they are.
	 * Returns 0, or a negative status with the offset in the message. NULL: the program's bytes
	 * show what it is.
	 */
	int (*show)(const struct tenon_payload_info *info, struct tenon_buffer *out);
	/**
	 * @check: check all of a program, beyond what reading its payload checks: its commands, and that they stay in
	 *	the memory that a device gives them
	 *
	 * For "tenon verify --kind KIND", and of payloads in modules for "tenon verify". No device is needed. A
	 * program that passed is reported: the first line begins with "no fault". Returns 0;
	 * -TENON_E_USAGE for an option that it does not know, or with a value that makes no sense; another negative
	 * status for a program that is refused, with the offset, the reason and a remedy in the message.
	 */
	int (*check)(const struct tenon_payload_request *request, struct tenon_report *report);
	/**
	 * @describe: describe a program, also one that @check refuses
	 *
	 * For "tenon inspect" of files that @recognise takes without a name (with @file NULL) or by their suffix, and of
	 * operators of models whose name is one of @kinds. NULL: such files are shown as modules. Returns 0, or a
	 * negative status with the offset in the message when the program cannot be read.
	 */
	int (*describe)(const struct tenon_payload_request *request, struct tenon_report *report);
};

/**
 * tenon_payload_format_register - register a format
 * @format: valid for the life of the process. It takes precedence over formats of the library and
 *	of backends.
 *
 * Context: any thread; takes a lock. Intended for startup.
 * Return: 0; -TENON_E_EXISTS for a kind that is registered; -TENON_E_USAGE for a struct without
 *	kinds or fields; -TENON_E_NOMEM.
 */
TENON_API int tenon_payload_format_register(const struct tenon_payload_format *format);

/**
 * tenon_payload_add_function - add a function to the contents of a payload; for formats
 * @info: from tenon_payload_format.field
 * @function: copied; its slices point into the payload or to static storage
 *
 * Return: 0, also when @info->collect is false; -TENON_E_NOMEM.
 */
TENON_API int tenon_payload_add_function(struct tenon_payload_info *info,
					 const struct tenon_payload_function *function);

/**
 * tenon_payload_add_part - add the program of a kernel; for formats
 * @info: from tenon_payload_format.field or split
 * @name: name of the kernel; of several parts with one name the last is used
 * @code: its program
 * @flags: copied to tenon_kernel_info.code_flags
 *
 * Return: as tenon_payload_add_function().
 */
TENON_API int tenon_payload_add_part(struct tenon_payload_info *info, struct tenon_slice name,
				     struct tenon_slice code, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_PAYLOAD_FORMAT_H */
