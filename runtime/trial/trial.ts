import { AsyncLocalStorage } from "node:async_hooks";
import type { JsonObject } from "../cel/variables.ts";
import type { CredentialKind } from "../http/headers/credential-location.ts";

/** A request that is tried on compiled code within this process, without open ports or calls of servers. */
export interface TrialRequest {
  /** Configured port that receives it. */
  readonly port: number;
  readonly isTls: boolean;
  readonly method: string;
  /** In origin form. */
  readonly target: string;
  /** By lower-case name, including Host; a list is a header with several lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** `undefined` if it has no body, or is `message`. */
  readonly body: string | undefined;
  /** Message of an MCP client; `undefined` if it is not an MCP request. */
  readonly message: ClientMessage | undefined;
  /** The MCP server to choose if several backends share a route; absent: one of the first backend. */
  readonly mcpServer?: string | undefined;
  /** The client's IP address. */
  readonly address: string;
  readonly identities: TrialIdentities;
  /** Items of each MCP server, by its name. Other MCP servers offer nothing, and accept every call. */
  readonly servers: Readonly<Record<string, OfferedItems>>;
  /** Response of every other server. */
  readonly response: TrialResponse;
}

/** A request of an MCP client. */
export interface ClientMessage {
  /** Whether the client uses sessions (revisions up to 2025-11-25), or stateless requests (2026-07-28). */
  readonly era: "sessions" | "stateless";
  /** Session of the message; absent if it has no session. */
  readonly session?: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The item that it concerns, as in its headers. */
  readonly name: string | undefined;
  /** Capabilities of the client; absent: none that a server could use. */
  readonly capabilities?: Readonly<Record<string, object>>;
}

/** Valid credentials of a request, placed where a policy looks for them. */
export interface TrialIdentities {
  /** Claims of a token. Issuer, audience and times are added as the policy requires them. */
  readonly jwt?: JsonObject;
  /** Metadata of an API key. */
  readonly apiKey?: JsonObject;
  /** User of basic authentication. */
  readonly basicAuth?: string;
}

/** Names of the items that an MCP server offers. */
export interface OfferedItems {
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  /** URIs. */
  readonly resources: readonly string[];
}

/** Response of a server. */
export interface TrialResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request that a server received, as it would have been sent. */
export interface TrialCall {
  /** Scheme, host and port of the server; for an MCP server in a child process, its name. */
  readonly server: string;
  readonly method: string;
  readonly path: string;
  /** A flat list. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Outcome of a request. */
export interface TrialOutcome {
  /** `undefined` if it was not answered. */
  readonly status: number | undefined;
  /** A flat list. */
  readonly headers: readonly string[];
  readonly body: string;
  /** Reason why the gateway itself responded; `undefined` if a server did. */
  readonly reason: string | undefined;
  readonly listener: string | undefined;
  readonly route: string | undefined;
  /** Further fields of its access log line. */
  readonly fields: Readonly<Record<string, string>>;
  /** Requests to servers, in order. */
  readonly calls: readonly TrialCall[];
  /** The request, as rules see it. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Claims of the verified token. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  /** Unexpected error, which is a bug. */
  readonly failure: string | undefined;
}

/** State of a request that is tried. */
export interface Trial {
  readonly request: TrialRequest;
  /** Requests to servers, in order. */
  readonly calls: TrialCall[];
  /** Kinds of credentials that were already placed in the request. */
  readonly shown: Set<CredentialKind>;
  /** Claims of the verified token. */
  claims: JsonObject | undefined;
}

/** Storage of the current trial, which stubs read. */
export const trials: AsyncLocalStorage<Trial> = new AsyncLocalStorage();

/** Returns the current trial. Throws outside of a trial. */
export function currentTrial(): Trial {
  const trial = trials.getStore();
  if (trial === undefined) throw new Error("there is no current trial");
  return trial;
}
