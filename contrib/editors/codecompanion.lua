-- lepo as an agent of CodeCompanion.nvim: `:CodeCompanionChat adapter=lepo`.
require("codecompanion").setup({
  adapters = {
    acp = {
      lepo = function()
        local helpers = require("codecompanion.adapters.acp.helpers")
        return {
          name = "lepo",
          formatted_name = "lepo",
          type = "acp",
          roles = { llm = "assistant", user = "user" },
          opts = { vision = true },
          commands = { default = { "lepo", "do", "--acp" } },
          defaults = { mcpServers = {}, timeout = 20000 },
          parameters = {
            protocolVersion = 1,
            clientCapabilities = { fs = { readTextFile = false, writeTextFile = false } },
            clientInfo = { name = "CodeCompanion.nvim", version = "1.0.0" },
          },
          handlers = {
            setup = function() return true end,
            -- lepo asks for no sign-in.
            auth = function() return true end,
            form_messages = function(self, messages, capabilities)
              return helpers.form_messages(self, messages, capabilities)
            end,
            lifecycle = {
              setup = function() return true end,
              auth = function() return true end,
            },
            request = { build_messages = helpers.build_messages },
          },
        }
      end,
    },
  },
  strategies = { chat = { adapter = "lepo" } },
})
