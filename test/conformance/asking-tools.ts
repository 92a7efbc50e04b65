import {
  type CallToolResult,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { ConformanceTool, ToolCall } from "./mcp-server-primitives.ts";

/**
 * Tools of the scenarios of 2026-07-28 that ask for input, as a server with sessions has them: it asks while it works.
 * It keeps no state with its client.
 */
export const askingTools: Readonly<Record<string, ConformanceTool>> = {
  test_input_required_result_elicitation: {
    description: "Asks the user for a name.",
    run: async (call) => text(`Hello, ${await asked(call, "name")}!`),
  },
  test_input_required_result_sampling: {
    description: "Asks the model for a capital.",
    run: async (call) => text(`Sampling response: ${await sampled(call, "Capital of France?")}`),
  },
  test_input_required_result_list_roots: {
    description: "Asks for the roots.",
    run: async (call) => text(`Roots: ${await rootsOf(call)}`),
  },
  test_input_required_result_request_state: {
    description: "Asks for a confirmation.",
    run: async (call) => {
      await asked(call, "ok");
      return text("state-ok");
    },
  },
  test_input_required_result_tampered_state: {
    description: "Asks for a confirmation.",
    run: async (call) => {
      await asked(call, "ok");
      return text("integrity-ok");
    },
  },
  test_input_required_result_multiple_inputs: {
    description: "Asks for three things at once.",
    run: async (call) => {
      const said = [asked(call, "name"), sampled(call, "Greet"), rootsOf(call)];
      return text((await Promise.all(said)).join(" "));
    },
  },
  test_input_required_result_multi_round: {
    description: "Asks twice.",
    run: async (call) => {
      await asked(call, "name");
      await asked(call, "color");
      return text("Multi-round complete");
    },
  },
  test_input_required_result_capabilities: {
    description: "Asks for what the client can do.",
    run: async (call) => {
      const { elicitation, sampling, roots } = call.server.getClientCapabilities() ?? {};
      await Promise.all([
        elicitation === undefined ? "" : asked(call, "name"),
        sampling === undefined ? "" : sampled(call, "Greet"),
        roots === undefined ? "" : rootsOf(call),
      ]);
      return text("done");
    },
  },
  test_streaming_elicitation: { description: "Asks nothing.", run: () => text("nothing asked") },
  test_logging_tool: {
    description: "Logs for those who want it.",
    run: async ({ extra }) => {
      const params = { level: "info" as const, data: "logged" };
      await extra.sendNotification({ method: "notifications/message", params });
      return text("logged");
    },
  },
};

async function asked({ extra }: ToolCall, field: string): Promise<unknown> {
  const value = field === "ok" ? { type: "boolean" as const } : { type: "string" as const };
  const requestedSchema = {
    type: "object" as const,
    properties: { [field]: value },
    required: [field],
  };
  const params = { message: `Please say the ${field}.`, requestedSchema };
  const { content } = await extra.sendRequest(
    { method: "elicitation/create", params },
    ElicitResultSchema,
  );
  return content?.[field];
}

async function sampled({ extra }: ToolCall, question: string): Promise<string> {
  const content = { type: "text" as const, text: question };
  const params = { messages: [{ role: "user" as const, content }], maxTokens: 100 };
  const said = await extra.sendRequest(
    { method: "sampling/createMessage", params },
    CreateMessageResultSchema,
  );
  return JSON.stringify(said.content);
}

async function rootsOf({ extra }: ToolCall): Promise<string> {
  const { roots } = await extra.sendRequest({ method: "roots/list" }, ListRootsResultSchema);
  return JSON.stringify(roots);
}

function text(said: string): CallToolResult {
  return { content: [{ type: "text", text: said }] };
}
