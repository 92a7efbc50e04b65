import type { ResponseVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue, withoutHeader } from "../../http/headers/header-list.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { WrappedUpstream } from "../../http/upstream/wrapped-upstream.ts";
import { changedLine } from "./changed-line.ts";
import { ChangedMessage, ChangedSwitch, WholeMessage } from "./changed-message.ts";
import { fieldValue } from "./field-value.ts";
import { bodyBytes, type RequestChanges, type ResponseChanges } from "./message-changes.ts";
import { replacedHeaders } from "./replaced-headers.ts";

/** What becomes of the requests that one upstream gets, and of its responses; absent: nothing. */
export interface MessagesTransform {
  readonly request?: (exchange: Exchange) => RequestChanges;
  readonly response?: (response: ResponseVariables, exchange: Exchange) => ResponseChanges;
  /** Bytes up to which a response is held whole, for its body; absent: that is not read. */
  readonly wholeResponse?: number;
}

/** Makes an upstream one whose messages are changed on their way. */
export function changedMessages(transform: MessagesTransform): (server: Upstream) => Upstream {
  return (server) => new ChangingUpstream(server, transform);
}

/** An upstream whose messages are changed; those that the gateway sends for itself are not. */
class ChangingUpstream extends WrappedUpstream {
  readonly #transform: MessagesTransform;

  constructor(server: Upstream, transform: MessagesTransform) {
    super(server);
    this.#transform = transform;
  }

  override send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    const { exchange } = call;
    if (exchange === undefined) return this.server.send(call, handler);
    const changed = this.#request(call, exchange);
    const { response, wholeResponse } = this.#transform;
    if (response === undefined) return this.server.send(changed, handler);
    const transform = (head: ResponseVariables) => response(head, exchange);
    if (wholeResponse === undefined)
      return this.server.send(changed, new ChangedMessage(handler, exchange, transform));
    const whole = new WholeMessage(handler, exchange, transform, wholeResponse);
    return whole.started(this.server.send(changed, whole));
  }

  override upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    const { exchange } = call;
    if (exchange === undefined) return this.server.upgrade(call, protocol, handler);
    const { response } = this.#transform;
    const changed = this.#request(call, exchange);
    if (response === undefined) return this.server.upgrade(changed, protocol, handler);
    const transform = (head: ResponseVariables) => response(head, exchange);
    const switched = new ChangedSwitch(handler, exchange, transform);
    return this.server.upgrade(changed, protocol, switched);
  }

  #request(call: UpstreamCall, exchange: Exchange): UpstreamCall {
    const changes = this.#transform.request?.(exchange);
    const { wholeResponse } = this.#transform;
    // Text can be read only as it is; an upstream that compresses all the same is decoded.
    const headers =
      wholeResponse === undefined ? call.headers : withoutHeader(call.headers, "accept-encoding");
    if (changes === undefined) return { ...call, headers };
    const { method = call.method, target, host } = changedLine(changes);
    const own = changedHeaders(headers, changes, call);
    const named = host === undefined ? own : [...withoutHeader(own, "host"), "host", host];
    const path = target === undefined ? call.path : `${this.basePath}${target}`;
    if (!("body" in changes)) return { ...call, method, path, headers: named };
    const body = bodyBytes(changes.body);
    return { ...call, method, path, headers: withoutHeader(named, "content-encoding"), body };
  }
}

function changedHeaders(
  headers: string[],
  { replace, add, set, remove }: RequestChanges,
  { trailers }: UpstreamCall,
): string[] {
  const replaced = replace === undefined ? undefined : replacedHeaders(replace);
  const host = headerValue(headers, "host") ?? "";
  let changed = replaced === undefined ? [...headers] : [...replaced, "host", host];
  for (const [name] of [...add, ...set]) trailers?.note(name);
  for (const [name, value] of add) {
    const text = fieldValue(value);
    if (text !== undefined) changed.push(name, text);
  }
  for (const [name, value] of set) {
    const text = fieldValue(value);
    changed = withoutHeader(changed, name);
    if (text !== undefined) changed.push(name, text);
  }
  for (const name of remove) {
    trailers?.note(name);
    changed = withoutHeader(changed, name);
  }
  return changed;
}
