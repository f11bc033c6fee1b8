--- `:Afterturn recap|traces|status|ref`.

local afterturn = require('afterturn')

local M = {}

--- A command that takes words, or the one under the cursor.
---@param run fun(words: string)
---@return fun(rest: string)
local function with_words(run)
  return function(rest)
    local words = rest ~= '' and rest or vim.fn.expand('<cword>')
    if words == '' then
      afterturn.say('there is no word under the cursor', vim.log.levels.WARN)
    else
      run(words)
    end
  end
end

---@type table<string, fun(rest: string): nil>
local commands = {
  recap = function()
    require('afterturn.recap').now()
  end,
  status = function()
    require('afterturn.report').status()
  end,
  traces = with_words(function(words)
    require('afterturn.report').traces(words)
  end),
  ref = with_words(function(ref)
    require('afterturn.original').show(ref)
  end),
}

---@return string[]
local function names()
  local found = vim.tbl_keys(commands)
  table.sort(found)
  return found
end

---@param words string[]
function M.run(words)
  local command = commands[words[1]]
  if not command then
    afterturn.say('use one of ' .. table.concat(names(), ', '), vim.log.levels.ERROR)
    return
  end
  command(table.concat(words, ' ', 2))
end

--- Completes the first word.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  if not line:match('^%s*%S+%s+%S*$') then
    return {}
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names())
end

return M
