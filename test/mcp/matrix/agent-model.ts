import type { ServerResponse } from "node:http";
import { type Received, startScripted } from "../../harness/scripted.ts";
import type { Call } from "../../llm/table/features.ts";
import { upstreamAt } from "../../llm/table/pairs.ts";
import { isStreamed } from "../../llm/table/respond.ts";
import { APP_URI, ASKING_TOOL, type MatrixCall } from "./nine-servers.ts";
import type { Trial } from "./trial.ts";

/** A model that calls one tool after the other, and the results that its agent has sent. */
export interface AgentModel {
  readonly url: string;
  /** Returns the findings of the agent, after it has ended. */
  trial(): Trial;
}

/** The prompt of the agent. */
export const PROMPT = "Call the tools of the matrix.";

/** Starts the server of the model. */
export async function startAgentModel(calls: readonly MatrixCall[]): Promise<AgentModel> {
  let results: readonly string[] = [];
  let listed: readonly AgentTool[] = [];
  const steps = [...calls.map(({ tool, arguments: input }) => ({ tool, input })), asking, reading];
  const respond = (response: ServerResponse, request: Received) => {
    const text = request.body.toString("utf8");
    const body = text === "" ? {} : JSON.parse(text);
    const tools = toolsOf(body);
    const isOfRun = text.includes(PROMPT) && tools.length > 0;
    if (isOfRun) {
      results = resultsOf(body);
      listed = tools.filter(isOfGateway);
    }
    const step = isOfRun ? steps[results.length] : undefined;
    const call = step && callOf(step, tools, results.length);
    const said = { reasoning: "", text: call ? "" : "Done.", calls: call ? [call] : [] };
    const server = upstreamAt(request.url);
    if (!isStreamed(request.url, text === "" ? "{}" : text)) {
      response.writeHead(200, { "content-type": "application/json" }).end(server.whole(said));
      return;
    }
    response.writeHead(200, { "content-type": server.streamType });
    response.end(server.events(said).join(""));
  };
  const { host } = await startScripted(
    (response, _count, request) => respond(response, request),
    "anything",
  );
  return {
    url: `http://${host}`,
    trial: () => ({
      tools: listed.length,
      results: results.slice(0, calls.length),
      asked: results[calls.length] ?? "",
      app: results[calls.length + 1] ?? "",
    }),
  };
}

const asking = { tool: ASKING_TOOL, input: {} };
/** Agents read resources with a tool of their own. */
const reading = { tool: "readmcpresource", input: { server: "gateway", uri: APP_URI } };

interface AgentTool {
  readonly name: string;
  readonly namespace?: string;
}

function callOf(
  { tool, input }: { readonly tool: string; readonly input: object },
  tools: readonly AgentTool[],
  step: number,
): Call | undefined {
  const wanted = plain(tool);
  const all = tools.filter(({ name }) => plain(name).replace(/tool$/, "").endsWith(wanted));
  const found = all.find(isOfGateway) ?? all[0];
  return found && { id: `call_${step}`, ...found, input };
}

/** Agents have tools of their own, such as `web_fetch`. */
function isOfGateway({ namespace = "", name }: AgentTool): boolean {
  return `${namespace}${name}`.includes("gateway");
}

/** Agents replace characters in names. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

/** Returns the tools of a request in any of the three formats. */
function toolsOf({ tools = [] }: { readonly tools?: readonly ToolEntry[] }): readonly AgentTool[] {
  return tools.flatMap(({ name, tools: grouped, functionDeclarations }) => {
    if (grouped !== undefined && name !== undefined)
      return grouped.map((each) => ({ name: each.name, namespace: name }));
    return functionDeclarations ?? (name === undefined ? [] : [{ name }]);
  });
}

interface ToolEntry {
  readonly name?: string;
  /** Tools of a namespace. */
  readonly tools?: readonly { readonly name: string }[];
  readonly functionDeclarations?: readonly { readonly name: string }[];
}

/** Returns the results of calls in a request, as JSON. */
function resultsOf({ messages, input, contents }: Record<string, unknown>): readonly string[] {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { type, functionResponse } = Object(value);
    if (type === "tool_result" || type === "function_call_output" || functionResponse !== undefined)
      found.push(JSON.stringify(value));
    else for (const each of Object.values(value)) walk(each);
  };
  walk(messages ?? input ?? contents);
  return found;
}
