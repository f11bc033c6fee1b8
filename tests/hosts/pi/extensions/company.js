/** Another extension beside ours: commands that only extensions can offer, and tools of its own. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

module.exports = (pi) => {
  pi.registerCommand("goto", {
    description: "Stand at an entry of the tree",
    handler: async (id, context) => {
      await context.navigateTree(id, { summarize: false });
      context.ui.notify(`at ${id}`, "info");
    },
  });
  pi.registerTool({
    name: "shoot",
    label: "Shoot",
    description: "A picture and many words about it",
    parameters: { type: "object", properties: {} },
    execute: async () => ({
      content: [
        { type: "text", text: "A pixel, and then another one beside it.\n".repeat(100) },
        { type: "image", data: PIXEL, mimeType: "image/png" },
      ],
      details: undefined,
    }),
  });
};
