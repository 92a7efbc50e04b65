/** What a service of AWS is asked with when nothing else is configured. */
export const AMBIENT_AWS = {
  kind: "aws",
  keys: undefined,
  region: undefined,
  service: undefined,
} as const;

/** The same for an API of Google. */
export const AMBIENT_GCP = { kind: "gcp", token: "access", audience: undefined } as const;
