#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make_data.sh PYTHON [FOLDER [SEED]]: make tests/torq/data, or another folder, anew: networks that torq-compile compiled, random
# inputs, and what Synaptics' model computed of them. PYTHON has numpy; TORQ_WHEELS and TORQ_LIBRARIES are as torq.sh has them.

set -e
python=${1:-python3} data=${2:-tests/torq/data} seed=${3:-1}
. tests/torq/torq.sh
torq_tools
echo "$torq_networks" | while IFS=: read -r name shapes; do
	folder=$data/$name
	mkdir -p "$folder"
	$torq_compile "tests/torq/networks/$name.mlir" -o "$folder/$name.vmfb" < /dev/null
	# shellcheck disable=SC2086 # a word each
	"$python" tests/torq/inputs.py "$seed" "$folder" $shapes
	TORQ_RUN=$torq_run "$python" tests/torq/record.py "$folder/$name.vmfb" main "$folder/out" "$folder"/in?.npy
	mv "$folder/out.txt" "$folder/record.txt"
	mv "$folder/out.0.npy" "$folder/out0.npy"
done
