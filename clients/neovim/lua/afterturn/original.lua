--- Originals: whole outputs, as buffers that nothing is written from.

local afterturn = require('afterturn')
local window = require('afterturn.window')

local M = {}

local TIMEOUT_MS = 10000

--- The text of an original, which is waited for.
---@param uri string
---@return string? text
---@return string? problem
local function content(uri)
  local client = afterturn.clients()[1]
  if not client then
    return nil, 'no server runs here'
  end
  local answer, problem = client:request_sync('workspace/textDocumentContent', { uri = uri }, TIMEOUT_MS)
  if not answer then
    return nil, problem or 'the server ends'
  end
  return answer.result and answer.result.text, answer.err and answer.err.message
end

--- Fill a buffer whose name is the URI of an original.
---@param buffer integer
---@param uri string
function M.read(buffer, uri)
  -- Nothing of an original may reach a file: it can hold secrets.
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undofile = false
  vim.bo[buffer].modifiable = true -- it is not where the buffer is read once more
  local text, why = content(uri)
  if text then
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, '\n'))
  else
    afterturn.say(('%s cannot be read: %s'):format(uri, why), vim.log.levels.ERROR)
  end
  vim.bo[buffer].modified = false
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].readonly = true
end

--- `:Afterturn ref t12`: the original in a floating window, in the session that the cursor's line belongs to.
---@param ref string
function M.show(ref)
  if not ref:match('^[tb][1-9]%d*$') then
    afterturn.say(ref .. ' is no ref, such as t12 or b3', vim.log.levels.WARN)
    return
  end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  afterturn.execute('showRef', { ref = ref, line = line }, function(result, client)
    if type(result.uri) ~= 'string' then
      afterturn.say(type(result.text) == 'string' and result.text or ref .. ' is not known here')
      return
    end
    afterturn.request_of(client, 'workspace/textDocumentContent', { uri = result.uri }, function(original)
      window.open({ title = ref, text = original.text, enter = true })
    end)
  end)
end

return M
