/** A tool of Anthropic that clients run, as a function. */
export interface ClientTool {
  readonly description: string;
  /** JSON Schema of its input. */
  readonly schema: object;
}

/**
 * Returns a tool that Anthropic's models know by its type alone, as a function for other models: its calls have the same name
 * and input. `undefined` for tools of other types.
 */
export function clientTool(type: string): ClientTool | undefined {
  const [, kind = ""] = /^([a-z_]+)_\d{8}$/.exec(type) ?? [];
  return Object.hasOwn(CLIENT_TOOLS, kind) ? CLIENT_TOOLS[kind] : undefined;
}

const TEXT = { type: "string" };

/** Members of commands that read and change files. */
const FILE_EDITS = {
  path: { type: "string", description: "Absolute path of the file or directory." },
  file_text: { type: "string", description: "Content of the file that `create` writes." },
  old_str: { type: "string", description: "Text that `str_replace` replaces. It occurs once." },
  new_str: { type: "string", description: "Replacement of `str_replace`." },
  insert_line: {
    type: "integer",
    description: "Line after which `insert` inserts; 0 is the start.",
  },
  insert_text: { type: "string", description: "Text that `insert` inserts." },
  view_range: {
    type: "array",
    items: { type: "integer" },
    description: "First and last line that `view` shows.",
  },
};

const CLIENT_TOOLS: { readonly [Kind: string]: ClientTool } = {
  bash: {
    description: "Runs a command in a bash session that persists between calls.",
    schema: {
      type: "object",
      properties: {
        command: { type: "string", description: "Command to run." },
        restart: { type: "boolean", description: "Restarts the session instead." },
      },
    },
  },
  text_editor: {
    description: "Views, creates and edits text files.",
    schema: {
      type: "object",
      properties: {
        command: { type: "string", enum: ["view", "create", "str_replace", "insert"] },
        ...FILE_EDITS,
      },
      required: ["command", "path"],
    },
  },
  memory: {
    description:
      "Stores and retrieves information in files below /memories, which persist between conversations.",
    schema: {
      type: "object",
      properties: {
        command: {
          type: "string",
          enum: ["view", "create", "str_replace", "insert", "delete", "rename"],
        },
        ...FILE_EDITS,
        old_path: TEXT,
        new_path: TEXT,
      },
      required: ["command"],
    },
  },
};
