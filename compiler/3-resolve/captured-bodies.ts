import type { AccessLogNode } from "../ir/access-log.ts";
import type { MetricLabelsNode } from "../ir/metric-labels.ts";
import type { CapturedBodies } from "../ir/program.ts";
import type { TracingNode } from "../ir/tracing.ts";

/** Returns the bodies that access lines, spans and labels of metrics read, or export; `undefined` if they read none. */
export function capturedBodiesOf(
  log: AccessLogNode | undefined,
  tracing: TracingNode | undefined,
  metrics: MetricLabelsNode | undefined,
): CapturedBodies | undefined {
  const places = [
    { origin: log?.filterOrigin, values: [log?.filter ?? []].flat() },
    { origin: log?.records?.filter?.origin, values: [log?.records?.filter ?? []].flat() },
    ...[log?.fields, log?.records?.fields].map((fields) => ({
      origin: fields?.origin,
      values: (fields?.added ?? []).map(({ value }) => value),
    })),
    {
      origin: tracing?.attributes?.origin,
      values: (tracing?.attributes?.added ?? []).map(({ value }) => value),
    },
    { origin: metrics?.origin, values: (metrics?.labels ?? []).map(({ value }) => value) },
  ];
  const has = (name: string, { values }: (typeof places)[number]): boolean =>
    values.some(({ reads }) => reads.some((path) => isBelow(path.join("."), name)));
  const reads = (name: string): boolean => places.some((place) => has(name, place));
  const messages = [log?.records?.messages ?? [], tracing?.messages ?? []].flat();
  const [first] = [
    ...places.filter((place) => BODIES.some((name) => has(name, place))),
    ...messages,
  ];
  if (first?.origin === undefined) return undefined;
  const [completion, toolCalls, serviceTier] = OF_MODELS.map(reads);
  const [toolArguments, toolResult, toolError] = OF_TOOLS.map(reads);
  const hasResponse = toolResult === true || toolError === true;
  const toolCall = toolArguments === true || hasResponse;
  return {
    request: toolCall || reads("request.body"),
    response:
      [completion, toolCalls, serviceTier, hasResponse, reads("response.body")].includes(true) ||
      messages.some(({ output }) => output),
    completion: completion === true,
    toolCalls: toolCalls === true,
    serviceTier: serviceTier === true,
    toolCall,
    origin: first.origin,
  };
}

function isBelow(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

const OF_MODELS = ["llm.completion", "llm.toolCalls", "llm.serviceTier"] as const;
const OF_TOOLS = ["mcp.tool.arguments", "mcp.tool.result", "mcp.tool.error"] as const;

/** Variables whose values are captured while bodies pass. */
const BODIES: readonly string[] = ["request.body", "response.body", ...OF_MODELS, ...OF_TOOLS];
