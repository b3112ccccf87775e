/* SPDX-License-Identifier: MIT */
/* Parameters as a module, for set_input_with_param_module(). */
#ifndef RUNTIME_RELAX_RELAX_PARAM_MODULE_H
#define RUNTIME_RELAX_RELAX_PARAM_MODULE_H

#include <tenon/module.h>

/**
 * relax_param_module_create - make a module with the one function get_params()
 * @params: what the function returns; copied
 * @out: the module, for set_input_with_param_module()
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int relax_param_module_create(const struct tenon_value *params, struct tenon_module **out);

#endif /* RUNTIME_RELAX_RELAX_PARAM_MODULE_H */
