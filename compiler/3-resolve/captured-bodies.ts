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
    values.some(({ reads }) => reads.some(([root, member]) => `${root}.${member}` === name));
  const reads = (name: string): boolean => places.some((place) => has(name, place));
  const messages = [log?.records?.messages ?? [], tracing?.messages ?? []].flat();
  const [first] = [
    ...places.filter((place) => BODIES.some((name) => has(name, place))),
    ...messages,
  ];
  if (first?.origin === undefined) return undefined;
  const completion = reads("llm.completion");
  return {
    request: reads("request.body"),
    response: completion || reads("response.body") || messages.some(({ output }) => output),
    completion,
    origin: first.origin,
  };
}

/** Variables whose values are captured while bodies pass. */
const BODIES: readonly string[] = ["request.body", "response.body", "llm.completion"];
