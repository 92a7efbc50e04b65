import { shownText } from "../../model/texts.ts";
import type { GuardNode, PatternNode, PromptGuardNode } from "./guards.ts";

/** Describes the guards for people: one line each for requests, whole responses, streams, and how patterns match. */
export function guardLines({
  request,
  response,
  guardsStreams,
}: PromptGuardNode): readonly string[] {
  const windows = response.flatMap((each) => (each.kind === "regex" ? [] : [each.window]));
  const [window] = windows;
  return [
    ...(request.length === 0 ? [] : [`requests: ${guardsText(request)}`]),
    ...(response.length === 0
      ? []
      : [`responses: ${guardsText(response)}`, streamsText(guardsStreams, window)]),
    ...([...request, ...response].some(({ kind }) => kind === "regex") ? [PATTERNS_TEXT] : []),
  ];
}

/** See `readingOf` in the runtime, and the strings that it joins. */
const PATTERNS_TEXT =
  "patterns: matched on normalized text (zero-width characters removed, look-alikes replaced), with the parts of one role joined";

function streamsText(guardsStreams: boolean, window: number | undefined): string {
  if (!guardsStreams) return "streams: no guard";
  return window === undefined
    ? "streams: the same guards"
    : `streams: the same guards, with ${window} characters sent to servers at a time`;
}

/** Describes guards as in `1.regex (mask ssn, email), 2.webhook (http://127.0.0.1:9000)`. */
function guardsText(guards: readonly GuardNode[]): string {
  return guards.map((each, index) => `${index + 1}.${each.kind} (${guardText(each)})`).join(", ");
}

function guardText(node: GuardNode): string {
  const scope = node.scope === undefined ? "all parts" : node.scope.join(", ");
  if (node.kind !== "regex") return `calls ${shownText(node.target.url)}; ${scope}`;
  const names = node.patterns.map(patternText);
  return `${node.rejection === undefined ? "masks" : "rejects"} ${names.join(", ")}; ${scope}`;
}

/** Returns a pattern as configured, such as `ssn` or `secret-\\d+`. */
export function patternText(node: PatternNode): string {
  return node.kind === "named" ? node.name : node.pattern;
}
