import { mixedHash, textHash } from "../../backends/lasting-choice.ts";
import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import type { AnyTarget } from "./target.ts";
import type { TransformedRequest } from "./transform-fields.ts";

/** Returns the key of requests that go to the same provider. */
export type Affinity = (request: TransformedRequest) => string;

/**
 * Requests whose prompts start in the same way: same tools, system prompt and first message, which later turns of a
 * conversation repeat.
 */
export function byPrefix({ llmRequest: body }: TransformedRequest): string {
  const tools = body.tools ?? body.toolConfig;
  const system = body.system ?? body.instructions ?? body.systemInstruction;
  return JSON.stringify([tools, system, beginningOf(body)]);
}

/** Returns all messages up to the first one of the user. */
function beginningOf({ messages, contents, input, prompt }: JsonObject): unknown {
  const turns = messages ?? contents ?? input ?? prompt;
  if (!Array.isArray(turns)) return turns;
  const first = turns.findIndex((turn) => isJsonObject(turn) && (turn.role ?? "user") === "user");
  return turns.slice(0, first === -1 ? 1 : first + 1);
}

/** Requests of one session, as clients name it; requests without a name go by their prefix. */
export function bySession(asked: TransformedRequest): string {
  const { request, llmRequest: body } = asked;
  const header = SESSION_HEADERS.map((name) => request.header(name)).find(isFilled);
  const { prompt_cache_key: key, metadata } = body;
  const user = isJsonObject(metadata) ? metadata.user_id : undefined;
  return header ?? [key, user].find(isFilled) ?? byPrefix(asked);
}

/** Headers of Claude Code, Codex, opencode and others. */
const SESSION_HEADERS = [
  ...["x-claude-code-session-id", "session_id", "session-id", "x-session-id"],
  ...["x-session-affinity", "x-amzn-bedrock-session-id"],
];

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Sorts providers by their rank for a key (rendezvous hashing): if one is missing, only its own requests move. */
export function sortedFor<Target extends AnyTarget>(
  targets: readonly Target[],
  key: string,
): Target[] {
  const hash = textHash(key);
  const rankOf = ({ provider }: Target): number => mixedHash(hash, provider.name);
  return targets.toSorted((a, b) => rankOf(b) - rankOf(a));
}

/** Returns a number from 0 to below 1 for a key. */
export function shareOf(key: string): number {
  return textHash(key) / 2 ** 32;
}
