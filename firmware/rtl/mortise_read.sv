// SPDX-License-Identifier: MIT
// Reads ranges of bytes by AXI4 bursts. Words come out with the range's first byte in bits 7:0, whatever the alignment;
// the reader of them is always ready. Up to four ranges are on their way, so that the next one hides the latency.
module mortise_read (
	input  logic        clk,
	input  logic        rst,
	// a range: taken when start and ready are 1; length is 1 to 4096
	input  logic        start,
	input  logic [31:0] address,
	input  logic [12:0] length,
	output logic        ready,
	// its words
	output logic        out_valid,
	output logic [63:0] out_data,
	output logic [9:0]  out_index,
	output logic [3:0]  out_bytes,
	output logic        out_last,
	output logic        failed,
	// AXI4
	output logic [31:0] araddr,
	output logic [7:0]  arlen,
	output logic        arvalid,
	input  logic        arready,
	input  logic [63:0] rdata,
	input  logic [1:0]  rresp,
	input  logic        rvalid,
	output logic        rready
);
	// ---- bursts: 32 beats at most, and none over a boundary of 4 KiB
	logic [9:0]  beats;      // of the range that are not asked for yet
	logic [9:0]  page;       // beats to the next boundary
	logic [9:0]  burst;
	logic [9:0]  span;       // beats of a range
	logic        full;

	assign span = 10'((length + {10'd0, address[2:0]} + 13'd7) >> 3);
	assign page = 10'd512 - {1'b0, araddr[11:3]};
	assign ready = beats == 0 && !full;
	assign arlen = 8'(burst - 10'd1);
	assign arvalid = beats != 0;

	always_comb begin
		burst = beats < 10'd32 ? beats : 10'd32;
		if (page < burst)
			burst = page;
	end

	always_ff @(posedge clk) begin
		if (rst) begin
			beats <= 0;
			araddr <= 0;
		end else if (start && ready) begin
			beats <= span;
			araddr <= {address[31:3], 3'd0};
		end else if (arvalid && arready) begin
			beats <= beats - burst;
			araddr <= araddr + {19'd0, burst, 3'd0};
		end
	end

	// ---- ranges on their way: place of the first byte, and length
	logic [15:0] queue [0:3];
	logic [1:0]  first, next;
	logic [2:0]  count;
	logic        done;
	logic [2:0]  shift;
	logic [12:0] size;

	assign full = count == 3'd4;
	assign {shift, size} = queue[first];

	always_ff @(posedge clk) begin
		if (start && ready)
			queue[next] <= {address[2:0], length};
		if (rst) begin
			first <= 0;
			next <= 0;
			count <= 0;
		end else begin
			if (start && ready)
				next <= next + 1;
			if (done)
				first <= first + 1;
			count <= count + {2'd0, start && ready} - {2'd0, done};
		end
	end

	// ---- words
	logic [9:0]  beat;       // of the range
	logic [63:0] earlier;
	logic        flush;      // the last bytes came with the beat before
	logic [9:0]  words, beats_of_range;
	logic        take;

	assign words = 10'((size + 13'd7) >> 3);
	assign beats_of_range = 10'((size + {10'd0, shift} + 13'd7) >> 3);
	assign rready = !flush;
	assign take = rvalid && rready;
	assign failed = take && rresp != 0;
	assign out_valid = flush || (take && (shift == 0 || beat != 0));
	assign out_index = shift == 0 ? beat : beat - 10'd1;
	assign out_last = out_valid && out_index == words - 10'd1;
	assign out_bytes = !out_last || size[2:0] == 0 ? 4'd8 : {1'b0, size[2:0]};
	assign done = out_last;

	always_comb begin
		if (shift == 0)
			out_data = rdata;
		else
			out_data = ((flush ? 64'd0 : rdata) << {4'd8 - {1'b0, shift}, 3'd0})
				 | (earlier >> {shift, 3'd0});
	end

	always_ff @(posedge clk) begin
		if (take)
			earlier <= rdata;
		if (rst) begin
			beat <= 0;
			flush <= 0;
		end else if (done) begin
			beat <= 0;
			flush <= 0;
		end else if (take) begin
			beat <= beat + 1;
			flush <= shift != 0 && beat + 10'd1 == beats_of_range;
		end
	end
endmodule
