/* SPDX-License-Identifier: MIT */
/*
 * The part of fake_cuda.c that makes, updates and runs graphs. Wherever dependencies allow, nodes run in the
 * reverse of the order in which they were added, so a dependency that was forgotten is seen. An instance keeps nodes of
 * its own, and so does a launch.
 */

struct cu_node_data {
	struct handle handle;
	struct cu_node_data *next; /* of the graph, the last added first */
	struct cu_graph_data *graph;
	struct cu_node_data **before;
	size_t before_count;
	int index;
	int empty;
	cu_function function;
	struct launch_wish wish;
	struct op op;
};

struct cu_graph_data {
	struct handle handle;
	struct cu_node_data *nodes;
	int count;
};

struct cu_graph_exec_data {
	struct handle handle;
	struct cu_graph_data *graph;
	int count;
	struct op *ops; /* by the number of the node */
	int *order, ordered;
};

EXPORT int cuGraphCreate(cu_graph *out, uint32_t flags)
{
	ENTER_CONTEXT("cuGraphCreate");
	*out = make_handle(sizeof(struct cu_graph_data), GRAPH);
	return 0;
}

EXPORT int cuGraphDestroy(cu_graph g)
{
	struct cu_node_data *n;

	ENTER_CONTEXT("cuGraphDestroy");
	CHECK(g, GRAPH, "cuGraphDestroy");
	for (n = g->nodes; n; n = n->next) {
		free(n->before);
		n->before = NULL;
		end_handle(n);
	}
	end_handle(g);
	return 0;
}

static int add_node(cu_node *out, cu_graph g, const cu_node *before, size_t count,
		    const struct op *op)
{
	struct cu_node_data *n;
	size_t i;

	for (i = 0; i < count; i++)
		CHECK(before[i], NODE, "a node's dependency");
	n = make_handle(sizeof(*n), NODE);
	n->graph = g;
	n->index = g->count++;
	n->next = g->nodes;
	g->nodes = n;
	n->before = calloc(count + 1, sizeof(struct cu_node_data *));
	for (i = 0; i < count; i++)
		n->before[i] = before[i];
	n->before_count = count;
	n->empty = !op;
	if (op)
		n->op = *op;
	*out = n;
	return 0;
}

static int kernel_op(const struct cu_kernel_node *k, struct launch_wish *w, struct op *o,
		     const char *name)
{
	CHECK(k->function, FUNCTION, name);
	memcpy(w->grid, k->grid, sizeof(w->grid));
	memcpy(w->block, k->block, sizeof(w->block));
	w->shared = k->shared;
	memset(o, 0, sizeof(*o));
	return launch_op(k->function, w, k->arguments, o);
}

static int add_kernel(cu_node *out, cu_graph g, const cu_node *before, size_t count,
		      const struct cu_kernel_node *k, const char *name)
{
	struct launch_wish w = { .shared = 0 };
	struct op o;
	int status;

	ENTER_CONTEXT(name);
	CHECK(g, GRAPH, name);
	status = kernel_op(k, &w, &o, name);
	if (!status)
		status = add_node(out, g, before, count, &o);
	if (!status) {
		(*out)->wish = w;
		(*out)->function = k->function;
	}
	return status;
}

EXPORT int cuGraphAddKernelNode(cu_node *out, cu_graph g, const cu_node *before, size_t count,
				const struct cu_kernel_node *k)
{
	return add_kernel(out, g, before, count, k, "cuGraphAddKernelNode");
}

static int copy_op(const struct cu_copy_node *c, struct op *o)
{
	memset(o, 0, sizeof(*o));
	o->kind = OP_COPY;
	o->to = c->to.device;
	o->from = c->from.device;
	o->size = c->width;
	if (c->height != 1 || c->depth != 1 || c->to.type != CU_MEMORY_DEVICE ||
	    c->from.type != CU_MEMORY_DEVICE || !memory_at(o->to, o->size) ||
	    !memory_at(o->from, o->size))
		return CU_INVALID_VALUE;
	return 0;
}

