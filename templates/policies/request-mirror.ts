import { openUpstream } from "../backends/connection.ts";
import { code, imported, importedType, literal } from "../code.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/request-mirror";

/** Milliseconds after which a copy that was not answered is given up. */
const TIMEOUT = 30_000;

/** `requestMirror`: a copy is sent before the request itself. */
export const requestMirrorTemplate: PolicyTemplate<"requestMirror"> = (
  { settings: { url, connection, share }, origin },
  { trace },
) => ({
  declarations: [
    code`
      ${trace(origin)}
      const mirror: ${importedType(MODULE, "MirrorSettings")} = ${literal({
        upstream: openUpstream(url, connection),
        share,
        timeout: TIMEOUT,
      })};
    `,
  ],
  steps: [code`${imported(MODULE, "mirrorRequest")}(exchange, mirror);`],
});
