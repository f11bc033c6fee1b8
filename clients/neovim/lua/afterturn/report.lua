--- What the server says of traces and of itself, as text in a floating window.

local afterturn = require('afterturn')
local window = require('afterturn.window')

local M = {}

local MOST_HITS = 20
local EXCERPT_CHARS = 200

---@param text string
---@return string
local function excerpt(text)
  local line = vim.trim((text:gsub('%s+', ' ')))
  return vim.fn.strcharpart(line, 0, EXCERPT_CHARS)
end

--- The lines of one hit: when and what was asked, what was done, what was learned.
---@param hit table
---@return string[]
local function hit_lines(hit)
  local trace = hit.trace
  local lines =
    { ('## %s  %s'):format(os.date('%Y-%m-%d %H:%M', math.floor(trace.ts / 1000)), excerpt(trace.userText)) }
  if trace.agentText ~= '' then
    table.insert(lines, excerpt(trace.agentText))
  end
  if type(trace.reflection.text) == 'string' then
    table.insert(lines, '> ' .. excerpt(trace.reflection.text))
  end
  table.insert(lines, '')
  return lines
end

--- `:Afterturn traces QUERY`: what was captured before in this project.
---@param query string
function M.traces(query)
  afterturn.execute('searchTraces', { query = query, limit = MOST_HITS }, function(result)
    if #result.hits == 0 then
      afterturn.say('no traces for ' .. query)
      return
    end
    local lines = {}
    for _, hit in ipairs(result.hits) do
      vim.list_extend(lines, hit_lines(hit))
    end
    local text = table.concat(lines, '\n')
    window.open({ title = 'traces: ' .. query, text = vim.trim(text), filetype = 'markdown', enter = true })
  end)
end

--- `:Afterturn status`: what runs, on which session, and where data may go.
function M.status()
  afterturn.execute('status', {}, function(status)
    local destinations = #status.destinations > 0 and table.concat(status.destinations, ', ') or 'nowhere'
    local session = status.sessionId == vim.NIL and 'none known' or status.sessionId
    local lines = {
      ('afterturn %s, pid %d'):format(status.version, status.process.pid),
      'session: ' .. session,
      ('store: %s'):format(status.store.path or status.store.backend),
      'data may go to: ' .. destinations,
    }
    for _, problem in ipairs(status.settingsProblems) do
      table.insert(lines, 'setting: ' .. problem.problem)
    end
    window.open({ title = 'afterturn', text = table.concat(lines, '\n'), filetype = 'text', enter = true })
  end)
end

return M