static int fill_op(const struct cu_fill_node *c, struct op *o)
{
	memset(o, 0, sizeof(*o));
	o->kind = OP_SET;
	o->to = c->to;
	o->value = c->value;
	o->width = c->element;
	o->size = c->width * c->element;
	if (c->height != 1 || (o->width != 1 && o->width != 2 && o->width != 4) ||
	    o->to % o->width || (o->width < 4 && o->value >> 8 * o->width) ||
	    !memory_at(o->to, o->size))
		return CU_INVALID_VALUE;
	return 0;
}

EXPORT int cuGraphAddMemcpyNode(cu_node *out, cu_graph g, const cu_node *before, size_t count,
				const struct cu_copy_node *c, cu_context context)
{
	struct op o;
	int status;

	ENTER_CONTEXT("cuGraphAddMemcpyNode");
	CHECK(g, GRAPH, "cuGraphAddMemcpyNode");
	if (context != current)
		complain("another context", "cuGraphAddMemcpyNode");
	status = copy_op(c, &o);
	return status ? status : add_node(out, g, before, count, &o);
}

EXPORT int cuGraphAddMemsetNode(cu_node *out, cu_graph g, const cu_node *before, size_t count,
				const struct cu_fill_node *c, cu_context context)
{
	struct op o;
	int status;

	ENTER_CONTEXT("cuGraphAddMemsetNode");
	CHECK(g, GRAPH, "cuGraphAddMemsetNode");
	status = fill_op(c, &o);
	return status ? status : add_node(out, g, before, count, &o);
}

EXPORT int cuGraphAddEmptyNode(cu_node *out, cu_graph g, const cu_node *before, size_t count)
{
	ENTER_CONTEXT("cuGraphAddEmptyNode");
	CHECK(g, GRAPH, "cuGraphAddEmptyNode");
	return add_node(out, g, before, count, NULL);
}

EXPORT int cuGraphKernelNodeSetAttribute(cu_node n, int id, const void *value)
{
	struct cu_launch_attribute a = { .id = (uint32_t)id };

	ENTER_CONTEXT("cuGraphKernelNodeSetAttribute");
	CHECK(n, NODE, "cuGraphKernelNodeSetAttribute");
	memcpy(&a.value, value, sizeof(a.value));
	if (take_attribute(&n->wish, (uint32_t)id, &a))
		return CU_INVALID_VALUE;
	return check_launch(n->function, &n->wish);
}

/* Numbers in an order to run: behind what they depend on, else the last added first. */
static void sort(struct cu_graph_exec_data *x)
{
	char *placed = calloc((size_t)x->count + 1, 1);
	struct cu_node_data *n;
	size_t i;
	int found;

	x->order = calloc((size_t)x->count + 1, sizeof(int));
	do {
		found = 0;
		for (n = x->graph->nodes; n && !found; n = n->next) {
			for (i = 0; i < n->before_count && placed[n->before[i]->index]; i++)
				;
			if (placed[n->index] || i < n->before_count)
				continue;
			placed[n->index] = 1;
			x->order[x->ordered++] = n->index;
			found = 1;
		}
	} while (found);
	free(placed);
}

static int instantiate(cu_graph_exec *out, cu_graph g, const char *name)
{
	struct cu_graph_exec_data *x;
	struct cu_node_data *n;

	ENTER_CONTEXT(name);
	CHECK(g, GRAPH, name);
	COUNT(instantiations);
	x = make_handle(sizeof(*x), EXEC);
	x->graph = g;
	x->count = g->count;
	x->ops = calloc((size_t)g->count + 1, sizeof(struct op));
	for (n = g->nodes; n; n = n->next) {
		x->ops[n->index] = n->op;
		if (n->empty)
			x->ops[n->index].kind = -1;
	}
	sort(x);
	*out = x;
	return 0;
}

