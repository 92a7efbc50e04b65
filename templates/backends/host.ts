import type { HostBackend, Text } from "../../compiler/ir.ts";
import { type Code, code, imported, literal } from "../code.ts";
import type { Trace } from "../trace.ts";
import type { BackendCode } from "./backend.ts";

/** Milliseconds to connect to an upstream. */
export const CONNECT_TIMEOUT = 10_000;

const WEIGHTED = "gwc/runtime/backends/weighted";

/** Plain HTTP upstreams: the request is passed on as it is by then, to one of them by weight. */
export function hostBackend(
  backends: readonly HostBackend[],
  forward: ((upstream: Code) => Code) | undefined,
  trace: Trace,
): BackendCode {
  const [only, ...others] = backends.filter(({ weight }) => weight > 0);
  if (only === undefined) throw new Error("no backend has a weight");
  const pass = forward ?? plainForward;
  if (others.length === 0) {
    return {
      ...NOTHING,
      declarations: [
        code`
          ${trace(only.origin)}
          const upstream = ${openUpstream(only.url)};
        `,
      ],
      step: [code`return ${pass(code`upstream`)};`],
    };
  }
  const choices = [only, ...others].map(
    ({ url, weight, origin }) => code`
      {
        ${trace(origin)}
        weight: ${literal(weight)},
        upstream: ${openUpstream(url)},
      },
    `,
  );
  return {
    ...NOTHING,
    declarations: [
      code`
        const upstreams = ${imported(WEIGHTED, "weighUpstreams")}([
          ${choices}
        ]);
      `,
    ],
    step: [code`return ${pass(code`${imported(WEIGHTED, "pickUpstream")}(upstreams)`)};`],
  };
}

/** The connections to an upstream. */
export function openUpstream(url: Text): Code {
  const open = imported("gwc/runtime/http/client", "openUpstream");
  return code`${open}(${literal({ url: upstreamUrl(url), connectTimeout: CONNECT_TIMEOUT })})`;
}

/** The address of an upstream; what starts with a variable is looked at when the gateway starts. */
export function upstreamUrl(url: Text): Text | Code {
  if (typeof url === "string" || typeof url.parts[0] === "string") return url;
  return code`${imported("gwc/runtime/gateway/late", "httpUrl")}(${literal(url)})`;
}

const NOTHING = { first: [], guard: [], isAsync: false } as const;

function plainForward(upstream: Code): Code {
  return code`${imported("gwc/runtime/backends/host", "forward")}(exchange, ${upstream})`;
}
