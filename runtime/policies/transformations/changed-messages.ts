import type { ResponseVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { EditedList } from "../../http/headers/header-edits.ts";
import { headerValue, withoutHeader } from "../../http/headers/header-list.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { UnsentRequest, WrappedUpstream } from "../../http/upstream/wrapped-upstream.ts";
import { changeHeaders } from "./changed-headers.ts";
import { changedLine } from "./changed-line.ts";
import { ChangedMessage, ChangedSwitch, WholeMessage } from "./changed-message.ts";
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
    if (changed === undefined) return new UnsentRequest(handler, invalid);
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
    if (changed === undefined) return new UnsentRequest(handler, invalid);
    if (response === undefined) return this.server.upgrade(changed, protocol, handler);
    const transform = (head: ResponseVariables) => response(head, exchange);
    const switched = new ChangedSwitch(handler, exchange, transform);
    return this.server.upgrade(changed, protocol, switched);
  }

  /** `undefined` if no valid request can be made of it. */
  #request(call: UpstreamCall, exchange: Exchange): UpstreamCall | undefined {
    const changes = this.#transform.request?.(exchange);
    const { wholeResponse } = this.#transform;
    // Text can be read only as it is; an upstream that compresses all the same is decoded.
    const headers =
      wholeResponse === undefined ? call.headers : withoutHeader(call.headers, "accept-encoding");
    if (changes === undefined) return { ...call, headers };
    const line = changedLine(changes);
    if (line === undefined) return undefined;
    const { method = call.method, target, host } = line;
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
  changes: RequestChanges,
  { trailers }: UpstreamCall,
): string[] {
  const { add, set, remove } = changes;
  const host = headerValue(headers, "host") ?? "";
  const kept =
    "replace" in changes ? [...(replacedHeaders(changes.replace) ?? []), "host", host] : headers;
  const edited = new EditedList(kept, true);
  for (const [name] of [...add, ...set]) trailers?.note(name);
  for (const name of remove) trailers?.note(name);
  changeHeaders(edited, changes);
  return edited.list;
}

/** No valid request can be made of a call: the one of its client must not go on where another one is wanted. */
const invalid: UpstreamFailure = {
  kind: "protocol",
  isOfRequest: true,
  detail: "transformations make no valid request of it",
};
