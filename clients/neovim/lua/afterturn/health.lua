--- `:checkhealth afterturn`.

local M = {}

local VERSION_TIMEOUT_MS = 10000

--- Whether the server's program is there, and which version of it.
---@param command string
local function check_program(command)
  if vim.fn.executable(command) == 0 then
    vim.health.error(('`%s` is not found'):format(command), {
      'install it: `pipx install afterturn`, or `uv tool install afterturn`',
      'or name it: set $AFTERTURN_PATH, or `cmd` with `vim.lsp.config("afterturn", { cmd = { PATH, "--stdio" } })`',
    })
    return
  end
  local done = vim.system({ command, '--version' }, { text = true, timeout = VERSION_TIMEOUT_MS }):wait()
  if done.code == 0 then
    vim.health.ok(('`%s` is %s'):format(vim.fn.exepath(command), vim.trim(done.stdout)))
  else
    vim.health.error(('`%s --version` fails: %s'):format(command, vim.trim(done.stderr or '')))
  end
end

--- Whether it runs, and what it says of itself.
---@param client vim.lsp.Client
local function check_client(client)
  vim.health.ok(('it runs for %s'):format(client.root_dir or 'no folder'))
  local answer = client:request_sync('afterturn/status', vim.empty_dict(), VERSION_TIMEOUT_MS)
  local status = answer and answer.result
  if not status then
    vim.health.error('it does not answer')
    return
  end
  if status.store.problem then
    vim.health.error('the store: ' .. status.store.problem)
  else
    vim.health.ok('the store is ' .. tostring(status.store.path))
  end
  if #status.destinations > 0 then
    vim.health.info('data may go to ' .. table.concat(status.destinations, ', '))
  else
    vim.health.ok('nothing leaves this machine')
  end
  for _, problem in ipairs(status.settingsProblems) do
    vim.health.warn(problem.problem)
  end
end

function M.check()
  vim.health.start('afterturn')
  if vim.fn.has('nvim-0.11') == 0 then
    vim.health.error('Neovim 0.11 or newer is needed')
    return
  end
  local config = vim.lsp.config.afterturn
  if type(config.cmd) == 'table' then
    check_program(config.cmd[1])
  end
  if not vim.lsp.is_enabled('afterturn') then
    vim.health.warn('it is not enabled', { "add `vim.lsp.enable('afterturn')` to your configuration" })
  end
  local clients = vim.lsp.get_clients({ name = 'afterturn' })
  if #clients == 0 then
    vim.health.info('no server runs: it starts with the first file of type ' .. table.concat(config.filetypes, ', '))
  end
  for _, client in ipairs(clients) do
    check_client(client)
  end
  if vim.env.TMUX then
    vim.health.info('inside tmux, focus is seen only with `set -g focus-events on`')
  end
end

return M
