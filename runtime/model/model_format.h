/* SPDX-License-Identifier: MIT */
/* What the command knows of a format of models' files: it describes them by this alone. */
#ifndef RUNTIME_MODEL_MODEL_FORMAT_H
#define RUNTIME_MODEL_MODEL_FORMAT_H

/*
 * Compilers for NPUs write models in which some operators are programs of a device. A format lists the operators, gets
 * the programs of those, and reports what else is in a file; what the bytes of a program mean is known to its payload
 * format. A format is a row of the folder that has its executor: MODEL_FORMAT(name) in plugin.h is a struct model_format
 * with the name <name>_format, and tool-$(CONFIG_LINK) in its Kbuild names what defines it, so that the command describes
 * models that a build does not run.
 */

#include <stdbool.h>
#include <stdint.h>
#include <tenon/backend/cursor.h>
#include <tenon/backend/report.h>
#include <tenon/buffer.h>

/* an open model; each format has a struct of its own */
struct model_file;

/**
 * struct model_operator - an operator of a model
 * @graph: number of its graph: 0 is the model, the others are called by operators
 * @index: its number there
 * @name: name
 * @kind: kind that a payload format may have, if it is a program; empty for operators of the model's format
 */
struct model_operator {
	uint32_t graph;
	uint32_t index;
	struct tenon_slice name;
	struct tenon_slice kind;
};

typedef int (*model_operator_fn)(void *context, const struct model_operator *op);

/** struct model_format - a format of models; all slots are there */
struct model_format {
	/** @kind: the kind of such modules, and the name of their executor */
	const char *kind;
	/** @what: "a model of …", for people */
	const char *what;
	/** @options: what a build needs to run one, without "CONFIG_", ended by NULL */
	const char *const *options;
	/** @recognise: test whether bytes, the first 16 of a file or more, begin as a model */
	bool (*recognise)(struct tenon_slice bytes);
	/** @open: read and check a model, whose bytes stay there; 0 or a status with the offset in the message */
	int (*open)(const struct tenon_cursor *file, struct model_file **out);
	/** @close: free it */
	void (*close)(struct model_file *m);
	/** @each_operator: visit the operators of all graphs, in order, until @visit returns another status than 0 */
	int (*each_operator)(struct model_file *m, model_operator_fn visit, void *context);
	/**
	 * @program: get the program of an operator with a kind, as devices read it
	 *
	 * @parts receives what is not in the file as it is, and what it had is dropped; @out is a cursor over the program,
	 * with its place in the file. 0, or a status with the reason in the message.
	 */
	int (*program)(struct model_file *m, const struct model_operator *op,
		       struct tenon_buffer *parts, struct tenon_cursor *out);
	/**
	 * @describe: report a model, as payload formats do (tenon/backend/report.h)
	 *
	 * @program is called for each operator with a kind, within its object and behind its line, and reports the program there.
	 * 0, -TENON_E_NOMEM, or a status of the file.
	 */
	int (*describe)(struct model_file *m, struct tenon_report *report,
			model_operator_fn program, void *context);
};

#endif /* RUNTIME_MODEL_MODEL_FORMAT_H */
