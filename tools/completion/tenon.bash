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
	--device|--compare) _tenon_reply 'cpu' ;;
	--input|--expect) _tenon_spec ;;
	--import) if [ "$command" != link ]; then _tenon_files '' "$word"; fi ;;
	--graph|--params|--labels|--trace|--record|--module|-o|--include|-I|--folder|--allow-read|--allow-write|--allow-socket|--weights|--secret-file|--tls-certificate|--tls-key) _tenon_files '' "$word" ;;
	--format) _tenon_reply 'so mlf system-lib' ;;
	--model) [ "$command" = link ] || return 1 ;;
	--abi) _tenon_reply 'modern legacy' ;;
	--allow) _tenon_reply 'weak unknown' ;;
	--output) if [ "$command" != run ]; then _tenon_files '' "$word"; fi ;;
	--function|--record-limit|--rtol|--atol|--repeat|--timeout|--top|--remote|--count|--warmup|--align|--target-key|--prefix|--show) ;;
	--key) case $command in sign|verify) _tenon_files '' "$word" ;; esac ;;
	--signature) _tenon_files '' "$word" ;;
	--listen|--sessions|--session-timeout|--request-timeout|--folder-size|--cache-size|--memory|--processes|--packet-size|--tracker|--advertise|--health-check|--proxy|--allow-user|--allow-group|--wait-timeout|--check-every|--check-timeout|--connections) ;;
	--target|--out) _tenon_files '' "$word" ;;
	--seed|--deadline) ;;
	--message|--system|--tokens|--max-tokens|--temperature|--top-p|--*-penalty|--seed|--stop|--cache-tokens) ;;
	*) return 1 ;;
	esac
}

_tenon_verb_is_there()
{
	local i

	for ((i = 2; i < ${#words[@]} - 1; i++)); do
		case ${words[i]} in
		list|extract|align|convert|from-npy|from-npz) return 0 ;;
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
		_tenon_reply 'run chat inspect bench report params partition link unpack verify sign replay devices device warm doctor rpc hil help --version --help'
		return
	fi
	case $command in
	run) options='--function --import --target-key --device --remote --input --output --expect --rtol --atol --top --labels --repeat --timeout --graph --params --rename --params-partial --dequantize --profile --trace --record --record-limit --stream --verify --json --help' ;;
	chat) options='--bytes --cache-tokens --device --frequency-penalty --ignore-end --json --max-tokens --message --presence-penalty --quiet --raw --repetition-penalty --seed --stop --system --temperature --tokens --top-p --trace --weights --help' ;;
	inspect) options='--functions --model --function --graph --params --rename --params-partial --dequantize --show --disassemble --json --dot --svg --help' ;;
	bench) options='--input --graph --params --rename --params-partial --dequantize --function --device --remote --repeat --warmup --per-op --json --svg --help' ;;
	report) options='--output --run --device --compare --baseline --input --graph --params --rename --params-partial --dequantize --function --repeat --warmup --help' ;;
	params) options='--align --output --rename --dequantize --json --help' ;;
	rpc)
		if [ "${#words[@]}" -eq 3 ]; then
			_tenon_reply 'serve tracker proxy ping functions upload call --help'
			return
		fi
		case ${words[2]} in
		tracker)
			options='--listen --wait-timeout --check-every --check-timeout --connections --trust-network --help'
			if [ "${#words[@]}" -eq 4 ]; then
				_tenon_reply "status $options"
				return
			fi
			[ "${words[3]}" != status ] || options='--json --timeout --help'
			;;
		ping|functions|upload|call) options='--count --timeout --json --help' ;;
		proxy) options='--listen --tracker --advertise --wait-timeout --connections --trust-network --help' ;;
		*) options='--listen --stdio --key --tracker --advertise --health-check --proxy --sessions --session-timeout --request-timeout --folder --folder-size --cache-size --memory --processes --packet-size --no-native-code --allow-read --allow-write --allow-socket --allow-user --allow-group --secret-file --tls-certificate --tls-key --trust-network --sandbox-learn --no-sandbox --help' ;;
		esac
		;;
	hil)
		if [ "${#words[@]}" -eq 3 ]; then
			_tenon_reply 'run --help'
			return
		fi
		options='--target --out --seed --deadline --json --verbose --help'
		;;
	link) options='--output --abi --target-key --import --graph --params --model --format --prefix --include --allow --help' ;;
	partition) options='--output --for --params --json --help' ;;
	unpack) options='--help' ;;
	verify) options='--kind --region --target --kernel --json --key --signature --help' ;;
	sign) options='--key --output --help' ;;
	replay) options='--device --compare --module --rtol --atol --timeout --json --help' ;;
	warm) options='--device --jobs --json --help' ;;
	devices|doctor)
		case ${words[${#words[@]}-2]} in
		--timeout|--remote) ;;
		*) _tenon_reply "--json --timeout --help $([ "$command" = doctor ] && echo --board --cdi --root --verbose || echo --remote)" ;;
		esac
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
			_tenon_reply 'run chat inspect bench report params partition link unpack verify sign replay devices device warm doctor rpc hil spec json exit-status environment files examples'
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
			_tenon_reply 'list extract align convert from-npy from-npz'
		fi
		;;
	rpc,*) ;;
	*) _tenon_files '' "$word" ;;
	esac
}

complete -F _tenon tenon
