---@brief
---
--- afterturn shows what is behind the refs (`t12`, `b3`) in summaries of an agent's work.
---
--- The server is the Python package `afterturn`; `:checkhealth afterturn` says whether it is found.

local named = vim.env.AFTERTURN_PATH or ''

---@type vim.lsp.Config
return {
  cmd = { named ~= '' and named or 'afterturn', '--stdio' },
  filetypes = { 'markdown', 'text', 'gitcommit', 'mail', 'org', 'rst', 'asciidoc' },
  -- A folder is always told: the newest session of its project is what a ref means that names no session.
  root_dir = function(buffer, on_dir)
    on_dir(vim.fs.root(buffer, { '.git', '.jj', '.hg' }) or vim.fn.getcwd())
  end,
  capabilities = {
    -- Originals are read as documents of the scheme `afterturn:`, so that none has to be written to a file.
    workspace = { textDocumentContent = { dynamicRegistration = false } },
    experimental = { afterturn = { context = true, recap = { canShow = true, focusReporting = 'supported' } } },
  },
  on_init = function()
    require('afterturn.context').begin()
  end,
  handlers = {
    ['host/getContext'] = function(_, asked, context)
      return require('afterturn.context').of(context.client_id, asked.sessionId)
    end,
    ['recap.ready'] = function(_, recap, context)
      require('afterturn.recap').ready(context.client_id, recap)
    end,
    ['recap.cleared'] = function(_, cleared)
      require('afterturn.recap').cleared(cleared)
    end,
  },
}
