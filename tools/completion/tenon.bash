# SPDX-License-Identifier: MIT
# bash completion for tenon(1)

_tenon()
{
	local cur prev command options
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD-1]}
	command=${COMP_WORDS[1]}
	COMPREPLY=()

	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W 'run inspect bench params devices doctor help --version --help' -- "$cur"))
		return
	fi
	case $command in
	run) options='--function --import --device --input --output --expect --rtol --atol --top --repeat --timeout --graph --params --profile --trace --stream --json --help' ;;
	inspect) options='--functions --model --graph --params --json --dot --help' ;;
	bench) options='--input --graph --params --function --device --runs --warmup --per-op --json --help' ;;
	params) options='--align --output --json --help list extract align from-npy from-npz' ;;
	devices|doctor) options='--json --help' ;;
	help)
		COMPREPLY=($(compgen -W 'run inspect bench params devices doctor' -- "$cur"))
		return
		;;
	*) return ;;
	esac
	case $prev in
	--device)
		COMPREPLY=($(compgen -W 'cpu' -- "$cur"))
		return
		;;
	--input|--expect)
		case $cur in
		@*)
			compopt -o nospace 2>/dev/null
			COMPREPLY=($(compgen -P @ -f -- "${cur#@}"))
			;;
		*) COMPREPLY=($(compgen -W 'true false null @' -- "$cur")) ;;
		esac
		return
		;;
	--function|--output|--rtol|--atol|--repeat|--timeout|--runs|--warmup|--align) return ;;
	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W "$options" -- "$cur")) ;;
	*)
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	esac
}

complete -F _tenon tenon
