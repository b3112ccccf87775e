/* SPDX-License-Identifier: MIT */
/* Repeat all operations, and find the first whose result differs. */
#include "tools/replay/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/progress.h"

/**
 * struct comparer - a comparison under way
 * @m: the record
 * @targets: as in replay_compare()
 * @count: likewise
 * @tolerance: likewise
 * @out: what was found
 * @equal: by index of an operation: it was compared, and is equal
 */
struct comparer {
	const struct replay_manifest *m;
	const struct replay_target *targets;
	size_t count;
	const struct tolerance *tolerance;
	struct replay_comparison *out;
	bool *equal;
};

/* what became of an operation */
enum verdict {
	EQUAL,
	DIFFERS,
	NOT_COMPARED,
};

/* Errors that are the record's or this process's, and not the operation's on a device. */
static bool is_fatal(int status)
{
	return status == -TENON_E_FORMAT || status == -TENON_E_IO || status == -TENON_E_NOMEM ||
	       status == -TENON_E_TRUNCATED;
}

static void note_failure(struct comparer *c, const struct replay_operation *op,
			 const struct replay_target *t)
{
	struct replay_failure *f = &c->out->failure;

	c->out->failed++;
	if (!f->operation)
		*f = (struct replay_failure){ op, t, strdup(tenon_error_message()) };
	tenon_error_clear();
}

static bool compare_one(const struct comparer *c, const struct replay_argument *a,
			const struct tenon_tensor *got, const struct tenon_tensor *want,
			struct comparison *out)
{
	const struct tolerance exact = { .rtol_given = true, .atol_given = true };

	memset(out, 0, sizeof(*out));
	compare_tensors(&got->dl, &want->dl, a->bytes_only ? &exact : c->tolerance, out);
	if (out->equal && out->absolute > c->out->absolute)
		c->out->absolute = out->absolute;
	if (out->equal && out->relative > c->out->relative)
		c->out->relative = out->relative;
	return out->equal;
}

static enum verdict compare_results(const struct comparer *c, const struct replay_operation *op,
				    const struct replay_results *got,
				    const struct replay_results *want,
				    struct replay_difference *difference)
{
	struct comparison comparison;
	size_t i;

	for (i = 0; i < op->argument_count; i++) {
		if (!got->at[i] || !want->at[i] ||
		    compare_one(c, &op->arguments[i], got->at[i], want->at[i], &comparison))
			continue;
		*difference = (struct replay_difference){ op, i, comparison };
		return DIFFERS;
	}
	return EQUAL;
}

/* Run an operation on one device. Return: 0; 1 if it has no result there; negative to give up. */
static int run_on(struct comparer *c, const struct replay_operation *op,
		  const struct replay_target *t, struct replay_results *out)
{
	int err = replay_operation_run(c->m, op, t, out);

	if (err < 0 && is_fatal(err))
		return tenon_error_in(err, "operation %" PRIu64, op->number);
	if (err < 0)
		note_failure(c, op, t);
	else if (err && !c->out->absent++)
		c->out->missing = (struct replay_failure){ op, t, NULL };
	return err ? 1 : 0;
}

static int compare_operation(struct comparer *c, const struct replay_operation *op,
			     struct replay_difference *difference, enum verdict *verdict)
{
	struct replay_results want = { 0 }, got = { 0 };
	int err;

	*verdict = NOT_COMPARED;
	progress_say("operation %" PRIu64 ": %s", op->number, op->name);
	if (c->count == 2) {
		err = run_on(c, op, &c->targets[0], &want);
	} else {
		err = replay_operation_recorded(c->m, op, &want);
		if (err)
			tenon_error_in(err, "operation %" PRIu64, op->number);
	}
	if (!err)
		err = run_on(c, op, &c->targets[c->count - 1], &got);
	if (!err)
		*verdict = compare_results(c, op, &got, &want, difference);
	replay_results_fini(&want);
	replay_results_fini(&got);
	return err < 0 ? err : 0;
}

static size_t index_of(const struct replay_manifest *m, uint64_t number)
{
	size_t low = 0, high = m->operation_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (m->operations[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether an operator around the operation is equal, so that the operation need not be compared. */
static bool is_covered(const struct comparer *c, const struct replay_operation *op)
{
	uint64_t within = op->within;
	size_t i;

	while (within) {
		i = index_of(c->m, within);
		if (i == c->m->operation_count || c->m->operations[i].number != within)
			return false;
		if (c->equal[i])
			return true;
		within = c->m->operations[i].within;
	}
	return false;
}

/* Find which kernel of an operator differs. What cannot be compared here says nothing. */
static int find_kernel(struct comparer *c, const struct replay_operation *op)
{
	const struct replay_comparison before = *c->out;
	struct replay_difference difference = { 0 };
	enum verdict verdict = NOT_COMPARED;
	size_t i;
	int err = 0;

	for (i = index_of(c->m, op->number); i < c->m->operation_count && !err; i++) {
		const struct replay_operation *inner = &c->m->operations[i];

		if (inner->within != op->number || inner->kind != REPLAY_KERNEL)
			continue;
		err = compare_operation(c, inner, &difference, &verdict);
		if (verdict == DIFFERS)
			break;
	}
	if (!before.failure.operation)
		free(c->out->failure.reason);
	*c->out = before;
	if (verdict == DIFFERS)
		c->out->kernel = difference;
	return err;
}

static int compare_all(struct comparer *c)
{
	const struct replay_manifest *m = c->m;
	enum verdict verdict;
	size_t i;
	int err = 0;

	for (i = 0; i < m->operation_count && !err && !c->out->first.operation; i++) {
		if (is_covered(c, &m->operations[i]))
			continue;
		err = compare_operation(c, &m->operations[i], &c->out->first, &verdict);
		c->out->compared += verdict != NOT_COMPARED;
		c->equal[i] = verdict == EQUAL;
	}
	if (!err && c->out->first.operation)
		err = find_kernel(c, c->out->first.operation);
	return err;
}

int replay_compare(const struct replay_manifest *m, const struct replay_target *targets,
		   size_t count, const struct tolerance *tolerance, struct replay_comparison *out)
{
	struct comparer c = {
		.m = m, .targets = targets, .count = count, .tolerance = tolerance, .out = out
	};
	int err;

	*out = (struct replay_comparison){ 0 };
	c.equal = calloc(m->operation_count + 1, sizeof(*c.equal));
	if (!c.equal)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory to compare its operations",
				   m->folder);
	err = compare_all(&c);
	free(c.equal);
	return err;
}

void replay_comparison_fini(struct replay_comparison *c)
{
	free(c->failure.reason);
}
