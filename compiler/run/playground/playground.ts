import { backendOf } from "../../backends/index.ts";
import { CREDENTIALS, type TryRequest } from "../../backends/parts/try-request.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import type { RequestJournal } from "../journal.ts";
import type { JournalEntry } from "../journal-entry.ts";
import { type RouteRequest, requestsTo } from "../try-command.ts";
import type { AskingCalls } from "./asking-calls.ts";
import { callMcp, type McpCall } from "./mcp-call.ts";
import { callPort, type PortCall, type PortResult } from "./port-call.ts";

/** A request that a reader of the admin page sends. */
export interface PlaygroundRequest extends Omit<PortCall, "origin"> {
  /** The id of one of the program's routes. */
  readonly route: string;
  /** The caller of a question where nothing is sent: claims or metadata as JSON, or a user's name; nobody if empty. */
  readonly identity?: string;
  /** The message for an MCP route; absent: the body goes as it is. */
  readonly mcp?: McpCall;
}

/** Result of the request. */
export interface PlaygroundResult {
  readonly response?: Pick<PortResult, "status" | "headers" | "body" | "isCut">;
  /** The gateway's notes about it. */
  readonly noted?: JournalEntry | undefined;
  /** Why there is no response. */
  readonly problem?: string;
}

/** The routes that can be tried, each by its first request that is known. */
export function playgroundRoutes(program: Program): readonly RouteRequest[] {
  const candidates = requestsTo(program, () => true);
  const found = servedRoutes(program).map(({ route }) =>
    candidates.find((each) => each.route === route),
  );
  return found.flatMap((first) => first ?? []);
}

/** Whether a route is spoken to in JSON-RPC. */
export function speaksMcp({ route }: RouteRequest): boolean {
  return route.backends.some(({ kind }) => backendOf(kind).protocol === "mcp");
}

/** The credential that a request waits for. */
export function credentialOf({ headers, search }: TryRequest): CredentialField | undefined {
  const text = [...headers, search].join("\n");
  return FIELDS.find(({ placeholder }) => text.includes(placeholder));
}

/** A credential as it is asked for. */
export interface CredentialField {
  /** Placeholder of the credential in headers and in the query. */
  readonly placeholder: string;
  readonly label: string;
  readonly encoding: "plain" | "base64";
  /** The identity of its owner in rules. */
  readonly variable: "jwt" | "apiKey" | "basicAuth";
  /** An owner, as the page may ask about one. */
  readonly owner: string;
}

const FIELDS: readonly CredentialField[] = [
  {
    placeholder: CREDENTIALS.token,
    label: "Token",
    encoding: "plain",
    variable: "jwt",
    owner: '{"sub":"eve"}',
  },
  {
    placeholder: CREDENTIALS.key,
    label: "API key",
    encoding: "plain",
    variable: "apiKey",
    owner: '{"name":"eve"}',
  },
  {
    placeholder: CREDENTIALS.password,
    label: "User:password",
    encoding: "base64",
    variable: "basicAuth",
    owner: "eve",
  },
];

/** Sends a request to the gateway's own port, as any client on this machine could. */
export async function callRoute(
  { route, mcp, identity: _, ...request }: PlaygroundRequest,
  program: Program,
  journal: Pick<RequestJournal, "ofPort">,
  pending: AskingCalls,
): Promise<PlaygroundResult> {
  const found = playgroundRoutes(program).find((each) => each.route.id === route);
  if (found === undefined) return { problem: "there is no such route" };
  const { origin } = found.request;
  try {
    const call = { ...request, origin };
    const result = await (mcp === undefined
      ? callPort(call)
      : callMcp(call, mcp, { route, pending }));
    const { status, headers, body, isCut, clientPort } = result;
    const noted = isCut ? undefined : await journal.ofPort(clientPort);
    return { response: { status, headers, body, isCut }, noted };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
