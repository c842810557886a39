-- lepo in Neovim: ask, and read the answer as it comes. An example of `lepo do --events`: a JSON object a
-- line, each with the field `event`; see lepo-do(1). Events that are not known here are passed over.

local job, rest

local function buffer()
  local name = "lepo://answer"
  local found = vim.fn.bufnr(name)
  if found ~= -1 then return found end
  local new = vim.api.nvim_create_buf(true, true)
  vim.api.nvim_buf_set_name(new, name)
  vim.api.nvim_buf_set_option(new, "filetype", "markdown")
  return new
end

local function open(buf)
  if vim.fn.bufwinid(buf) == -1 then
    vim.cmd("botright vsplit")
    vim.api.nvim_win_set_buf(0, buf)
    vim.cmd("setlocal wrap linebreak | wincmd p")
  end
end

-- Puts text behind the last character of the buffer, and keeps the end in view.
local function append(buf, text)
  local last = vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1] or ""
  vim.api.nvim_buf_set_text(buf, last - 1, #line, last - 1, #line, vim.split(text, "\n"))
  local win = vim.fn.bufwinid(buf)
  if win ~= -1 then
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
end

local handlers = {
  text = function(buf, event) append(buf, event.text) end,
  note = function(buf, event) append(buf, "\n> " .. event.text .. "\n") end,
  stderr = function(buf, event) append(buf, event.text) end,
  ["end"] = function(buf, event)
    if type(event.pending) == "string" then
      append(buf, "\n> a command waits for your yes:\n> lepo do --approve " .. event.pending
        .. "\n> lepo do --deny " .. event.pending)
    elseif type(event.error) == "table" then
      append(buf, "\n> " .. event.error.message)
      if type(event.error.hint) == "string" then append(buf, "\n> " .. event.error.hint) end
    end
    append(buf, "\n\n")
  end,
}

-- A chunk of output may end within a line: the piece is kept until the rest comes.
local function read(buf, chunks)
  chunks[1] = rest .. chunks[1]
  rest = table.remove(chunks)
  for _, line in ipairs(chunks) do
    local ok, event = pcall(vim.fn.json_decode, line)
    local handle = ok and type(event) == "table" and handlers[event.event]
    if handle then handle(buf, event) end
  end
end

local function ask(opts)
  if job then return vim.notify("lepo is still answering; :LepoStop stops it") end
  local command = { "lepo", "do", "--events" }
  if opts.bang then table.insert(command, "--new") end
  vim.list_extend(command, { "--", opts.args })
  local lines = opts.range > 0 and vim.api.nvim_buf_get_lines(0, opts.line1 - 1, opts.line2, false) or {}
  local buf = buffer()
  open(buf)
  append(buf, "# " .. opts.args .. "\n\n")
  rest = ""
  job = vim.fn.jobstart(command, {
    on_stdout = function(_, chunks) read(buf, chunks) end,
    on_exit = function() job = nil end,
  })
  vim.fn.chansend(job, lines)
  vim.fn.chanclose(job, "stdin")
end

vim.api.nvim_create_user_command("Lepo", ask, { nargs = "+", bang = true, range = true })
vim.api.nvim_create_user_command("LepoStop", function()
  if job then vim.fn.jobstop(job) end
end, {})
