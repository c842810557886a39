
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
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add one bubb from stdin and print its id')
            [CompletionResult]::new('resolve', 'resolve', [CompletionResultType]::ParameterValue, 'Print the full id of an address')
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
        'lepo;help' {
            [CompletionResult]::new('do', 'do', [CompletionResultType]::ParameterValue, 'Ask a model and keep the conversation')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Make the store `.lepo` here')
            [CompletionResult]::new('ls', 'ls', [CompletionResultType]::ParameterValue, 'List the tails, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a conversation, from its root to a bubb')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add one bubb from stdin and print its id')
            [CompletionResult]::new('resolve', 'resolve', [CompletionResultType]::ParameterValue, 'Print the full id of an address')
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
        'lepo;help;add' {
            break
        }
        'lepo;help;resolve' {
            break
        }
        'lepo;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
