--- What a recap is drafted from, where no plug-in says it: what was captured of the session.

local M = {}

local MOST_STEPS = 50

--- Since when there is somebody to tell of work, epoch ms.
---@type integer?
local began_at

--- How often a person is asking, who wants to hear of old work, too, by client: one that dies answers never.
---@type table<integer, integer>
local asking = {}

--- A server was started.
function M.begin()
  began_at = began_at or os.time() * 1000
end

--- The call and its result.
---@param call table
---@param id string
---@return table[]
local function call_messages(call, id)
  local said = call.assistantTextBefore
  local output = call.output
  return {
    {
      role = 'assistant',
      content = type(said) == 'string' and said or '',
      toolCalls = { { id = id, name = call.name, input = call.input } },
    },
    {
      role = 'tool',
      content = type(output) == 'string' and output or vim.json.encode(output or ''),
      toolCallId = id,
      toolName = call.name,
      isError = type(call.errorCode) == 'string',
    },
  }
end

--- A step as the messages it was: the request where it is a new one, the calls with their results, what was said.
---@param step table a trace
---@param before? table the one before it
---@return table[]
local function step_messages(step, before)
  local messages = {}
  local goes_on = before and before.episodeId == step.episodeId and before.userText == step.userText
  if step.userText ~= '' and not goes_on then
    table.insert(messages, { role = 'user', content = step.userText })
  end
  local said = step.agentText
  for number, call in ipairs(step.toolCalls) do
    local id = type(call.toolCallId) == 'string' and call.toolCallId or ('%s/%d'):format(step.traceId, number)
    local called = call_messages(call, id)
    if vim.startswith(said, called[1].content) then
      said = said:sub(#called[1].content + 1):gsub('^%s+', '')
    end
    vim.list_extend(messages, called)
  end
  if said ~= '' then
    table.insert(messages, { role = 'assistant', content = said })
  end
  return messages
end

--- The conversation that traces tell of. Of their own accord recaps are only of work since Neovim was started.
---@param traces table[] newest first
---@param asked boolean whether a person asks for it
---@return table context
local function context_of(traces, asked)
  local steps = vim.tbl_filter(function(trace)
    return not (trace.superseded or trace.isSubagent)
  end, traces)
  if #steps == 0 or not (asked or steps[1].ts >= (began_at or 0)) then
    return { messages = {} }
  end
  local messages = {}
  for at = #steps, 1, -1 do
    vim.list_extend(messages, step_messages(steps[at], steps[at + 1]))
  end
  return { messages = messages, revision = steps[1].traceId }
end

--- Until the function that this gives is called, drafts of a client are what a person asks for.
---@param client_id integer
---@return fun() answered
function M.asked_for(client_id)
  asking[client_id] = (asking[client_id] or 0) + 1
  return function()
    asking[client_id] = asking[client_id] - 1
  end
end

--- Answers `host/getContext`. Runs in a coroutine, and waits there for what was captured.
---@param client_id integer
---@param session_id string
---@return table? context
---@return table? problem
function M.of(client_id, session_id)
  local client = vim.lsp.get_client_by_id(client_id)
  local here = coroutine.running()
  local sent = client
    and client:request('traces/list', { sessionId = session_id, limit = MOST_STEPS }, function(problem, result)
      coroutine.resume(here, problem, result)
    end)
  if not sent then
    return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.InternalError, 'the client ends')
  end
  local problem, result = coroutine.yield()
  if problem then
    return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.InternalError, problem.message)
  end
  return context_of(result.traces, (asking[client_id] or 0) > 0)
end

return M
