--- Originals: whole outputs, as buffers that nothing is written from.

local afterturn = require('afterturn')

local M = {}

local TIMEOUT_MS = 10000

--- Fill a buffer whose name is the URI of an original.
---@param buffer integer
---@param uri string
function M.read(buffer, uri)
  -- Nothing of an original may reach a file: it can hold secrets.
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undofile = false
  local client = afterturn.clients()[1]
  local answer = client and client:request_sync('workspace/textDocumentContent', { uri = uri }, TIMEOUT_MS)
  if answer and answer.result then
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(answer.result.text, '\n'))
  else
    local why = answer and answer.err and answer.err.message or 'no server runs here'
    afterturn.say(('%s cannot be read: %s'):format(uri, why), vim.log.levels.ERROR)
  end
  vim.bo[buffer].modified = false
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].readonly = true
end

--- `:Afterturn ref t12`: open an original.
---@param ref string
function M.show(ref)
  afterturn.execute('showRef', { ref = ref }, function(result)
    if type(result.uri) == 'string' then
      vim.cmd.split({ args = { vim.fn.fnameescape(result.uri) } })
    else
      afterturn.say(type(result.text) == 'string' and result.text or ref .. ' is not known here')
    end
  end)
end

return M
