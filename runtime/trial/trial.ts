import { AsyncLocalStorage } from "node:async_hooks";
import type { JsonObject } from "../cel/variables.ts";
import type { CredentialKind } from "../http/headers/credential-location.ts";

/** A request that is tried on compiled code within this process: no port is open, and no server is asked. */
export interface TrialRequest {
  /** The port that it comes in on, as the configuration has it. */
  readonly port: number;
  readonly isTls: boolean;
  readonly method: string;
  /** In origin form. */
  readonly target: string;
  /** By lower-case name, Host included; a list is a header with several lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined: it has none, or it is `message`. */
  readonly body: string | undefined;
  /** What an MCP client asks; undefined: it is no request of one. */
  readonly message: ClientMessage | undefined;
  /** The MCP server that is meant, where several backends share a route; absent: one of the first backend. */
  readonly mcpServer?: string | undefined;
  /** The client's IP address. */
  readonly address: string;
  readonly identities: TrialIdentities;
  /** What each MCP server offers, by its name; what is not named offers nothing and takes every call. */
  readonly servers: Readonly<Record<string, OfferedItems>>;
  /** What every other server responds. */
  readonly response: TrialResponse;
}

/** A request of an MCP client. */
export interface ClientMessage {
  /** Whether the client has sessions (the revisions up to 2025-11-25), or says all in one request (2026-07-28). */
  readonly era: "sessions" | "stateless";
  /** The session that it is sent in; absent: in none. */
  readonly session?: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The item that it is about, as its headers say it. */
  readonly name: string | undefined;
  /** What the client can do; absent: nothing that a server could ask for. */
  readonly capabilities?: Readonly<Record<string, object>>;
}

/** Whose valid credentials a request shows, where a policy looks for them. */
export interface TrialIdentities {
  /** The claims of a token; issuer, audience and times are filled in as the policy asks for them. */
  readonly jwt?: JsonObject;
  /** The metadata of an API key. */
  readonly apiKey?: JsonObject;
  /** The user of basic authentication. */
  readonly basicAuth?: string;
}

/** The names of what an MCP server offers. */
export interface OfferedItems {
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  /** URIs. */
  readonly resources: readonly string[];
}

/** What a server responds. */
export interface TrialResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request that a server got, complete as it would have been sent. */
export interface TrialCall {
  /** Scheme, host and port of the server; the name of an MCP server that is a child process. */
  readonly server: string;
  readonly method: string;
  readonly path: string;
  /** A flat list. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** What came of a request. */
export interface TrialOutcome {
  /** Undefined: it was not answered. */
  readonly status: number | undefined;
  /** A flat list. */
  readonly headers: readonly string[];
  readonly body: string;
  /** Why the gateway itself answered; undefined: a server did. */
  readonly reason: string | undefined;
  readonly listener: string | undefined;
  readonly route: string | undefined;
  /** The further fields of its line in the access log. */
  readonly fields: Readonly<Record<string, string>>;
  /** What servers were asked, in order. */
  readonly calls: readonly TrialCall[];
  /** The request as rules see it. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The claims of the token that was checked. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  /** What went wrong that nobody foresaw: a bug. */
  readonly failure: string | undefined;
}

/** What happens while a request is tried. */
export interface Trial {
  readonly request: TrialRequest;
  /** What servers were asked, in order. */
  readonly calls: TrialCall[];
  /** The credentials that stand in the request by now. */
  readonly shown: Set<CredentialKind>;
  /** The claims of the token that was checked. */
  claims: JsonObject | undefined;
}

/** The trial that code runs in: what stands in for the world outside asks for it. */
export const trials: AsyncLocalStorage<Trial> = new AsyncLocalStorage();

/** The trial that this code runs in. Throws outside of one. */
export function currentTrial(): Trial {
  const trial = trials.getStore();
  if (trial === undefined) throw new Error("nothing is tried");
  return trial;
}
