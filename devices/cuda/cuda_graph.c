/* SPDX-License-Identifier: MIT */
/* Make a CUDA graph of recorded steps, and update its nodes between runs. */
#include <stdlib.h>

#include "devices/cuda/cuda_graph.h"

#include "lib/brief_errors.h"

/* the node that the next nodes depend on, and the nodes since the last barrier */
struct front {
	cu_node before;
	cu_node *nodes;
	size_t count;
};

static void kernel_node(const struct cuda_step *s, void **arguments, struct cu_kernel_node *out)
{
	const struct tenon_dispatch *p = &s->dispatch;
	struct cuda_kernel *k = (struct cuda_kernel *)p->kernel;

	cuda_launch_arguments(k->base.info, p->arguments, arguments);
	*out = (struct cu_kernel_node){ .function = k->function,
					.grid = { p->grid[0], p->grid[1], p->grid[2] },
					.block = { p->block[0], p->block[1], p->block[2] },
					.shared = p->shared,
					.arguments = arguments };
}

static struct cu_copy_node copy_node(const struct cuda_step *s)
{
	const struct cu_copy_node n = {
		.from = { .type = CU_MEMORY_DEVICE, .device = s->from.address },
		.to = { .type = CU_MEMORY_DEVICE, .device = s->to.address },
		.width = (size_t)s->size,
		.height = 1,
		.depth = 1,
	};

	return n;
}

static struct cu_fill_node fill_node(const struct cuda_step *s)
{
	const struct cu_fill_node n = { .to = s->to.address,
					.value = s->pattern,
					.element = s->width,
					.width = (size_t)(s->size / s->width),
					.height = 1 };

	return n;
}

/* Ignore the flag for dependent launches: it only allows kernels to overlap. */
static int set_attributes(struct cuda_device *d, const struct cuda_step *s)
{
	const struct tenon_dispatch *p = &s->dispatch;
	uint32_t flags = p->kernel->info->flags, i;
	struct cu_launch_attribute a = { .id = 0 };
	int status = 0;

	if (flags & TENON_KERNEL_COOPERATIVE) {
		a.value.number = 1;
		status = d->cu->GraphKernelAttribute(s->node, CU_LAUNCH_COOPERATIVE, &a.value);
	}
	for (i = 0; i < 3; i++)
		a.value.dim[i] = p->cluster[i];
	if (!status && flags & TENON_KERNEL_CLUSTER)
		status = d->cu->GraphKernelAttribute(s->node, CU_LAUNCH_CLUSTER, &a.value);
	for (i = 0; i < 3; i++)
		a.value.dim[i] = p->preferred_cluster[i];
	if (!status && flags & TENON_KERNEL_PREFERRED_CLUSTER)
		status =
			d->cu->GraphKernelAttribute(s->node, CU_LAUNCH_PREFERRED_CLUSTER, &a.value);
	return status;
}

static int add_node(struct cuda_device *d, cu_graph graph, const struct front *f,
		    struct cuda_step *s)
{
	const cu_node *before = f->before ? &f->before : NULL;
	size_t count = f->before ? 1 : 0;
	void *arguments[TENON_KERNEL_ARGUMENTS_MOST];
	struct cu_kernel_node kernel;
	struct cu_copy_node copy;
	struct cu_fill_node fill;
	int status;

	switch (s->kind) {
	case TENON_OP_COPY:
		copy = copy_node(s);
		return d->cu->GraphAddCopy(&s->node, graph, before, count, &copy, d->handle);
	case TENON_OP_FILL:
		fill = fill_node(s);
		return d->cu->GraphAddFill(&s->node, graph, before, count, &fill, d->handle);
	default:
		kernel_node(s, arguments, &kernel);
		status = d->cu->GraphAddKernel2(&s->node, graph, before, count, &kernel);
		return status ? status : set_attributes(d, s);
	}
}

static int add_barrier(struct cuda_device *d, cu_graph graph, struct front *f)
{
	int status = 0;

	if (f->count == 1)
		f->before = f->nodes[0];
	else if (f->count)
		status = d->cu->GraphAddEmpty(&f->before, graph, f->nodes, f->count);
	f->count = 0;
	return status;
}

static int add_steps(struct cuda_device *d, struct cuda_commands *c, cu_graph graph)
{
	struct front f = { .nodes = malloc((c->step_count + 1) * sizeof(cu_node)) };
	struct cuda_step *s;
	int status = f.nodes ? 0 : -1;

	for (s = c->first; s && !status; s = s->next) {
		if (s->kind == TENON_OP_BARRIER) {
			status = add_barrier(d, graph, &f);
		} else {
			status = add_node(d, graph, &f, s);
			f.nodes[f.count++] = s->node;
		}
	}
	free(f.nodes);
	return status;
}

static void graph_release(struct cuda_late *late, bool alive)
{
	struct cuda_graph *g = (struct cuda_graph *)late;

	if (alive && g->exec)
		late->device->cu->GraphExecDestroy(g->exec);
	if (alive && g->graph)
		late->device->cu->GraphDestroy(g->graph);
	free(g);
}

int cuda_graph_make(struct cuda_device *d, struct cuda_commands *c)
{
	struct cuda_graph *g = calloc(1, sizeof(*g));
	int status;

	if (!g)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	cuda_late_init(&g->late, &d->base, graph_release);
	status = d->cu->GraphCreate(&g->graph, 0);
	if (!status)
		status = add_steps(d, c, g->graph);
	if (!status)
		status = d->cu->GraphInstantiate3
				 ? d->cu->GraphInstantiate3(&g->exec, g->graph, 0)
				 : d->cu->GraphInstantiate2(&g->exec, g->graph, NULL, NULL, 0);
	if (!status) {
		c->graph = g;
		return 0;
	}
	g->late.release(&g->late, true);
	if (status < 0)
		return tenon_error(-TENON_E_NOMEM, "no memory for a graph");
	return cuda_failed(d, status, "making a graph of %u operations", c->step_count);
}

int cuda_graph_change(struct cuda_device *d, struct cuda_graph *g, const struct cuda_step *s)
{
	void *arguments[TENON_KERNEL_ARGUMENTS_MOST];
	struct cu_kernel_node kernel;
	struct cu_copy_node copy;
	struct cu_fill_node fill;

	switch (s->kind) {
	case TENON_OP_COPY:
		copy = copy_node(s);
		return d->cu->GraphSetCopy(g->exec, s->node, &copy, d->handle);
	case TENON_OP_FILL:
		fill = fill_node(s);
		return d->cu->GraphSetFill(g->exec, s->node, &fill, d->handle);
	default:
		kernel_node(s, arguments, &kernel);
		return d->cu->GraphSetKernel2(g->exec, s->node, &kernel);
	}
}
