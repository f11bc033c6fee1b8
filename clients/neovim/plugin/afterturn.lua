if vim.g.loaded_afterturn then
  return
end
vim.g.loaded_afterturn = true

vim.api.nvim_create_user_command('Afterturn', function(command)
  require('afterturn.commands').run(command.fargs)
end, {
  nargs = '+',
  desc = 'Recaps, traces, refs and the state of afterturn',
  complete = function(lead, line)
    return require('afterturn.commands').complete(lead, line)
  end,
})

local group = vim.api.nvim_create_augroup('afterturn', {})

vim.api.nvim_create_autocmd({ 'FocusLost', 'FocusGained' }, {
  group = group,
  desc = 'Tell afterturn whether somebody looks',
  callback = function(event)
    require('afterturn.recap').focus(event.event == 'FocusGained')
  end,
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'afterturn://*',
  desc = 'Read an original from afterturn',
  callback = function(event)
    require('afterturn.original').read(event.buf, event.match)
  end,
})
