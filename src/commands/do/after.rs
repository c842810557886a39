//! The end of the help and of the man page of `lepo do`: examples, and what its documents hold.

/// The end of the help and of the man page.
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
  lepo do --replay main -m gpt -m qwen      # the same questions, of others
  lepo do --parallel -m gpt -m qwen 'which is simpler?'
  lepo do --debate --orchestrator claude --participants gpt,qwen 'which is simpler?'
  lepo do --debate --tail @            # the same debate, on

The document of --json is printed on failure too:
  conv     the ids of the conversation, oldest first, as far as it got
  user     the id of the question
  answer   null, or {id, text, model, usage: {input, output}, ms}: tokens as the provider
           counted them or null, milliseconds from the request to the end; with --schema
           besides value, the JSON that text is
  tools    [{bubb, kind, request, result, exit}]: the request's bubb and what it says, the
           bubb of its result or null, the exit code or null; kind is command, mcp, or run for
           --run
  pending  the id of a request that waits for consent, or null
  error    null, or {kind, message, hint}; kind is nothing, usage, remote, pending, store or
           interrupted, one for each exit code, overflow: too long for the model, budget, or
           not-recorded: --recorded=only has no answer
  recorded  only where the answer is recorded: its id

With --replay it is an array, one a line, of {name, tail, turns}: the turns are such documents.
With --parallel it is an array of such documents, one a participant, each with its name (null
where none was asked); with --debate it has besides
  speeches [{name, id, text}], in order; the answer is the conclusion
  rounds   how many were begun

--events prints an object a line, each with the field event:
  bubb      a bubb was written: id, kind, hidden, prev, text (null for an answer, whose text
            came in pieces before)
  waiting   a model is asked; nothing has come yet
  thinking  text: a piece of the model's thinking
  web       tool, about: the provider's server searched for words, or fetched an address
  citation  title, url: the page that the text just before is taken from
  text      text: a piece of the answer
  note      text: something about the work
  announce  a request that is carried out unasked: request, and dir, sandbox of a command or
            description, changed of an MCP tool
  ask       one that needs consent, the same, and unagreed: instructions of the repository
            that a yes agrees to; the terminal is asked, or without one the turn ends, pending
  running   command: one of --run begins
  stderr    text: what the running command says
  calling   request: an MCP tool is called
  progress  text: how far the call has come
  form      server: this MCP server asks for a form, on the terminal
  end       the last line, on failure too, with the fields of --json
Where many are asked, what is in one's reply has its name, and there are
  failed     name, error: one failed; the others go on
  floor      round, names: these are asked whether they want the floor
  bid        name, bid: REQUEST or PASS
  judging    name: the orchestrator is asked who speaks
  narration  text: what it says to the reader
  chosen     name: who speaks
  end        with --parallel replies and error; with --debate the fields of --json
Others may be added; a reader passes over what it does not know.";
