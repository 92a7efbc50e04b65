/** Kinds of Google's credentials that can be used. */
const GOOGLE_CREDENTIAL_KINDS = ["service_account", "authorized_user", "external_account"] as const;

/**
 * Reads the kind of Google credentials, which are a JSON object (Application Default Credentials). Throws an Error without
 * the content.
 */
export function googleCredentialKind(text: string): (typeof GOOGLE_CREDENTIAL_KINDS)[number] {
  const type = typeOf(text);
  const kind = GOOGLE_CREDENTIAL_KINDS.find((each) => each === type);
  if (kind === undefined)
    throw new Error(
      "is not a JSON object with the type of a service account, a user or a workload",
    );
  return kind;
}

function typeOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  } catch {
    return undefined;
  }
}
