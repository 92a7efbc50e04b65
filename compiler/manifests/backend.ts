import { type Fields, object, type Schema } from "../schema/schema.ts";
import { resource } from "./field-types.ts";
import type { PolicyFields } from "./policy.ts";

/** GatewayBackend: of one of the kinds, each with a field of its own. */
export function gatewayBackendSchema(kinds: Fields, policies: Schema<PolicyFields>) {
  return resource(
    object({ ...kinds, policies }, { exactlyOneOf: Object.keys(kinds), hasParts: true }),
  );
}
