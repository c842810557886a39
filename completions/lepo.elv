
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
            cand add 'Add one bubb from stdin and print its id'
            cand resolve 'Print the full id of an address'
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
        &'lepo;help'= {
            cand do 'Ask a model and keep the conversation'
            cand init 'Make the store `.lepo` here'
            cand ls 'List the tails, newest first'
            cand show 'Show a conversation, from its root to a bubb'
            cand add 'Add one bubb from stdin and print its id'
            cand resolve 'Print the full id of an address'
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
        &'lepo;help;add'= {
        }
        &'lepo;help;resolve'= {
        }
        &'lepo;help;help'= {
        }
    ]
    $completions[$command]
}
