#!/bin/sh
# SPDX-License-Identifier: MIT
#
# what bash offers at a place of the command line

. tests/build/tap.sh

need bash
folder=$scratch/files
mkdir "$folder" "$folder/README.d"
touch "$folder/README" "$folder/a b.npy" "$folder/other"
script=$TENON_BUILD/completion/tenon.bash

# offers REPLIES LINE PIECE...: as bash asks at the end of a line, that it took apart into pieces
offers()
{
	(cd "$folder" && bash -c '
		. "$1" || exit
		want=$2 COMP_LINE=$3 COMP_POINT=${#3}
		shift 3
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_tenon tenon "" ""
		got=$(printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" "|")
		[ "$got" = "$want|" ] || { echo "for \"$COMP_LINE\": got $got want $want|"; exit 1; }
	' bash "$script" "$@")
}

commands_come_first()
{
	offers 'device|devices|doctor' 'tenon d' tenon d && offers 'params|partition' 'tenon help pa' tenon help pa
}

link_has_choices()
{
	offers 'unpack' 'tenon un' tenon un && offers 'legacy|modern' 'tenon link --abi ' tenon link --abi '' &&
		offers 'README|README.d' 'tenon link -o x RE' tenon link -o x RE &&
		offers 'README|README.d' 'tenon link --output RE' tenon link --output RE &&
		offers '' 'tenon link --import RE' tenon link --import RE && offers '--cpu|--help|--json|--kernel|--key|--kind|--region|--signature|--target' 'tenon verify -' tenon verify - &&
		offers 'README|README.d' 'tenon sign --key RE' tenon sign --key RE
}

params_has_actions()
{
	offers 'align|convert|extract|from-npy|from-npz|list' 'tenon params ' tenon params '' &&
		offers 'from-npy|from-npz' 'tenon params --json from' tenon params --json from &&
		offers 'README|README.d' 'tenon params list RE' tenon params list RE &&
		offers 'README|README.d' 'tenon params extract x -o RE' tenon params extract x -o RE
}

no_files_for_devices()
{
	offers '--help|--json|--remote|--timeout' 'tenon devices ' tenon devices '' && offers '' 'tenon doctor o' tenon doctor o &&
		offers '--cdi' 'tenon doctor --c' tenon doctor --c &&
		offers '' 'tenon doctor --timeout ' tenon doctor --timeout ''
}

a_device_is_reset()
{
	offers 'reset' 'tenon device res' tenon device res && offers '--json' 'tenon device reset x --j' tenon device reset x --j
}

files_behind_an_at()
{
	offers 'README|README.d' 'tenon run f --input @RE' tenon run f --input @ RE &&
		offers 'README|README.d' 'tenon run f --input x=@RE' tenon run f --input x =@ RE &&
		offers 'other' 'tenon run f --expect x=2xint8=@o' tenon run f --expect x = 2xint8 =@ o &&
		offers 'README|README.d|a b.npy|other' 'tenon run f --input x=@' tenon run f --input x =@ &&
		offers '@' 'tenon run f --input x=' tenon run f --input x = &&
		offers 'README|README.d' 'tenon run f --input=x=@RE' tenon run f --input = x =@ RE
}

# where COMP_WORDBREAKS was changed
whole_words()
{
	offers 'x=@README|x=@README.d' 'tenon run f --input x=@RE' tenon run f --input x=@RE &&
		offers '--input=x=@other' 'tenon run f --input=x=@o' tenon run f --input=x=@o
}

options_and_values()
{
	offers '--per-op' 'tenon bench --per' tenon bench --per && offers cpu 'tenon run --device ' tenon run --device '' &&
		offers '' 'tenon run --repeat o' tenon run --repeat o && offers other 'tenon run o' tenon run o &&
		offers other 'tenon run --graph=o' tenon run --graph = o &&
		offers 'a b.npy' 'tenon inspect a' tenon inspect a
}

actions_and_options_of_rpc()
{
	offers 'serve' 'tenon rpc s' tenon rpc s && offers '--key' 'tenon rpc serve --k' tenon rpc serve --k &&
		offers 'status' 'tenon rpc tracker s' tenon rpc tracker s &&
		offers 'README.d' 'tenon rpc serve --folder README.' tenon rpc serve --folder README. &&
		offers '' 'tenon rpc serve --key o' tenon rpc serve --key o && offers '' 'tenon rpc serve o' tenon rpc serve o
}

actions_and_options_of_hil()
{
	offers 'run' 'tenon hil r' tenon hil r && offers '--target' 'tenon hil run --t' tenon hil run --t &&
		offers 'README|README.d' 'tenon hil run --target RE' tenon hil run --target RE &&
		offers '' 'tenon hil run --seed o' tenon hil run --seed o && offers 'other' 'tenon hil run o' tenon hil run o
}

# Options in --help, which begin a line there, and those that the shells complete
options_are_those_of_help()
{
	awk -F ' *[|] *' 'NF == 3 && !/^#/ && $1 !~ /[.]|help/ { print $1 }' "$TENON_SOURCE/tools/completion/words" > "$scratch/commands"
	while read -r command; do
		"$TENON_COMMAND" "$command" --help > "$scratch/help" || return
		sed -n 's/^  *\(-[a-zA-Z], \)*\(--[a-z][a-z-]*\).*/\2/p' "$scratch/help" | sort -u > "$scratch/told"
		awk -F ' *[|] *' -v command="$command" 'NF == 4 && " " $3 ~ (" " command "([. ]|$)") { sub(/.* /, "", $1); print $1 }' \
			"$TENON_SOURCE/tools/completion/words" | sort -u > "$scratch/known"
		comm -23 "$scratch/told" "$scratch/known" | sed "s/^/$command: not completed: /"
	done < "$scratch/commands" > "$scratch/missing"
	cat "$scratch/missing"
	[ -s "$scratch/commands" ] && [ ! -s "$scratch/missing" ]
}

the_scripts_have_no_fault()
{
	bash -n "$script" && grep -q '^complete -F' "$script" || return
	! command -v zsh > /dev/null 2>&1 || zsh -n "$TENON_BUILD/completion/tenon.zsh" || return
	! command -v fish > /dev/null 2>&1 || fish -n "$TENON_BUILD/completion/tenon.fish"
}

it "the scripts have no fault" the_scripts_have_no_fault
it "every option of --help is completed" options_are_those_of_help
it "commands come first" commands_come_first
it "tenon params has actions, then files" params_has_actions
it "link has its options" link_has_choices
it "no file is offered where none is wanted" no_files_for_devices
it "tenon device has an action" a_device_is_reset
it "behind an @ come files, whatever stands in front" files_behind_an_at
it "words that bash left whole are replaced whole" whole_words
it "options and their values" options_and_values
it "tenon rpc has an action and options" actions_and_options_of_rpc
it "tenon hil has an action, options and suites" actions_and_options_of_hil
finish
