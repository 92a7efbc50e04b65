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

/** The changes of requests to one upstream and of its responses; absent members change nothing. */
export interface MessagesTransform {
  readonly request?: (exchange: Exchange) => RequestChanges;
  readonly response?: (response: ResponseVariables, exchange: Exchange) => ResponseChanges;
  /** Maximum number of buffered bytes of a response whose body is read; absent if it is not read. */
  readonly wholeResponse?: number;
}

/** Wraps an upstream so that its messages are changed. */
export function changedMessages(transform: MessagesTransform): (server: Upstream) => Upstream {
  return (server) => new ChangingUpstream(server, transform);
}

/** An upstream with changed messages; requests of the gateway itself stay unchanged. */
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

  /** Returns the changed call; `undefined` if it would be invalid. */
  #request(call: UpstreamCall, exchange: Exchange): UpstreamCall | undefined {
    const changes = this.#transform.request?.(exchange);
    const { wholeResponse } = this.#transform;
    // Expressions need the uncompressed body; it is decoded if the upstream compresses anyway.
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
  const { add = [], set = [], remove = [] } = changes;
  const host = headerValue(headers, "host") ?? "";
  const kept =
    "replace" in changes ? [...(replacedHeaders(changes.replace) ?? []), "host", host] : headers;
  const edited = new EditedList(kept, true);
  for (const [name] of [...add, ...set]) trailers?.note(name);
  for (const name of remove) trailers?.note(name);
  changeHeaders(edited, changes);
  return edited.list;
}

/** The failure of an invalid changed call. The client's original request must not be forwarded instead. */
const invalid: UpstreamFailure = {
  kind: "protocol",
  isOfRequest: true,
  detail: "transformations produced an invalid request",
};
