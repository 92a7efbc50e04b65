import type { Expiring } from "../cloud/expiring-value.ts";
import type { AwsKeys } from "./aws-keys.ts";

/** Keys as the agents of containers and instances write them. Throws, without a word of what they wrote. */
export function readMetadataKeys(body: Buffer): Expiring<AwsKeys> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new Error("the credentials are no JSON");
  }
  if (typeof value !== "object" || value === null) throw new Error("there are no credentials");
  const fields = new Map<string, unknown>(Object.entries(value));
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    ...["AccessKeyId", "SecretAccessKey", "Token", "Expiration"],
  ].map((name) => textOf(fields.get(name)));
  const expires = Date.parse(expiration ?? "");
  if (accessKeyId === undefined || secretAccessKey === undefined || Number.isNaN(expires)) {
    throw new Error("there are no credentials");
  }
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expires };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
