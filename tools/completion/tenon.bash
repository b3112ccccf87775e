# SPDX-License-Identifier: MIT
# bash completion for tenon(1)

# Set words to the words up to the cursor, as typed. Bash splits "x=@a.npy" at the characters of
# COMP_WORDBREAKS and replaces only the last piece, so the part before it is cut from every reply.
_tenon_words()
{
	local line=$COMP_LINE at i piece

	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		piece=${COMP_WORDS[i]-}
		at=${line#"${line%%[![:space:]]*}"}
		if [ "$i" -gt 0 ] && [ -n "$line" ] && [ -n "$piece" ] && [ "$at" = "$line" ]; then
			words[${#words[@]}-1]+=$piece
		else
			words+=("$piece")
		fi
		line=${at#"$piece"}
	done
	word=${words[${#words[@]}-1]}
	case $piece in
	*[!=@:]*) cut=${word%"$piece"} ;;
	*) cut=$word ;;
	esac
}

# Complete with the given lines; add the part of the word that precedes them.
_tenon_offer()
{
	local line

	while read -r line; do
		line=$head$1$line
		COMPREPLY+=("${line#"$cut"}")
	done
}

_tenon_reply()
{
	_tenon_offer '' < <(compgen -W "$1" -- "$word")
}

_tenon_files()
{
	compopt -o filenames 2>/dev/null
	_tenon_offer "$1" < <(compgen -f -- "$2")
}

_tenon_spec()
{
	case $word in
	*@*) _tenon_files "${word%%@*}@" "${word#*@}" ;;
	*=) _tenon_offer "$word" <<< @ ;;
	*=*) ;;
	*) _tenon_reply 'true false null @' ;;
	esac
	case ${COMPREPLY[*]} in
	*@) compopt -o nospace 2>/dev/null ;;
	esac
}

# Complete the value of an option; fails if the option before the cursor takes none.
_tenon_value()
{
	case $1 in
	--device) _tenon_reply 'cpu' ;;
	--input|--expect) _tenon_spec ;;
	--import) if [ "$command" != link ]; then _tenon_files '' "$word"; fi ;;
	--graph|--params|--trace|-o|--include|-I|--folder|--allow-read|--allow-write) _tenon_files '' "$word" ;;
	--abi) _tenon_reply 'modern legacy' ;;
	--allow) _tenon_reply 'weak unknown' ;;
	--output) if [ "$command" != run ]; then _tenon_files '' "$word"; fi ;;
	--function|--rtol|--atol|--repeat|--timeout|--top|--runs|--warmup|--align|--target-key) ;;
	--listen|--key|--sessions|--session-timeout|--request-timeout|--folder-size|--memory|--packet-size) ;;
	*) return 1 ;;
	esac
}

_tenon_verb_is_there()
{
	local i

	for ((i = 2; i < ${#words[@]} - 1; i++)); do
		case ${words[i]} in
		list|extract|align|from-npy|from-npz) return 0 ;;
		esac
	done
	return 1
}

_tenon()
{
	local words word cut head='' command option options

	COMPREPLY=()
	_tenon_words
	command=${words[1]-}
	if [ "${#words[@]}" -le 2 ]; then
		_tenon_reply 'run inspect bench params link unpack verify devices device doctor rpc help --version --help'
		return
	fi
	case $command in
	run) options='--function --import --device --input --output --expect --rtol --atol --top --repeat --timeout --graph --params --profile --trace --stream --json --help' ;;
	inspect) options='--functions --model --function --graph --params --json --dot --help' ;;
	bench) options='--input --graph --params --function --device --runs --warmup --per-op --json --help' ;;
	params) options='--align --output --json --help' ;;
	rpc)
		if [ "${#words[@]}" -eq 3 ]; then
			_tenon_reply 'serve --help'
			return
		fi
		options='--listen --key --sessions --session-timeout --request-timeout --folder --folder-size --memory --packet-size --no-native-code --allow-read --allow-write --trust-network --no-sandbox --help'
		;;
	link) options='--output --abi --target-key --import --include --allow --help' ;;
	unpack) options='--help' ;;
	verify) options='--json --help' ;;
	devices|doctor)
		if [ "${words[${#words[@]}-2]}" != --timeout ]; then
			_tenon_reply '--json --timeout --help'
		fi
		return
		;;
	device)
		case ${#words[@]} in
		3) _tenon_reply 'reset --json --help' ;;
		*) _tenon_reply 'mortise://sim mortise://shm/ --json --help' ;;
		esac
		return
		;;
	help)
		if [ "${#words[@]}" -eq 3 ]; then
			_tenon_reply 'run inspect bench params link unpack verify devices device doctor rpc'
		fi
		return
		;;
	*) return ;;
	esac
	option=${words[${#words[@]}-2]}
	case $word in
	--*=*)
		option=${word%%=*}
		head=$option=
		word=${word#*=}
		;;
	esac
	if _tenon_value "$option" || [ -n "$head" ]; then
		return
	fi
	case $command,$word in
	*,-*) _tenon_reply "$options" ;;
	params,*)
		if _tenon_verb_is_there; then
			_tenon_files '' "$word"
		else
			_tenon_reply 'list extract align from-npy from-npz'
		fi
		;;
	rpc,*) ;;
	*) _tenon_files '' "$word" ;;
	esac
}

complete -F _tenon tenon
