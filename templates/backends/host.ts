import type { HostBackendNode } from "../../compiler/ir/backends.ts";
import { type Code, code, imported, literal } from "../code/code.ts";
import type { Trace } from "../code/trace.ts";
import type { BackendCode } from "./backend.ts";
import { passthrough, upstreamCode } from "./connection.ts";

const WEIGHTED = "gwc/runtime/backends/weighted";

/** Plain HTTP upstreams: the request is passed on as it is by then, to one of them by weight; without any weight it is refused. */
export function hostBackend(
  backends: readonly HostBackendNode[],
  forward: ((upstream: Code) => Code) | undefined,
  trace: Trace,
): BackendCode {
  const [only, ...others] = backends.filter(({ weight }) => weight > 0);
  if (only === undefined) {
    const step = code`return ${imported("gwc/runtime/http/refuse", "noBackend")}(exchange);`;
    return { ...NOTHING, declarations: [], step: [step] };
  }
  const pass = forward ?? plainForward;
  const token = passthrough(backends.map(({ connection }) => connection));
  if (others.length === 0) {
    return {
      ...NOTHING,
      declarations: [
        code`
          ${trace(only.origin)}
          const upstream = ${upstreamCode(only.url, only.connection)};
        `,
      ],
      step: [...token, code`return ${pass(code`upstream`)};`],
    };
  }
  const choices = [only, ...others].map(
    ({ url, connection, weight, origin }) => code`
      {
        ${trace(origin)}
        weight: ${literal(weight)},
        upstream: ${upstreamCode(url, connection)},
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
    step: [...token, code`return ${pass(code`${imported(WEIGHTED, "pickUpstream")}(upstreams)`)};`],
  };
}

const NOTHING = { first: [], guard: [], isAsync: false } as const;

/** Passes the request on, once. */
export function plainForward(upstream: Code): Code {
  return code`${imported("gwc/runtime/backends/host", "forward")}(exchange, ${upstream})`;
}
