import type { SupportedFields } from "./schemas/backend.ts";

/** Fields of the backend section that say how a backend is reached, of which this version enforces but some. */
export const CONNECTION_FIELDS: SupportedFields = new Set([
  ...["tcp", "tls", "http", "auth.key", "auth.secretRef", "auth.passthrough"],
  ...["auth.aws", "auth.azure", "auth.gcp", "auth.oauthTokenExchange", "tunnel", "health"],
]);
