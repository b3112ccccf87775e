// SPDX-License-Identifier: MIT
// Numbers of <tenon/uapi/mortise.h> that the logic needs, under the same names.
// verilator lint_off UNUSEDPARAM
package mortise_pkg;
	localparam logic [31:0] MAGIC = 32'h5453_524d;
	localparam logic [31:0] ABI = 32'h0001_0000;
	localparam logic [31:0] VERSION = 32'h0000_0100; // 0.1.0
	localparam logic [31:0] CONTROL_OFFSET = 32'h0001_0000;
	localparam logic [31:0] SHARED_OFFSET = 32'h0001_2000;

	// offsets in the control block
	localparam logic [31:0] IDENTITY = 32'd0;
	localparam logic [31:0] STATUS = 32'd64;
	localparam logic [31:0] COMPLETION = 32'd128;
	localparam logic [31:0] FAULT = 32'd192;
	localparam logic [31:0] HOST = 32'd256;
	localparam logic [31:0] SETUP = 32'd320;
	localparam logic [31:0] REGIONS = 32'd384;

	// DOORBELL, INTERRUPT, WATCHDOG, TIMESTAMP: all but CALL
	localparam logic [31:0] FEATURES = 32'h1e;

	localparam logic [2:0] STATE_RESET = 3'd0;
	localparam logic [2:0] STATE_READY = 3'd1;
	localparam logic [2:0] STATE_RUNNING = 3'd2;
	localparam logic [2:0] STATE_FAULTED = 3'd3;
	localparam logic [2:0] STATE_STOPPED = 3'd4;

	localparam logic [3:0] FAULT_SETUP = 4'd1;
	localparam logic [3:0] FAULT_HEAD = 4'd2;
	localparam logic [3:0] FAULT_HEADER = 4'd3;
	localparam logic [3:0] FAULT_OPCODE = 4'd4;
	localparam logic [3:0] FAULT_FIELD = 4'd5;
	localparam logic [3:0] FAULT_ADDRESS = 4'd6;
	localparam logic [3:0] FAULT_WATCHDOG = 4'd8;
	localparam logic [3:0] FAULT_TRAP = 4'd9;
	localparam logic [3:0] FAULT_SELFTEST = 4'd10;

	localparam logic [2:0] READ = 3'd1;
	localparam logic [2:0] WRITE = 3'd2;

	localparam logic [7:0] OP_PAD = 8'd0;
	localparam logic [7:0] OP_COPY = 8'd1;
	localparam logic [7:0] OP_FILL = 8'd2;
	localparam logic [7:0] OP_WAIT = 8'd4;
	localparam logic [7:0] OP_SIGNAL = 8'd5;
	localparam logic [7:0] OP_TIMESTAMP = 8'd6;
	localparam logic [7:0] OP_BARRIER = 8'd7;
	localparam logic [7:0] OP_VECTOR = 8'd8;
	localparam logic [7:0] OP_GEMM = 8'd9;
	localparam logic [7:0] OP_SELFTEST = 8'd10;
	localparam logic [7:0] OP_SHUTDOWN = 8'd11;

	// shape of the array of multipliers: int8 products a cycle are ROWS * LANES
	localparam int unsigned ROWS = 4;
	localparam int unsigned LANES = 8;
endpackage
// verilator lint_on UNUSEDPARAM
