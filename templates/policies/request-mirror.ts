import { forwardCode } from "../backends/parts/connection.ts";
import { code, literal } from "../code/code.ts";
import { imported, importedType, name } from "../code/names.ts";
import { milliseconds } from "../code/units.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/request-mirror";

/** Milliseconds after which an unanswered copy is aborted. */
const TIMEOUT = 30_000;

/** `requestMirror`: a copy is sent before the request itself. */
export const requestMirrorTemplate: PolicyTemplate<"requestMirror"> = {
  code: ({ settings: { mirrors } }, { trace }) => {
    const named = mirrors.map((each, index) => ({
      ...each,
      label: name(index === 0 ? "mirror" : `mirror${index + 1}`),
    }));
    return {
      declarations: named.map(
        ({ label, url, connection, share, origin }) => code`
          ${trace(origin)}
          const ${label}: ${importedType(MODULE, "MirrorSettings")} = ${literal({
            upstream: forwardCode(url, connection),
            share,
            timeout: milliseconds(TIMEOUT),
          })};
        `,
      ),
      steps: named.map(
        ({ label }) => code`${imported(MODULE, "mirrorRequest")}(exchange, ${label});`,
      ),
    };
  },
};
