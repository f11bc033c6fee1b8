--- What a recap is drafted from, where no plug-in says it: what was captured of the session.

local M = {}

local MOST_STEPS = 50

--- Since when there is somebody to tell of work, epoch ms.
---@type integer?
local began_at

--- Whether a person has just asked, who wants to hear of old work, too.
local asked = false

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

--- A step as the messages it was: the request, the calls with their results, what was said.
---@param step table a trace
---@return table[]
local function step_messages(step)
  local messages = {}
  if step.userText ~= '' then
    table.insert(messages, { role = 'user', content = step.userText })
  end
  for number, call in ipairs(step.toolCalls) do
    local id = type(call.toolCallId) == 'string' and call.toolCallId or ('%s/%d'):format(step.traceId, number)
    vim.list_extend(messages, call_messages(call, id))
  end
  if step.agentText ~= '' then
    table.insert(messages, { role = 'assistant', content = step.agentText })
  end
  return messages
end

--- The conversation that traces tell of. Of their own accord recaps are only of work since Neovim was started.
---@param traces table[] newest first
---@return table context
local function context_of(traces)
  local steps = vim.tbl_filter(function(trace)
    return not (trace.superseded or trace.isSubagent)
  end, traces)
  local any = asked
  asked = false
  if #steps == 0 or not (any or steps[1].ts >= (began_at or 0)) then
    return { messages = {} }
  end
  local messages = {}
  for at = #steps, 1, -1 do
    vim.list_extend(messages, step_messages(steps[at]))
  end
  return { messages = messages, revision = steps[1].traceId }
end

--- The next draft is one that a person asks for.
function M.asked_for()
  asked = true
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
  return context_of(result.traces)
end

return M
