-- :LepoRebase [ADDR] opens a conversation of lepo as one text, and :w makes the new line. Neovim 0.7 or newer.
vim.api.nvim_create_user_command('LepoRebase', function(args)
  local text = vim.fn.systemlist(vim.list_extend({ 'lepo', 'rebase', '--print' }, args.fargs))
  if vim.v.shell_error ~= 0 then return vim.notify(table.concat(text, '\n'), vim.log.levels.ERROR) end
  vim.cmd('enew')
  vim.api.nvim_buf_set_name(0, 'lepo://' .. vim.api.nvim_get_current_buf())
  vim.api.nvim_buf_set_lines(0, 0, -1, false, text)
  vim.bo.buftype, vim.bo.filetype, vim.bo.modified = 'acwrite', 'markdown', false
  vim.api.nvim_create_autocmd('BufWriteCmd', { buffer = 0, callback = function()
    local lines = vim.list_extend(vim.api.nvim_buf_get_lines(0, 0, -1, false), { '' })
    local output = vim.fn.system({ 'lepo', 'rebase', '--from', '-' }, lines)
    vim.bo.modified = vim.v.shell_error ~= 0
    vim.notify(output, vim.bo.modified and vim.log.levels.ERROR or vim.log.levels.INFO)
  end })
end, { nargs = '*' })
