import { randomUUID } from "node:crypto";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type GetPromptResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { elicitedChoices, elicitedDefaults } from "./mcp-server-primitives.ts";

/** State that a round of a call leaves for the next one. */
export interface RoundState {
  readonly round: number;
  readonly nonce: string;
}

/** Says to all who listen that a list has changed. */
export interface ChangeTriggers {
  toolsChanged(): void;
  promptsChanged(): void;
}

/** A tool of the stateless fixture. */
export interface StatelessTool {
  readonly description: string;
  readonly properties?: Readonly<Record<string, { readonly [keyword: string]: string }>>;
  run(
    context: ServerContext,
    args: Readonly<Record<string, unknown>>,
  ): ToolResult | Promise<ToolResult>;
}

type ToolResult = CallToolResult | InputRequiredResult;

/** The tools that the conformance suite calls, of which some ask their client first. */
export function statelessTools(
  states: RequestStateCodec<RoundState>,
  triggers: ChangeTriggers,
): Readonly<Record<string, StatelessTool>> {
  const mint = (round: number) => states.mint({ round, nonce: randomUUID() });
  return {
    test_x_mcp_header: {
      description: "An argument of it is said in a header too.",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      run: (_, { region }) => text(`region=${region}`),
    },
    test_missing_capability: {
      description: "Asks the model of a client that may have none.",
      run: ({ mcpReq }) =>
        mcpReq.inputResponses?.answer === undefined
          ? inputRequired({ inputRequests: { answer: question("Say pong") } })
          : text("asked"),
    },
    test_streaming_elicitation: { description: "Asks nothing.", run: () => text("nothing asked") },
    test_logging_tool: {
      description: "Logs for those who want it.",
      run: async ({ mcpReq }) => {
        await mcpReq.log("info", "logged");
        return text("logged");
      },
    },
    test_tool_with_logging: {
      description: "Logs while it runs.",
      run: async ({ mcpReq }) => {
        for (const word of ["started", "processing", "completed"]) {
          await mcpReq.log("info", `Tool execution ${word}`);
        }
        return text("Logged three times.");
      },
    },
    test_tool_with_progress: {
      description: "Tells its progress.",
      run: async ({ mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken;
        for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
          const params = { progressToken: progressToken ?? "", progress, total: 100 };
          await mcpReq.notify({ method: "notifications/progress", params });
        }
        return text(String(progressToken));
      },
    },
    test_trigger_tool_change: {
      description: "Says that the tools have changed.",
      run: () => {
        triggers.toolsChanged();
        return text("tools changed");
      },
    },
    test_trigger_prompt_change: {
      description: "Says that the prompts have changed.",
      run: () => {
        triggers.promptsChanged();
        return text("prompts changed");
      },
    },
    ...askingTools(),
    test_input_required_result_elicitation: {
      description: "Asks the user for a name.",
      run: ({ mcpReq }) => {
        const name = acceptedContent(mcpReq.inputResponses, "user_name")?.name;
        if (typeof name === "string") return text(`Hello, ${name}!`);
        return inputRequired({ inputRequests: { user_name: elicitText("name") } });
      },
    },
    test_input_required_result_sampling: {
      description: "Asks the model for a capital.",
      run: ({ mcpReq }) => {
        const said = mcpReq.inputResponses?.capital_question;
        if (said !== undefined) return text(`Sampling response: ${JSON.stringify(said)}`);
        return inputRequired({
          inputRequests: { capital_question: question("Capital of France?") },
        });
      },
    },
    test_input_required_result_list_roots: {
      description: "Asks for the roots.",
      run: ({ mcpReq }) => {
        const roots = mcpReq.inputResponses?.client_roots;
        if (roots !== undefined) return text(`Roots: ${JSON.stringify(roots)}`);
        return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
      },
    },
    test_input_required_result_request_state: {
      description: "Asks for a confirmation, and keeps a state.",
      run: async ({ mcpReq }) => {
        const isConfirmed = acceptedContent(mcpReq.inputResponses, "confirm") !== undefined;
        if (isConfirmed && mcpReq.requestState() !== undefined) return text("state-ok");
        const requestState = await mint(1);
        return inputRequired({ inputRequests: { confirm: elicitText("ok") }, requestState });
      },
    },
    test_input_required_result_tampered_state: {
      description: "Takes no state that is not its own.",
      run: async ({ mcpReq }) => {
        if (mcpReq.requestState() !== undefined) return text("integrity-ok");
        const requestState = await mint(1);
        return inputRequired({ inputRequests: { confirm: elicitText("ok") }, requestState });
      },
    },
    test_input_required_result_multiple_inputs: {
      description: "Asks for three things at once.",
      run: async ({ mcpReq: { inputResponses } }) => {
        const name = acceptedContent(inputResponses, "user_name")?.name;
        const { greeting, client_roots } = inputResponses ?? {};
        if (name !== undefined && greeting !== undefined && client_roots !== undefined) {
          return text(`${name} ${JSON.stringify([greeting, client_roots])}`);
        }
        const inputRequests = {
          user_name: elicitText("name"),
          greeting: question("Greet"),
          client_roots: inputRequired.listRoots(),
        };
        return inputRequired({ inputRequests, requestState: await mint(1) });
      },
    },
    test_input_required_result_multi_round: {
      description: "Asks twice.",
      run: async ({ mcpReq }) => {
        const round = mcpReq.requestState<RoundState>()?.round ?? 0;
        if (round > 1) return text("Multi-round complete");
        const inputRequests = { [`step${round + 1}`]: elicitText(round === 0 ? "name" : "color") };
        return inputRequired({ inputRequests, requestState: await mint(round + 1) });
      },
    },
    test_input_required_result_capabilities: {
      description: "Asks for what the client can do.",
      run: ({ mcpReq: { envelope, inputResponses } }) => {
        // The envelope's type does not name its keys.
        const meta: Readonly<Record<string, unknown>> = { ...envelope };
        const declared = { ...(meta[CLIENT_CAPABILITIES_META_KEY] as object | undefined) };
        const inputRequests: InputRequests = {
          ...("elicitation" in declared && { user_name: elicitText("name") }),
          ...("sampling" in declared && { greeting: question("Greet") }),
          ...("roots" in declared && { client_roots: inputRequired.listRoots() }),
        };
        const isDone = inputResponses !== undefined || Object.keys(inputRequests).length === 0;
        return isDone ? text("done") : inputRequired({ inputRequests });
      },
    },
  };
}

