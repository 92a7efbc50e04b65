import { acceptsKey } from "../auth/subscription-tokens.ts";
import { TunnelRelay } from "../backends/host.ts";
import type { LlmCost } from "../cel/variables.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { headerValue } from "../http/headers/header-list.ts";
import { refuse } from "../http/refuse.ts";
import { queryValue, withoutParameter } from "../http/routing/query.ts";
import type { UpstreamTunnel } from "../http/upstream/upstream.ts";
import { MiB } from "../process/units.ts";
import { type CallTokens, noteTokens } from "./calls/call-attributes.ts";
import { countTokens } from "./calls/count-tokens.ts";
import { type CallLabels, ModelMetrics } from "./calls/model-metrics.ts";
import { refuseClosedModel } from "./calls/open-models.ts";
import { recordUsage } from "./calls/record-call.ts";
import type { TargetSettings } from "./calls/target.ts";
import { costOfTokens, dollarText } from "./chat/prices.ts";
import type { Usage } from "./chat/usage.ts";
import { TextFrames } from "./formats/realtime/text-frames.ts";
import { realtimeUsage } from "./formats/realtime/usage.ts";
import { firstOf, type PassService, passTo, withQuery } from "./pass-through.ts";
import type { Provider } from "./providers/provider.ts";

/** Providers of a Realtime route. */
export type RealtimeService = PassService<TargetSettings>;

/** Connects a client of OpenAI's Realtime API to a provider. Messages pass unchanged in both directions. */
export async function serveRealtime(exchange: Exchange, service: RealtimeService): Promise<void> {
  if (exchange.upgrade?.toLowerCase() !== "websocket") {
    const headers = ["upgrade", "websocket"];
    refuse(exchange, 426, "BadRequest", "the Realtime API is a WebSocket", headers);
    return;
  }
  const requested = queryValue(exchange.query, "model");
  if (refuseClosedModel(exchange, requested)) return;
  const target = firstOf(exchange, service);
  if (target === undefined) return;
  const { provider } = target;
  // Messages are read for their usage, so they must not be compressed.
  exchange.removeRequestHeader("sec-websocket-extensions");
  removeProtocolKey(exchange, provider);
  const path = realtimePath(exchange, target, requested);
  const openTunnel = (_: Exchange, protocol: string) =>
    new RealtimeRelay(exchange, protocol, provider, modelOf(requested, target));
  passTo(exchange, provider, { path, openTunnel });
}

/**
 * Removes the key that browsers send among the offered protocols, because they cannot set headers. It is meant for the
 * gateway, or for a provider that may get the client's key.
 */
function removeProtocolKey(exchange: Exchange, { clientKey, system }: Provider): void {
  const name = "sec-websocket-protocol";
  const offered = headerValue(exchange.requestHeaders, name)?.split(",") ?? [];
  const kept = offered
    .map((each) => each.trim())
    .filter((each) => {
      if (!each.startsWith(PROTOCOL_KEY)) return true;
      return clientKey !== undefined && acceptsKey(system, each.slice(PROTOCOL_KEY.length));
    });
  if (kept.length === offered.length) return;
  if (kept.length === 0) exchange.removeRequestHeader(name);
  else exchange.setRequestHeader(name, kept.join(", "));
}

/** Beginning of the protocol that is a key. */
const PROTOCOL_KEY = "openai-insecure-api-key.";

/** Returns the path with the client's query, and the provider's name of the model. Transcriptions have no model. */
function realtimePath(
  exchange: Exchange,
  target: TargetSettings,
  requested: string | undefined,
): string {
  const model = modelOf(requested, target);
  const fields = logFields(exchange.record);
  fields.set("gen_ai.operation.name", "realtime");
  if (requested !== undefined) fields.set("gen_ai.request.model", requested);
  const { path } = target;
  const rest = withoutParameter(`?${exchange.query}`, "model").slice(1);
  if (typeof path !== "string") return withQuery(path(model ?? "", false), rest);
  const named = model === undefined ? path : withQuery(path, `model=${encodeURIComponent(model)}`);
  return withQuery(named, rest);
}

function modelOf(
  requested: string | undefined,
  { provider, modelFor }: TargetSettings,
): string | undefined {
  if (provider.model !== undefined) return provider.model;
  return requested === undefined || modelFor === undefined ? requested : modelFor(requested);
}

/** Counts the tokens and costs of the responses that pass. */
class RealtimeRelay extends TunnelRelay {
  readonly #exchange: Exchange;
  readonly #provider: Provider;
  readonly #model: string | undefined;
  readonly #frames = new TextFrames(MAX_READ);
  #isOpen = false;
  #usage: Usage | undefined;
  /** Sum of the known costs, in US dollars. */
  #dollars = 0;

  /** `model`: its name at the provider; `undefined` if the client named none. */
  constructor(exchange: Exchange, protocol: string, provider: Provider, model: string | undefined) {
    super(exchange, protocol);
    this.#exchange = exchange;
    this.#provider = provider;
    this.#model = model;
  }

  override onSwitch(headers: readonly string[], upstream: UpstreamTunnel): void {
    this.#isOpen = true;
    super.onSwitch(headers, upstream);
  }

  override onData(chunk: Buffer): boolean {
    if (this.#isOpen) this.#count(chunk);
    return super.onData(chunk);
  }

  #count(chunk: Buffer): void {
    for (const text of this.#frames.push(chunk)) {
      const usage = realtimeUsage(text);
      if (usage === undefined) continue;
      this.#usage = this.#usage === undefined ? usage : sum(this.#usage, usage);
      const { record } = this.#exchange;
      const fields = logFields(record);
      recordUsage(fields, this.#usage);
      const model = fields.get("gen_ai.request.model");
      const tokens: CallTokens = {};
      noteTokens(tokens, usage);
      const cost = this.#costOf(usage);
      countTokens(record, {
        streaming: true,
        provider: this.#provider.system,
        ...tokens,
        ...(cost && { cost }),
        ...(model !== undefined && { requestModel: model, responseModel: model }),
      });
    }
  }

  /** Logs and counts the costs of a response; returns `undefined` if its model has no price. */
  #costOf(usage: Usage): LlmCost | undefined {
    const { prices, system: provider } = this.#provider;
    const { record, gateway } = this.#exchange;
    const metrics = gateway.metrics.part(ModelMetrics);
    const called: CallLabels = {
      ...{ operation: "realtime", provider, requestModel: this.#model ?? "unknown" },
      ...{ responseModel: undefined, errorType: undefined },
    };
    const cost = costOfTokens(prices, this.#model, usage);
    if (cost === undefined) {
      metrics.unpriced(called);
      return undefined;
    }
    this.#dollars += cost.total;
    logFields(record).set("gen_ai.cost", dollarText(this.#dollars));
    metrics.cost(called, cost.total);
    return cost;
  }
}

/** Maximum bytes of an event that is read. Longer events contain audio, and have no usage. */
const MAX_READ = MiB;

function sum(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: undefined,
    inputAudio: (a.inputAudio ?? 0) + (b.inputAudio ?? 0),
    cachedAudio: (a.cachedAudio ?? 0) + (b.cachedAudio ?? 0),
    outputAudio: (a.outputAudio ?? 0) + (b.outputAudio ?? 0),
  };
}
