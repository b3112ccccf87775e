#!/usr/bin/env node
// SPDX-License-Identifier: MIT
/*
 * Open a trace in Perfetto's own trace processor: all of its spans and counters arrive, none with an error.
 *
 * usage: perfetto.js FOLDER TRACE [CATEGORY]...
 *
 * FOLDER has engine_bundle.js and trace_processor.wasm: the worker that ui.perfetto.dev runs in a browser. It is given
 * what a worker has, and requests as its page would send them (TraceProcessorRpcStream in Perfetto's
 * protos/perfetto/trace_processor/trace_processor.proto).
 */
"use strict";
const fs = require("fs");
const path = require("path");

const [folder, trace, ...categories] = process.argv.slice(2);

// requests: TraceProcessorMethod
const APPEND = 1, FINALIZE = 2, QUERY = 3;
// fields of TraceProcessorRpc
const REQUEST = 2, INVALID = 4, FATAL = 5, TRACE_DATA = 101, QUERY_ARGS = 103, APPEND_RESULT = 201, QUERY_RESULT = 203;

function varint(n)
{
	const bytes = [];

	for (; n >= 0x80; n = Math.floor(n / 0x80))
		bytes.push((n % 0x80) | 0x80);
	bytes.push(n);
	return Buffer.from(bytes);
}

function number(field, n)
{
	return Buffer.concat([varint(field * 8), varint(n)]);
}

function bytes(field, data)
{
	return Buffer.concat([varint(field * 8 + 2), varint(data.length), data]);
}

function readVarint(data, at)
{
	let n = 0, factor = 1;

	do {
		n += (data[at] & 0x7f) * factor;
		factor *= 0x80;
	} while (data[at++] & 0x80);
	return [n, at];
}

// The fields of a message: a list of values for each number.
function fields(data)
{
	const found = {};
	let at = 0, tag, value, size;

	while (at < data.length) {
		[tag, at] = readVarint(data, at);
		if (tag % 8 === 0) {
			[value, at] = readVarint(data, at);
		} else {
			if (tag % 8 === 2)
				[size, at] = readVarint(data, at);
			else
				size = tag % 8 === 1 ? 8 : 4;
			value = data.subarray(at, at + size);
			at += size;
		}
		(found[Math.floor(tag / 8)] ??= []).push(value);
	}
	return found;
}

function packed(values)
{
	const list = [];

	for (const data of values || [])
		for (let at = 0, n; at < data.length; list.push(n))
			[n, at] = readVarint(data, at);
	return list;
}

// What the worker reads files with, without waiting for an event.
class FileRequest {
	open(method, url)
	{
		this.path = path.join(folder, path.basename(url));
	}

	send()
	{
		this.response = fs.readFileSync(this.path);
	}
}

// Start the worker. Resolves to a function that sends a request and returns the answers.
async function start()
{
	const scope = { location: { href: "https://perfetto/worker" } };
	const source = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
	let answers = [];
	const port = { postMessage: data => answers.push(...(fields(Buffer.from(data))[1] || []).map(fields)) };

	// without "process" the worker does not know that this is no browser
	new Function("self", "WorkerGlobalScope", "XMLHttpRequest", "process", source)(scope, Object, FileRequest);
	scope.onmessage({ data: port });
	await new Promise(resolve => setImmediate(resolve));
	return (...parts) => {
		answers = [];
		port.onmessage({ data: new Uint8Array(bytes(1, Buffer.concat(parts))) });
		for (const a of answers)
			if (a[FATAL] || a[INVALID])
				throw new Error(`the trace processor answers ${a[FATAL] || a[INVALID]}`);
		return answers;
	};
}

// The cells of a query, row by row, as numbers and texts.
function query(send, sql)
{
	const cells = [];

	for (const answer of send(number(REQUEST, QUERY), bytes(QUERY_ARGS, bytes(1, Buffer.from(sql))))) {
		const result = fields(answer[QUERY_RESULT][0]);

		if (result[2])
			throw new Error(`${sql}: ${result[2][0]}`);
		for (const batch of (result[3] || []).map(fields)) {
			const numbers = packed(batch[2]);
			const texts = batch[5] ? batch[5][0].toString().split("\0") : [];

			for (const kind of packed(batch[1]))
				cells.push(kind === 2 ? numbers.shift() : kind === 4 ? texts.shift() : null);
		}
	}
	return cells;
}

function same(what, found, wanted)
{
	if (found !== wanted)
		throw new Error(`${trace}: ${found} ${what}, the file has ${wanted}`);
}

async function main()
{
	const text = fs.readFileSync(trace);
	const events = JSON.parse(text).traceEvents;
	const phase = ph => events.filter(e => e.ph === ph).length;
	const send = await start();
	const answer = send(number(REQUEST, APPEND), bytes(TRACE_DATA, text));
	const failed = fields(answer[0][APPEND_RESULT][0])[2];

	if (failed)
		throw new Error(`${trace}: ${failed[0]}`);
	send(number(REQUEST, FINALIZE));
	const errors = query(send, "select name, value from stats where severity in ('error', 'data_loss') and value > 0");
	if (errors.length)
		throw new Error(`${trace}: ${errors}`);
	same("spans", query(send, "select count(*) from slice")[0], phase("X"));
	same("values of counters", query(send, "select count(*) from counter")[0], phase("C"));
	same("tracks with a name", query(send, "select count(*) from thread where name is not null and tid > 0")[0],
	     events.filter(e => e.name === "thread_name").length);
	const found = query(send, "select distinct category from slice");
	for (const category of categories)
		if (!found.includes(category))
			throw new Error(`${trace}: no ${category} among ${found}`);
	console.log(`${phase("X")} spans, ${phase("C")} values of counters`);
}

main().catch(error => {
	console.error(error.message);
	process.exit(1);
});
