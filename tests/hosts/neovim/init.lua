-- A person's configuration, as small as the help file says.
vim.opt.runtimepath:append(vim.env.AFTERTURN_PLUGIN)
vim.lsp.config('afterturn', { init_options = { recap = { awaySeconds = 5 } } })
vim.lsp.enable('afterturn')
