import { useState } from "preact/hooks";
import type { SeenRequest, TryData } from "../api/admin-api.ts";

/** Result of a request of the playground. */
export interface TryResult {
  readonly response?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly body: string;
    readonly isCut: boolean;
  };
  readonly noted?: Pick<SeenRequest, "duration" | "reason" | "upstream" | "notes">;
  readonly problem?: string;
}

/** Decision about a request that is not sent. */
export type Verdict =
  | { readonly outcome: "yes" | "no" | "depends"; readonly text: string }
  | { readonly problem: string };

/** A message for an MCP route. */
export interface McpMessage {
  readonly method: string;
  readonly params: object;
  readonly era?: string;
}

/** What a reader typed about the sender of requests. */
export interface Sender {
  readonly target: string;
  readonly setTarget: (target: string) => void;
  readonly headers: string;
  readonly setHeaders: (headers: string) => void;
  readonly credential: string;
  readonly setCredential: (credential: string) => void;
  readonly identity: string;
  readonly setIdentity: (identity: string) => void;
  /** Returns the request; for a decision, nothing secret is in it. */
  readonly request: (isSent: boolean, method: string, body: string) => object;
}

/** Remembers what a reader typed about the sender; the credential stays in this page. */
export function useSender(route: TryData, first = route.target): Sender {
  const [target, setTarget] = useState(first);
  const [headers, setHeaders] = useState(route.headers.join("\n"));
  const [credential, setCredential] = useState("");
  const [identity, setIdentity] = useState("");
  const request = (isSent: boolean, method: string, body: string) => {
    const { placeholder = "", encoding = "plain" } = route.credential ?? {};
    const given = isSent ? credential.trim() : "";
    const secret = encoding === "base64" ? base64(given) : given;
    const filled = (text: string) =>
      placeholder === "" ? text : text.replaceAll(placeholder, secret);
    const isNobody = (line: string) =>
      placeholder !== "" && given === "" && line.includes(placeholder);
    return {
      route: route.id,
      method,
      target: filled(target),
      headers: headers
        .split("\n")
        .filter((line) => line.trim() !== "" && !isNobody(line))
        .map(filled),
      body,
      ...(!isSent && { identity }),
    };
  };
  return {
    ...{ target, setTarget, headers, setHeaders, credential, setCredential },
    ...{ identity, setIdentity, request },
  };
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** Fields about the sender: path, credential and headers. */
export function SenderFields({
  route,
  sender,
  hasPath = false,
}: {
  route: TryData;
  sender: Sender;
  /** Whether the path has a field elsewhere. */
  hasPath?: boolean;
}) {
  const { credential } = route;
  return (
    <>
      {credential !== null && (
        <label class="field">
          <span class="label">
            {credential.label} <small>empty: nobody</small>
          </span>
          <input
            type="password"
            autocomplete="off"
            value={sender.credential}
            onInput={({ currentTarget }) => sender.setCredential(currentTarget.value)}
          />
        </label>
      )}
      <details class="more">
        <summary>{hasPath ? "Headers" : "Path and headers"}</summary>
        {!hasPath && (
          <label class="field">
            <span class="label">Path and query</span>
            <input
              class="mono"
              spellcheck={false}
              value={sender.target}
              onInput={({ currentTarget }) => sender.setTarget(currentTarget.value)}
            />
          </label>
        )}
        <label class="field">
          <span class="label">Headers, one a line</span>
          <textarea
            class="mono"
            rows={3}
            spellcheck={false}
            value={sender.headers}
            onInput={({ currentTarget }) => sender.setHeaders(currentTarget.value)}
          />
        </label>
        {credential !== null && (
          <label class="field">
            <span class="label">
              Whose credential <small>for Decide only, which sends nothing</small>
            </span>
            <input
              class="mono"
              spellcheck={false}
              placeholder={credential.owner}
              value={sender.identity}
              onInput={({ currentTarget }) => sender.setIdentity(currentTarget.value)}
            />
          </label>
        )}
      </details>
    </>
  );
}
