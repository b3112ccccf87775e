/* SPDX-License-Identifier: MIT */
/* A custom kind of module, as an example to copy. */
#ifndef EXAMPLES_EXAMPLE_JSON_H
#define EXAMPLES_EXAMPLE_JSON_H

/*
 * The module of TVM's bring-your-own-codegen guide, in C, as an example of a custom kind of module.
 * The source uses installed headers only.
 */

#include <tenon/backend/module_kind.h>

/* Loads a blob entry: one string, the text. */
extern const struct tenon_module_loader example_json_loader;

/**
 * example_json_register - let this program load such modules and files NAME.examplejson
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int example_json_register(void);

#endif /* EXAMPLES_EXAMPLE_JSON_H */
