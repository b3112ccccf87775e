/* SPDX-License-Identifier: MIT */
/* The functions of tenon/remote.h on a session, each of which the RPC client carries out. */
#include "runtime/device/device_remote.h"

void tenon_remote_close(struct tenon_remote *remote)
{
	if (!remote)
		return;
	remote->ops->close(remote);
	tenon_object_unref(remote);
}

void tenon_remote_facts(struct tenon_remote *remote, struct tenon_remote_facts *out)
{
	remote->ops->facts(remote, out);
}

int tenon_remote_ping(struct tenon_remote *remote)
{
	return remote->ops->ping(remote);
}

int tenon_remote_send_file(struct tenon_remote *remote, const char *path, const char *name,
			   bool *sent)
{
	return remote->ops->send_file(remote, path, name, sent);
}

int tenon_remote_upload(struct tenon_remote *remote, const char *name, struct tenon_slice bytes)
{
	return remote->ops->upload(remote, name, bytes);
}

int tenon_remote_download(struct tenon_remote *remote, const char *name, struct tenon_buffer *out)
{
	return remote->ops->download(remote, name, out);
}

int tenon_remote_remove(struct tenon_remote *remote, const char *name)
{
	return remote->ops->remove(remote, name);
}

int tenon_remote_list_files(struct tenon_remote *remote, const char *folder,
			    struct tenon_buffer *out)
{
	return remote->ops->list_files(remote, folder, out);
}

int tenon_remote_function(struct tenon_remote *remote, const char *name,
			  struct tenon_function **out)
{
	return remote->ops->function(remote, name, out);
}

int tenon_remote_list_functions(struct tenon_remote *remote, struct tenon_buffer *out)
{
	return remote->ops->list_functions(remote, out);
}

int tenon_remote_load(struct tenon_remote *remote, const char *name, struct tenon_module **out)
{
	return remote->ops->load(remote, name, out);
}

int tenon_remote_open(struct tenon_remote *remote, const char *path, struct tenon_module **out)
{
	return remote->ops->open(remote, path, out);
}

int tenon_remote_device(struct tenon_remote *remote, DLDevice there, struct tenon_device **out)
{
	return remote->ops->device(remote, there, out);
}

int tenon_remote_attribute(struct tenon_remote *remote, DLDevice there, int attribute,
			   struct tenon_value *out)
{
	return remote->ops->attribute(remote, there, attribute, out);
}

int tenon_remote_time(struct tenon_remote *remote, struct tenon_module *module, const char *name,
		      DLDevice there, const struct tenon_remote_timing *timing,
		      const struct tenon_value *args, int32_t count, struct tenon_buffer *seconds)
{
	return remote->ops->time(remote, module, name, there, timing, args, count, seconds);
}

int tenon_remote_post(struct tenon_remote *remote, struct tenon_function *function,
		      const struct tenon_value *args, int32_t count)
{
	return remote->ops->post(remote, function, args, count);
}

int tenon_remote_wait(struct tenon_remote *remote)
{
	return remote->ops->wait(remote);
}

int tenon_remote_sync(struct tenon_remote *remote, DLDevice there)
{
	return remote->ops->sync(remote, there);
}

int tenon_remote_open_model(struct tenon_remote *remote, struct tenon_module *module,
			    const struct tenon_model_options *options, struct tenon_model **out)
{
	return remote->ops->open_model(remote, module, options, out);
}

int tenon_remote_time_model(struct tenon_remote *remote, struct tenon_model *model,
			    const struct tenon_remote_timing *timing, struct tenon_buffer *seconds)
{
	return remote->ops->time_model(remote, model, timing, seconds);
}
