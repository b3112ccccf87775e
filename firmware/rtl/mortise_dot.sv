// SPDX-License-Identifier: MIT
// The array: ROWS rows of LANES multipliers. Rows of the first matrix lie in a memory here; a row of the second matrix
// streams through, eight bytes a cycle, and is multiplied with all of them. Sums of a tile of 32 columns stay here
// between the parts of k, which are 512 long.
module mortise_dot (
	input  logic         clk,
	input  logic         rst,
	// rows of the first matrix
	input  logic         load,
	input  logic [1:0]   load_row,
	input  logic [5:0]   load_index,
	input  logic [63:0]  load_data,
	// a row of the second one
	input  logic         feed,
	input  logic [63:0]  feed_data,
	input  logic [5:0]   feed_index,
	input  logic [7:0]   feed_mask, // bytes that are part of the row
	input  logic         feed_last,
	input  logic [4:0]   feed_column,
	input  logic [7:0]   a_zero,
	input  logic [7:0]   b_zero,
	input  logic         fresh,     // the first part of k
	// sums of a column, while nothing is fed
	input  logic [4:0]   column,
	output logic [127:0] sums,
	output logic         busy
);
	localparam int unsigned ROWS = mortise_pkg::ROWS;
	localparam int unsigned LANES = mortise_pkg::LANES;

	// 1: the word of each row, and what is multiplied with it
	logic         valid1, first1, last1;
	logic [4:0]   column1;
	logic [71:0]  b1;        // 9 bits a lane
	logic [255:0] a1;

	// 2: products
	logic         valid2, first2, last2;
	logic [4:0]   column2;
	logic [575:0] product2;  // 18 bits for each lane of each row

	// 3: sums
	logic         last3;
	logic [4:0]   column3;
	logic [127:0] sum3, before3;
	logic [127:0] sum_of [0:31];

	assign busy = valid1 || valid2 || last3;
	assign sums = sum_of[valid2 ? column2 : column];
	assign before3 = !first2 ? sum3 : fresh ? 128'd0 : sums;

	always_ff @(posedge clk) begin
		first1 <= feed_index == 0;
		last1 <= feed_last;
		column1 <= feed_column;
		first2 <= first1;
		last2 <= last1;
		column2 <= column1;
		column3 <= column2;
		if (last3)
			sum_of[column3] <= sum3;
		if (rst) begin
			valid1 <= 0;
			valid2 <= 0;
			last3 <= 0;
		end else begin
			valid1 <= feed;
			valid2 <= valid1;
			last3 <= valid2 && last2;
		end
	end

	for (genvar l = 0; l < LANES; l++) begin : g_lane
		always_ff @(posedge clk)
			b1[9*l +: 9] <= feed_mask[l] ? {feed_data[8*l + 7], feed_data[8*l +: 8]} - {b_zero[7], b_zero}
						     : 9'd0;
	end

	for (genvar r = 0; r < ROWS; r++) begin : g_row
		logic [63:0] words [0:63];
		logic [31:0] total;

		always_ff @(posedge clk) begin
			if (load && load_row == 2'(r))
				words[load_index] <= load_data;
			a1[64*r +: 64] <= words[feed_index];
		end

		for (genvar l = 0; l < LANES; l++) begin : g_product
			logic signed [8:0] a, b;

			assign a = {a1[64*r + 8*l + 7], a1[64*r + 8*l +: 8]} - {a_zero[7], a_zero};
			assign b = b1[9*l +: 9];
			always_ff @(posedge clk)
				product2[18*(LANES*r + l) +: 18] <= a * b;
		end

		always_comb begin
			total = 0;
			for (int l = 0; l < LANES; l++)
				total = total + {{14{product2[18*(LANES*r + l) + 17]}}, product2[18*(LANES*r + l) +: 18]};
		end

		always_ff @(posedge clk)
			if (valid2)
				sum3[32*r +: 32] <= before3[32*r +: 32] + total;
	end
endmodule
