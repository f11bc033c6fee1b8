--- Talking to the server: what the other modules, and plug-ins that run an agent inside Neovim, are built on.

local M = {}

--- The clients of afterturn that run, the current buffer's first.
---@return vim.lsp.Client[]
function M.clients()
  local here = vim.lsp.get_clients({ name = 'afterturn', bufnr = 0 })
  return #here > 0 and here or vim.lsp.get_clients({ name = 'afterturn' })
end

--- Call a method of afterturn's protocol, such as `recap/onTurnEnd`.
---@param method string
---@param params table
---@param on_result? fun(result: any, client: vim.lsp.Client) called with the answer; an error is shown instead
---@param on_end? fun() called after that, whichever it was
---@return boolean sent false where no server runs, which is said
function M.request(method, params, on_result, on_end)
  local client = M.clients()[1]
  if not client then
    M.say('no server runs here; :checkhealth afterturn says why', vim.log.levels.WARN)
    return false
  end
  return M.request_of(client, method, params, on_result, on_end)
end

--- The same, of one client.
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param on_result? fun(result: any, client: vim.lsp.Client)
---@param on_end? fun()
---@return boolean sent
function M.request_of(client, method, params, on_result, on_end)
  return (
    client:request(method, params, function(problem, result)
      if problem then
        M.say(problem.message, vim.log.levels.ERROR)
      elseif on_result then
        on_result(result, client)
      end
      if on_end then
        on_end()
      end
    end)
  )
end

--- Run one of the server's commands for editors.
---@param name string without the `afterturn.` before it
---@param argument table
---@param on_result fun(result: any, client: vim.lsp.Client)
---@param on_end? fun()
---@return boolean sent
function M.execute(name, argument, on_result, on_end)
  return M.request('workspace/executeCommand', M.command(name, argument), on_result, on_end)
end

--- The params of a command. A current document with a file is told: its folder says which session is meant.
---@param name string
---@param argument table
---@return table
function M.command(name, argument)
  if vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) ~= '' then
    argument = vim.tbl_extend('keep', argument, { uri = vim.uri_from_bufnr(0) })
  end
  return { command = 'afterturn.' .. name, arguments = { next(argument) and argument or vim.empty_dict() } }
end

---@param text string
---@param level? integer
function M.say(text, level)
  vim.notify('afterturn: ' .. text, level or vim.log.levels.INFO)
end

return M
