/* SPDX-License-Identifier: MIT */
/* A program that has a module linked in: it finds the module by the prefix of its names, and opens no file. */
#include <stdio.h>
#include <tenon/tenon.h>

int main(void)
{
	struct tenon_module *module = NULL;
	struct tenon_function *add = NULL;
	int err = tenon_system_lib("vecadd_", &module);

	if (!err)
		err = tenon_module_get_function(module, "vecadd", &add);
	if (err)
		fprintf(stderr, "%s\n", tenon_error_message());
	else
		puts("vecadd is in this program");
	tenon_object_unref(add);
	tenon_object_unref(module);
	return err ? 1 : 0;
}
