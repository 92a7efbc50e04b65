import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { bytes } from "../code/units.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/buffer";

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
  const run = body.streamsLarger ? "bufferBeginning" : "bufferRequest";
  const call = code`${imported(MODULE, run)}(exchange, ${limitOf(body, scope)})`;
  return code`if (!(await ${call})) return;`;
}

function responseStep(body: Body, scope: RouteScope): Code {
  const run = body.streamsLarger ? "bufferResponseBeginning" : "bufferResponse";
  return code`${imported(MODULE, run)}(exchange, ${limitOf(body, scope)});`;
}

function limitOf({ maxBytes }: Body, { maxBufferSize }: RouteScope) {
  return bytes(maxBytes ?? maxBufferSize);
}
