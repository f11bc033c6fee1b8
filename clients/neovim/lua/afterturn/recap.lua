--- Recaps: telling of focus, and showing what comes of it.

local afterturn = require('afterturn')
local context = require('afterturn.context')
local window = require('afterturn.window')

local M = {}

---@class afterturn.Shown
---@field recap table
---@field window integer
---@type afterturn.Shown?
local shown

--- When the recap was made that a person closed last, epoch ms: an answer that is under way may bring it once more,
--- under another id.
---@type integer?
local closed

--- Focus that is still to be told, oldest first, by client: one is told after the other.
---@type table<integer, { focused: boolean, at: integer }[]>
local waiting = {}

--- When focus was lost, epoch ms; nil while it is here.
---@type integer?
local away_since

---@return integer epoch ms
local function now_ms()
  local seconds, microseconds = vim.uv.gettimeofday()
  return seconds * 1000 + math.floor(microseconds / 1000)
end

--- Show a recap in a floating window, in place of the one before.
---@param client_id integer
---@param recap table
function M.ready(client_id, recap)
  local before = shown
  shown = nil
  if before then
    window.close(before.window)
  end
  local opened
  opened = window.open({
    title = 'recap',
    text = recap.text,
    on_close = function()
      if not (shown and shown.window == opened) then
        return
      end
      shown = nil
      closed = recap.createdAt
      local client = vim.lsp.get_client_by_id(client_id)
      if client then
        client:request('recap/dismiss', { sessionId = recap.sessionId }, function() end)
      end
    end,
  })
  shown = { recap = recap, window = opened }
end

--- Take a recap off the screen.
---@param cleared table
function M.cleared(cleared)
  if shown and shown.recap.recapId == cleared.recapId then
    local before = shown
    shown = nil
    window.close(before.window)
  end
end

--- A harness beside Neovim may have drafted one while nobody looked.
---@param client vim.lsp.Client
---@param session_id string
---@param since integer epoch ms
local function show_kept(client, session_id, since)
  client:request('recap/get', { sessionId = session_id }, function(_, result)
    local recap = result and result.recap
    if type(recap) == 'table' and recap.createdAt >= since and recap.createdAt ~= closed and not shown then
      M.ready(client.id, recap)
    end
  end)
end

--- Tell one client of the oldest change that it does not know yet, then of the next.
---@param client vim.lsp.Client
local function tell_next(client)
  local change = waiting[client.id][1]
  local function done()
    table.remove(waiting[client.id], 1)
    if #waiting[client.id] > 0 and not client:is_stopped() then
      tell_next(client)
    end
  end
  local sent = client:request('workspace/executeCommand', afterturn.command('status', {}), function(_, status)
    local session_id = status and status.sessionId
    if type(session_id) == 'string' then
      local params = { sessionId = session_id, focused = change.focused, at = change.at, source = 'window' }
      client:notify('recap/onFocus', params)
      if change.focused and change.since then
        show_kept(client, session_id, change.since)
      end
    end
    done()
  end)
  if not sent then
    waiting[client.id] = {}
  end
end

--- Whether nobody looks.
---@return boolean
function M.away()
  return away_since ~= nil
end

--- The window of Neovim got or lost the focus.
---@param focused boolean
function M.focus(focused)
  local at = now_ms()
  local since = away_since
  away_since = not focused and at or nil
  for _, client in ipairs(vim.lsp.get_clients({ name = 'afterturn' })) do
    local changes = waiting[client.id] or {}
    waiting[client.id] = changes
    table.insert(changes, { focused = focused, at = at, since = since })
    if #changes == 1 then
      tell_next(client)
    end
  end
end

--- `:Afterturn recap`: a recap now.
function M.now()
  local asked = afterturn.clients()[1]
  local answered = asked and context.asked_for(asked.id)
  local sent = afterturn.execute('recap', {}, function(result, client)
    if type(result.recap) == 'table' then
      M.ready(client.id, result.recap)
    elseif result.sessionId == vim.NIL then
      afterturn.say('no session of this project is known')
    else
      afterturn.say('there is nothing to tell (' .. tostring(result.reason) .. ')')
    end
  end, answered)
  if answered and not sent then
    answered()
  end
end

return M
