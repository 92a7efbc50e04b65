import { itemsField } from "../kubernetes/json-fields.ts";

/** Releases of the Gateway API that gwc is tested with. */
const SUPPORTED = /^v1\.[45]\./;

/** Whether gwc knows a release of the Gateway API (`v1.5.1`). */
export function isTestedRelease(version: string): boolean {
  return SUPPORTED.test(version);
}

/** The status of a GatewayClass with what is said of the installed release of the Gateway API, where that is known. */
export function withGatewayApi(status: object, version: string | undefined): object {
  if (version === undefined) return status;
  const condition = isTestedRelease(version)
    ? { status: "True", reason: "SupportedVersion", message: "" }
    : { status: "False", reason: "UnsupportedVersion", message: untestedRelease(version) };
  const conditions = itemsField(status, "conditions");
  return { ...status, conditions: [...conditions, { type: "SupportedVersion", ...condition }] };
}

/** What is said of a release that gwc does not know. */
export function untestedRelease(version: string): string {
  return `the definitions of the Gateway API are those of ${version}; gwc is tested with v1.4 and v1.5`;
}
