import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, join, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { bytes } from "../code/units.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/buffer";

/** The policy's limit of requests, in files and manifests. */
const SETTING = "buffer.request.maxBytes";

type Body = NonNullable<PolicySettings["buffer"]["request"]>;

/** `buffer`: a statement for each direction. */
export const bufferTemplate: PolicyTemplate<"buffer"> = {
  code: ({ settings: { request, response }, origin }, scope) => ({
    declarations: [],
    steps: [
      code`
        ${scope.trace(origin)}
        ${request === undefined ? [] : requestStep(request, scope)}
        ${response === undefined ? [] : responseStep(response, scope)}
      `,
    ],
    isAsync: request !== undefined,
  }),
};

function requestStep(body: Body, scope: RouteScope): Code {
  const run = imported(MODULE, body.streamsLarger ? "bufferBeginning" : "bufferRequest");
  const args = [limitOf(body, scope)];
  // A refusal names the policy's own limit; a body that is streamed is never refused for its size.
  if (body.maxBytes !== undefined && !body.streamsLarger) args.push(literal(SETTING));
  return code`if (!(await ${run}(exchange, ${join(args, ", ")}))) return;`;
}

function responseStep(body: Body, scope: RouteScope): Code {
  const run = body.streamsLarger ? "bufferResponseBeginning" : "bufferResponse";
  return code`${imported(MODULE, run)}(exchange, ${limitOf(body, scope)});`;
}

function limitOf({ maxBytes }: Body, { maxBufferSize }: RouteScope) {
  return bytes(maxBytes ?? maxBufferSize);
}
