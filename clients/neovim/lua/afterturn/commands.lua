--- `:Afterturn recap|traces|status|ref`.

local afterturn = require('afterturn')

local M = {}

---@type table<string, fun(rest: string): nil>
local commands = {
  recap = function()
    require('afterturn.recap').now()
  end,
  status = function()
    require('afterturn.report').status()
  end,
  traces = function(rest)
    require('afterturn.report').traces(rest ~= '' and rest or vim.fn.expand('<cword>'))
  end,
  ref = function(rest)
    require('afterturn.original').show(rest ~= '' and rest or vim.fn.expand('<cword>'))
  end,
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
