import type { SupportedFields } from "./schemas/backend.ts";

/** Supported connection fields of the backend section. */
export const CONNECTION_FIELDS: SupportedFields = new Set([
  ...["tcp", "tls", "http", "auth.key", "auth.secretRef", "auth.passthrough"],
  ...["auth.aws", "auth.azure", "auth.gcp", "auth.oauthTokenExchange", "tunnel", "health"],
]);
