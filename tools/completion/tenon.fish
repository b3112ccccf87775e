# SPDX-License-Identifier: MIT
# fish completion for tenon(1)

set -l commands run inspect bench params link unpack verify devices device doctor rpc help
set -l none "not __fish_seen_subcommand_from $commands"

complete -c tenon -f
complete -c tenon -n $none -a run -d 'Load a module and call a function of it'
complete -c tenon -n $none -a inspect -d 'Show what is in a module'
complete -c tenon -n $none -a bench -d 'Measure how long a model takes'
complete -c tenon -n $none -a params -d 'List, extract, align or make files of parameters'
complete -c tenon -n $none -a link -d 'Make a module of host code and programs of devices'
complete -c tenon -n $none -a unpack -d 'Take a module apart'
complete -c tenon -n $none -a verify -d 'Check all of a module'
complete -c tenon -n $none -a devices -d 'List the devices that functions can run on'
complete -c tenon -n $none -a device -d 'Reset a device'
complete -c tenon -n $none -a doctor -d 'Look for what could keep modules from running'
complete -c tenon -n $none -a rpc -d 'Serve clients of TVM RPC'
complete -c tenon -n $none -a help -d 'Explain a command'
complete -c tenon -n $none -l version -d 'Version and configuration'

complete -c tenon -n '__fish_seen_subcommand_from run inspect bench params link unpack verify' -F
complete -c tenon -n '__fish_seen_subcommand_from run inspect bench params verify devices device doctor' -l json -d 'Print JSON'
complete -c tenon -n '__fish_seen_subcommand_from run inspect bench params link unpack verify devices device doctor rpc' -l help -d 'Explain'
complete -c tenon -n '__fish_seen_subcommand_from inspect' -l functions -d 'Name the functions'
complete -c tenon -n '__fish_seen_subcommand_from inspect' -l dot -d 'Print a graph'
complete -c tenon -n '__fish_seen_subcommand_from help' -a 'run inspect bench params link unpack verify devices device doctor rpc'
complete -c tenon -n '__fish_seen_subcommand_from device' -a reset -d 'End what the device runs, and open it anew'

complete -c tenon -n '__fish_seen_subcommand_from run' -l function -x -d 'The function to call'
complete -c tenon -n '__fish_seen_subcommand_from run' -l import -r -d 'A module to import'
complete -c tenon -n '__fish_seen_subcommand_from run bench' -l device -x -a cpu -d 'Where to run'
complete -c tenon -n '__fish_seen_subcommand_from run' -l input -r -d 'The next argument'
complete -c tenon -n '__fish_seen_subcommand_from run' -l output -r -d 'The next argument, to be filled'
complete -c tenon -n '__fish_seen_subcommand_from run' -l expect -r -d 'What the next output must be'
complete -c tenon -n '__fish_seen_subcommand_from run' -l rtol -x -d 'Relative tolerance'
complete -c tenon -n '__fish_seen_subcommand_from run' -l atol -x -d 'Absolute tolerance'
complete -c tenon -n '__fish_seen_subcommand_from run' -l repeat -x -d 'Call so many times'
complete -c tenon -n '__fish_seen_subcommand_from run' -l timeout -x -d 'Give up after so many seconds'
complete -c tenon -n '__fish_seen_subcommand_from devices doctor' -l timeout -x -d 'Give up on a driver after so many seconds'
complete -c tenon -n '__fish_seen_subcommand_from run inspect bench' -l graph -r -d "The model's graph.json"
complete -c tenon -n '__fish_seen_subcommand_from run inspect bench' -l params -r -d "The model's parameters"
complete -c tenon -n '__fish_seen_subcommand_from run' -l top -x -d 'List the largest elements of each output'
complete -c tenon -n '__fish_seen_subcommand_from run' -l profile -d 'Print how long each operator took'
complete -c tenon -n '__fish_seen_subcommand_from run' -l trace -r -d 'Write a trace for Perfetto'
complete -c tenon -n '__fish_seen_subcommand_from run' -l stream -d 'Run on frames from standard input'
complete -c tenon -n '__fish_seen_subcommand_from inspect' -l model -d 'List operators and parameters'
complete -c tenon -n '__fish_seen_subcommand_from inspect bench' -l function -x -d 'Which model'
complete -c tenon -n '__fish_seen_subcommand_from bench' -l input -r -d 'An input'
complete -c tenon -n '__fish_seen_subcommand_from bench' -l runs -x -d 'How often to run'
complete -c tenon -n '__fish_seen_subcommand_from bench' -l warmup -x -d 'Runs before that do not count'
complete -c tenon -n '__fish_seen_subcommand_from bench' -l per-op -d 'Times of each operator'
complete -c tenon -n '__fish_seen_subcommand_from params' -a 'list extract align from-npy from-npz'
complete -c tenon -n '__fish_seen_subcommand_from params' -s o -l output -r -d 'The file or folder to write to'
complete -c tenon -n '__fish_seen_subcommand_from params' -l align -x -d 'Alignment in bytes'

complete -c tenon -n '__fish_seen_subcommand_from link' -s o -l output -r -d 'The module to write'
complete -c tenon -n '__fish_seen_subcommand_from link' -l abi -x -a 'modern legacy' -d 'Versions of TVM'
complete -c tenon -n '__fish_seen_subcommand_from link' -l target-key -x -d 'The device of a key'
complete -c tenon -n '__fish_seen_subcommand_from link' -l import -x -d 'A module that imports another'
complete -c tenon -n '__fish_seen_subcommand_from link' -s I -l include -r -d 'Headers of launchers'
complete -c tenon -n '__fish_seen_subcommand_from link' -l allow -x -a 'weak unknown' -d 'Accept'

complete -c tenon -n '__fish_seen_subcommand_from rpc' -a serve
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l listen -x -d 'Address to listen on'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l key -x -d 'Key of the clients'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l sessions -x -d 'Sessions at a time'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l session-timeout -x -d 'Longest session in seconds'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l request-timeout -x -d 'Longest request in seconds'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l folder -r -d 'Folder for files'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l folder-size -x -d 'What a session may upload in MiB'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l memory -x -d 'Memory of a session in MiB'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l packet-size -x -d 'Largest request in MiB'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l no-native-code -d 'Load device programs only'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l allow-read -r -d 'Let sessions read a path'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l allow-write -r -d 'Let sessions write a path'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l trust-network -d 'Accept addresses that other machines can reach'
complete -c tenon -n '__fish_seen_subcommand_from rpc' -l no-sandbox -d 'Let uploaded code do all that this user can'
