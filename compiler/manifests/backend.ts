import { type Fields, object, type Schema } from "../schema/schema.ts";
import { resource } from "./field-types.ts";
import type { PolicyFields } from "./policy.ts";

/** Schema of GatewayBackend: one of its kinds, each with its own field. */
export function gatewayBackendSchema(kinds: Fields, policies: Schema<PolicyFields>) {
  return resource(
    object({ ...kinds, policies }, { exactlyOneOf: Object.keys(kinds), hasParts: true }),
  );
}
