import type { ServerResponse } from "node:http";
import type { Received } from "../../harness/scripted.ts";
import { callsOf, type Feature, features, type Reading, script } from "./features.ts";
import { upstreamAt } from "./pairs.ts";

/** Returns the model's response in a turn, which is the same whole and streamed. */
export function saidIn(feature: Feature, turn: number, thinks: boolean): Reading {
  const calls = turn === 0 ? callsOf(feature) : [];
  const reasoning = feature === "reasoning" && turn === 0 && thinks ? script.thought : "";
  const text = feature === "json schema" ? script.output : script.text;
  return { calls, reasoning, text: calls.length > 0 ? "" : text };
}

/** Whether a provider shows what its model thought when it is asked to think. */
export function thinks(url: string): boolean {
  return !/nova|\/chat\/completions/.test(url);
}

/** Every provider's server: the prompt says what it is to do. */
export function respond(response: ServerResponse, _count: number, { url, body }: Received): void {
  const text = body.toString("utf8");
  const feature = features.find((each) => text.includes(`[${each}]`)) ?? "text";
  const isStream = isStreamed(url, text);
  const server = upstreamAt(url);
  const status = statusOf(feature);
  const said = saidIn(feature, text.includes(script.results[0]) ? 1 : 0, thinks(url));
  if (status !== undefined) {
    const { headers, body: error } = server.error(status);
    const type = { "content-type": "application/json", "retry-after": "7" };
    response.writeHead(status, { ...type, ...headers }).end(error);
  } else if (isStream) {
    response.writeHead(200, { "content-type": server.streamType });
    const isBroken = feature === "EOF" || feature === "error after 200";
    for (const event of server.events(said).slice(0, isBroken ? -server.endings : undefined))
      response.write(event);
    response.end(feature === "error after 200" ? server.errorEvent : undefined);
  } else {
    response.writeHead(200, { "content-type": "application/json" });
    const whole = server.whole(said);
    if (feature === "error after 200") response.end(server.error(500).body);
    else response.end(feature === "EOF" ? whole.slice(0, -9) : whole);
  }
}

/** Whether a request asks for a stream. */
export function isStreamed(url: string, text: string): boolean {
  return /stream/i.test(url) || JSON.parse(text).stream === true;
}

/** The status of a feature that is an error. */
export function statusOf(feature: Feature): 400 | 429 | undefined {
  if (feature === "error 400") return 400;
  return feature === "error 429" ? 429 : undefined;
}
