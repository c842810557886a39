//! The end of the help and the man page of `lepo do`: examples, and the content of its documents.

pub const AFTER: &str = "\
Examples:
  lepo do 'what does this repository do?'
  lepo do --run 'git log --oneline -5' 'what changed?'
  git diff | lepo do --file review.md --context src/main.rs
  lepo do --context src --context review.md 'where is the parser?'
  lepo do -n --system 'Answer in Korean.' 'what is a monad?'
  lepo do --attach chart.png 'what is wrong here?'
  lepo do --schema person.json --file cv.txt | jq .name
  lepo do --tail main --retry -m other
  lepo do --list-tools
  lepo do --context mcp:docs/guide://start 'how do I begin?'
  lepo do --prompt docs/explain --arg topic=links
  lepo do -n --recorded=only 'the same question'     # from the store, or exit 3
  lepo do --compact --keep 1 'what matters are the figures'
  lepo do --replay main -m gpt -m qwen      # the same questions for other models
  lepo do --parallel -m gpt -m qwen 'which is simpler?'
  lepo do --debate --orchestrator claude --participants gpt,qwen 'which is simpler?'
  lepo do --debate --tail @            # continue that debate

--json prints a document, on failure too:
  conv     the ids of the conversation so far, oldest first
  user     the id of the question
  answer   null, or {id, text, model, usage: {input, output}, ms}: tokens as counted by the
           provider or null, and milliseconds from the request to the end; with --schema
           also value, the parsed JSON of text; cut off at a limit also cut, as max_tokens
  tools    [{bubb, kind, request, result, exit}]: the id of the request and its content, the
           id of its result or null, the exit code or null; kind is command, mcp, run for
           --run, or agent for what an agent did by itself
  pending  the id of a request that is waiting for consent, or null
  error    null, or {kind, message, hint}; kind is nothing, usage, remote, pending, store or
           interrupted, one for each exit code; or overflow (too long for the model), budget, or
           not-recorded (--recorded=only found no answer)
  recorded  the id of a recorded answer; absent otherwise

With --replay, it is an array, one element per line, of {name, tail, turns}, where turns are such
documents.
With --parallel, it is an array of such documents, one per participant, each with its name (null
if none was asked). With --debate, the document also has
  speeches [{name, id, text}], in order; the answer is the conclusion
  rounds   the number of rounds begun

--events prints one object per line, each with the field event:
  bubb      a message was written: id, kind, hidden, prev, text (null for an answer, whose
            text came in pieces before)
  waiting   a model was asked and has not answered yet
  thinking  text: a piece of the model's thinking
  web       tool, about: the provider's server ran a search or fetched an address
  citation  title, url: the page cited for the text just before
  text      text: a piece of the answer
  note      text: a note about the run
  announce  a request that runs without asking: request, and dir, sandbox of a command or
            description, changed of an MCP tool
  ask       a request that needs consent: the same fields, and unagreed, the words of others
            that a yes agrees to (the repository's instructions, messages that you did not
            write); asks on the terminal, or without one ends the turn as pending
  running   command: a command of --run starts
  stderr    text: output of the running command
  calling   request: an MCP tool is called
  progress  text: the progress of the call
  form      server: this MCP server asks the user to fill in a form, on the terminal
  end       the last line, on failure too, with the fields of --json
If several models are asked, events of a reply have the field name, and there are
  failed     name, error: one model failed; the others continue
  floor      round, names: these are asked whether they want the floor
  bid        name, bid: REQUEST or PASS
  judging    name: the orchestrator is asked who speaks next
  narration  text: the orchestrator's words to the reader
  chosen     name: the next speaker
  end        with --parallel replies and error; with --debate the fields of --json
More events may be added; readers must ignore those that they do not know.";
