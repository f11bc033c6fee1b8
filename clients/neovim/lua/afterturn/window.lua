--- Floating windows: text beside the work, which takes no focus of its own accord.

local M = {}

local MAX_WIDTH = 72

--- Show text in a floating window at the right edge.
---@class afterturn.Float
---@field title string
---@field text string
---@field enter? boolean whether the cursor goes there
---@field filetype? string
---@field on_close? fun() called when a person closes it
---@param float afterturn.Float
---@return integer window
function M.open(float)
  local width = math.max(math.min(MAX_WIDTH, vim.o.columns - 4), 20)
  local height = math.max(vim.o.lines - 6, 1)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(float.text, '\n'))
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = float.filetype or ''
  local window = vim.api.nvim_open_win(buffer, float.enter or false, {
    relative = 'editor',
    anchor = 'NE',
    row = 1,
    col = vim.o.columns - 1,
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. float.title .. ' ',
  })
  vim.wo[window].wrap = true
  vim.wo[window].linebreak = true
  -- Only the window itself knows how it breaks its lines, of which scripts without blanks have long ones.
  local last = math.min(height, vim.api.nvim_buf_line_count(buffer)) - 1
  local needed = vim.api.nvim_win_text_height(window, { end_row = last }).all
  vim.api.nvim_win_set_height(window, math.min(needed, height))
  for _, key in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', key, '<Cmd>close<CR>', { buffer = buffer, nowait = true, desc = 'Close' })
  end
  if float.on_close then
    vim.api.nvim_create_autocmd('WinClosed', {
      pattern = tostring(window),
      once = true,
      callback = function()
        float.on_close()
      end,
    })
  end
  return window
end

--- Close a window if it is still there.
---@param window? integer
function M.close(window)
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
end

return M
