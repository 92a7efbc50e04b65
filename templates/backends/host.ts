import type { HostBackend, Text } from "../../compiler/ir.ts";
import { type Code, code, imported, literal } from "../code.ts";
import type { Trace } from "../trace.ts";
import type { BackendCode } from "./backend.ts";

/** Milliseconds to connect to an upstream. */
export const CONNECT_TIMEOUT = 10_000;

/** A plain HTTP upstream: the request is forwarded as it is by then. */
export function hostBackend({ url, origin }: HostBackend, trace: Trace): BackendCode {
  const open = imported("gwc/runtime/http/client", "openUpstream");
  return {
    declarations: [
      code`
        ${trace(origin)}
        const upstream = ${open}(${literal({ url: upstreamUrl(url), connectTimeout: CONNECT_TIMEOUT })});
      `,
    ],
    first: [],
    guard: [],
    step: [code`return ${imported("gwc/runtime/backends/host", "forward")}(exchange, upstream);`],
    isAsync: false,
  };
}

/** The address of an upstream; what starts with a variable is looked at when the gateway starts. */
export function upstreamUrl(url: Text): Text | Code {
  if (typeof url === "string" || typeof url.parts[0] === "string") return url;
  return code`${imported("gwc/runtime/gateway/late", "httpUrl")}(${literal(url)})`;
}