EXPORT int cuGraphInstantiate_v2(cu_graph_exec *out, cu_graph g, cu_node *bad, char *log,
				 size_t room)
{
	return instantiate(out, g, "cuGraphInstantiate_v2");
}

EXPORT int cuGraphExecDestroy(cu_graph_exec x)
{
	ENTER_CONTEXT("cuGraphExecDestroy");
	CHECK(x, EXEC, "cuGraphExecDestroy");
	free(x->ops);
	free(x->order);
	x->ops = NULL;
	x->order = NULL;
	end_handle(x);
	return 0;
}

static int check_change(cu_graph_exec x, cu_node n, const char *name)
{
	ENTER_CONTEXT(name);
	CHECK(x, EXEC, name);
	CHECK(n, NODE, name);
	COUNT(graph_changes);
	return n->graph != x->graph ? CU_INVALID_VALUE : f.graph_change_fails ? 910 : 0;
}

static int set_kernel(cu_graph_exec x, cu_node n, const struct cu_kernel_node *k, const char *name)
{
	int status = check_change(x, n, name);
	struct op o;

	if (!status && k->function != n->function)
		status = CU_INVALID_VALUE;
	if (!status)
		status = kernel_op(k, &n->wish, &o, name);
	if (!status)
		x->ops[n->index] = o;
	return status;
}

EXPORT int cuGraphExecKernelNodeSetParams(cu_graph_exec x, cu_node n,
					  const struct cu_kernel_node *k)
{
	return set_kernel(x, n, k, "cuGraphExecKernelNodeSetParams");
}

EXPORT int cuGraphExecMemcpyNodeSetParams(cu_graph_exec x, cu_node n, const struct cu_copy_node *c,
					  cu_context context)
{
	int status = check_change(x, n, "cuGraphExecMemcpyNodeSetParams");

	return status ? status : copy_op(c, &x->ops[n->index]);
}

EXPORT int cuGraphExecMemsetNodeSetParams(cu_graph_exec x, cu_node n, const struct cu_fill_node *c,
					  cu_context context)
{
	int status = check_change(x, n, "cuGraphExecMemsetNodeSetParams");

	return status ? status : fill_op(c, &x->ops[n->index]);
}

EXPORT int cuGraphLaunch(cu_graph_exec x, cu_stream s)
{
	struct op *o, **end, *n;
	int i;

	ENTER_CONTEXT("cuGraphLaunch");
	CHECK(x, EXEC, "cuGraphLaunch");
	CHECK(s, STREAM, "cuGraphLaunch");
	COUNT(graph_launches);
	if (f.nothing)
		return 0;
	o = op_make(OP_GRAPH);
	end = &o->nodes;
	for (i = 0; i < x->ordered; i++) {
		if (x->ops[x->order[i]].kind < 0)
			continue;
		n = malloc(sizeof(*n));
		*n = x->ops[x->order[i]];
		n->next = NULL;
		*end = n;
		end = &n->next;
	}
	return enqueue(s, o);
}

#ifndef FAKE_OLD
EXPORT int cuGraphAddKernelNode_v2(cu_node *out, cu_graph g, const cu_node *before, size_t count,
				   const struct cu_kernel_node *k)
{
	if (k->kernel || k->context)
		complain("members that are not used are not NULL", "cuGraphAddKernelNode_v2");
	return add_kernel(out, g, before, count, k, "cuGraphAddKernelNode_v2");
}

EXPORT int cuGraphExecKernelNodeSetParams_v2(cu_graph_exec x, cu_node n,
					     const struct cu_kernel_node *k)
{
	return set_kernel(x, n, k, "cuGraphExecKernelNodeSetParams_v2");
}

EXPORT int cuGraphInstantiateWithFlags(cu_graph_exec *out, cu_graph g, unsigned long long flags)
{
	return instantiate(out, g, "cuGraphInstantiateWithFlags");
}
#endif