/** A prompt that asks its user before it is there. */
export const inputPrompt = {
  name: "test_input_required_result_prompt",
  get: ({ mcpReq }: ServerContext): GetPromptResult | InputRequiredResult => {
    const said = acceptedContent(mcpReq.inputResponses, "user_context")?.context;
    if (typeof said !== "string") {
      return inputRequired({ inputRequests: { user_context: elicitText("context") } });
    }
    const content = { type: "text" as const, text: `Use the following context: ${said}` };
    return { messages: [{ role: "user", content }] };
  },
};

/** Those that the scenarios of 2025-11-25 call. */
function askingTools(): Readonly<Record<string, StatelessTool>> {
  return {
    test_sampling: {
      description: "Asks the client's model.",
      properties: { prompt: { type: "string" } },
      run: ({ mcpReq }, { prompt }) => {
        const said = mcpReq.inputResponses?.answer;
        if (said !== undefined) return text(`LLM response: ${JSON.stringify(said)}`);
        return inputRequired({ inputRequests: { answer: question(String(prompt)) } });
      },
    },
    test_elicitation: {
      description: "Asks the user.",
      properties: { message: { type: "string" } },
      run: (context) =>
        elicited(context, { username: { type: "string" }, email: { type: "string" } }),
    },
    test_elicitation_sep1034_defaults: {
      description: "Asks the user with defaults.",
      run: (context) => elicited(context, elicitedDefaults),
    },
    test_elicitation_sep1330_enums: {
      description: "Asks the user with every kind of choice.",
      run: (context) => elicited(context, elicitedChoices()),
    },
  };
}

function elicited({ mcpReq }: ServerContext, properties: Readonly<Record<string, object>>) {
  const said = mcpReq.inputResponses?.form;
  if (said !== undefined) return text(`Elicitation completed: ${JSON.stringify(said)}`);
  const requestedSchema = { type: "object", properties };
  // The suite asks for schemas that the SDK's type does not list.
  const params = { message: "Please choose.", requestedSchema } as unknown as ElicitParams;
  return inputRequired({ inputRequests: { form: inputRequired.elicit(params) } });
}

type ElicitParams = Parameters<typeof inputRequired.elicit>[0];

function elicitText(field: string) {
  const asked = field === "ok" ? { type: "boolean" as const } : { type: "string" as const };
  const requestedSchema = {
    type: "object" as const,
    properties: { [field]: asked },
    required: [field],
  };
  return inputRequired.elicit({ message: `Please say the ${field}.`, requestedSchema });
}

function question(said: string) {
  const content = { type: "text" as const, text: said };
  return inputRequired.createMessage({ messages: [{ role: "user", content }], maxTokens: 100 });
}

function text(said: string): CallToolResult {
  return { content: [{ type: "text", text: said }] };
}
