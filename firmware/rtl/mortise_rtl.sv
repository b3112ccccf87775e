// SPDX-License-Identifier: MIT
// An accelerator that speaks mortise: registers on AXI4-Lite, memory on AXI4 with 64 bits of data, one interrupt.
module mortise_rtl #(
	parameter int unsigned TICK_HZ = 25000000 // frequency of clk
) (
	input  logic        clk,
	input  logic        rst,
	output logic        irq,
	output logic        asleep, // the clock may be gated until a register is accessed

	// registers: mortise_regs.sv
	input  logic [7:0]  s_awaddr,
	input  logic        s_awvalid,
	output logic        s_awready,
	input  logic [31:0] s_wdata,
	input  logic [3:0]  s_wstrb,
	input  logic        s_wvalid,
	output logic        s_wready,
	output logic [1:0]  s_bresp,
	output logic        s_bvalid,
	input  logic        s_bready,
	input  logic [7:0]  s_araddr,
	input  logic        s_arvalid,
	output logic        s_arready,
	output logic [31:0] s_rdata,
	output logic [1:0]  s_rresp,
	output logic        s_rvalid,
	input  logic        s_rready,

	// memory
	output logic [31:0] m_awaddr,
	output logic [7:0]  m_awlen,
	output logic [2:0]  m_awsize,
	output logic [1:0]  m_awburst,
	output logic        m_awvalid,
	input  logic        m_awready,
	output logic [63:0] m_wdata,
	output logic [7:0]  m_wstrb,
	output logic        m_wlast,
	output logic        m_wvalid,
	input  logic        m_wready,
	input  logic [1:0]  m_bresp,
	input  logic        m_bvalid,
	output logic        m_bready,
	output logic [31:0] m_araddr,
	output logic [7:0]  m_arlen,
	output logic [2:0]  m_arsize,
	output logic [1:0]  m_arburst,
	output logic        m_arvalid,
	input  logic        m_arready,
	input  logic [63:0] m_rdata,
	input  logic [1:0]  m_rresp,
	input  logic        m_rlast,
	input  logic        m_rvalid,
	output logic        m_rready
);
	logic        run, held, doorbell, notify;
	logic [31:0] window, window_size, read_address, write_address;
	logic [63:0] cycles, in_data, write_word;
	logic [2:0]  state;
	logic [12:0] read_length, write_length;
	logic [9:0]  in_index, write_index;
	logic [3:0]  in_bytes;
	logic        read_start, read_ready, in_valid, in_last, read_failed;
	logic        write_start, write_done, write_failed;
	logic        unused_last;

	assign held = rst || !run;
	assign m_awsize = 3'd3;
	assign m_awburst = 2'd1;
	assign m_arsize = 3'd3;
	assign m_arburst = 2'd1;
	// beats are counted
	assign unused_last = m_rlast;

	mortise_regs #(.TICK_HZ(TICK_HZ)) regs (
		.clk, .rst,
		.awaddr(s_awaddr), .awvalid(s_awvalid), .awready(s_awready), .wdata(s_wdata), .wstrb(s_wstrb),
		.wvalid(s_wvalid), .wready(s_wready), .bresp(s_bresp), .bvalid(s_bvalid), .bready(s_bready),
		.araddr(s_araddr), .arvalid(s_arvalid), .arready(s_arready), .rdata(s_rdata), .rresp(s_rresp),
		.rvalid(s_rvalid), .rready(s_rready),
		.run, .window, .window_size, .doorbell, .notify, .irq, .state, .asleep, .cycles);

	mortise_core #(.TICK_HZ(TICK_HZ)) core (
		.clk, .rst(held), .window, .window_size, .cycles, .doorbell, .notify, .asleep, .state,
		.read_start, .read_address, .read_length, .read_ready, .in_valid, .in_data, .in_index, .in_bytes,
		.in_last, .read_failed,
		.write_start, .write_address, .write_length, .write_done, .write_failed, .write_index, .write_word);

	mortise_read reader (
		.clk, .rst(held), .start(read_start), .address(read_address), .length(read_length), .ready(read_ready),
		.out_valid(in_valid), .out_data(in_data), .out_index(in_index), .out_bytes(in_bytes), .out_last(in_last),
		.failed(read_failed),
		.araddr(m_araddr), .arlen(m_arlen), .arvalid(m_arvalid), .arready(m_arready),
		.rdata(m_rdata), .rresp(m_rresp), .rvalid(m_rvalid), .rready(m_rready));

	mortise_write writer (
		.clk, .rst(held), .start(write_start), .address(write_address), .length(write_length), .done(write_done),
		.failed(write_failed), .index(write_index), .word(write_word),
		.awaddr(m_awaddr), .awlen(m_awlen), .awvalid(m_awvalid), .awready(m_awready), .wdata(m_wdata),
		.wstrb(m_wstrb), .wlast(m_wlast), .wvalid(m_wvalid), .wready(m_wready), .bresp(m_bresp),
		.bvalid(m_bvalid), .bready(m_bready));
endmodule
