import type { Program } from "../../../ir/program.ts";
import { valueOfJson } from "../../../schema/value-of-json.ts";
import { callPort } from "../../playground/port-call.ts";

/** A change of the API keys, as the page asks for it. */
export interface KeyAction {
  readonly action: "create" | "update" | "rotate" | "revoke";
  /** Name of the key. */
  readonly name: string;
  /** Credential of the API for keys, which the operator types. It is forwarded and not stored. */
  readonly credential: string;
  /** Body of the request to the API, as JSON. */
  readonly body: string;
}

/** Result of a change: the status and the body of the API, or why there is none. */
export type KeyActionResult =
  | { readonly status: number; readonly body: string }
  | { readonly problem: string };

const METHODS = { create: "POST", update: "PATCH", rotate: "POST", revoke: "DELETE" } as const;
const ACTIONS = ["create", "update", "rotate", "revoke"] as const;

/** Parses the request of the page; `undefined` if it is not one about keys. */
export function readKeyAction(text: string): KeyAction | undefined {
  const given = valueOfJson(text);
  if (typeof given !== "object" || given === null) return undefined;
  const { action, name, credential, body } = { ...NOTHING, ...given };
  const known = ACTIONS.find((each) => each === action);
  if (known === undefined || typeof name !== "string") return undefined;
  if (typeof credential !== "string" || typeof body !== "string") return undefined;
  // A header value: what is not visible ASCII is no key.
  return /^[!-~]{1,16384}$/.test(credential)
    ? { action: known, name, credential, body }
    : undefined;
}

const NOTHING = { action: undefined, name: undefined, credential: undefined, body: undefined };

/** Sends a change to the gateway's API for keys, which authenticates it and records it in the audit log. */
export async function sendKeyAction(
  { action, name, credential, body }: KeyAction,
  { keysApi }: Program,
): Promise<KeyActionResult> {
  if (keysApi === undefined)
    return { problem: "Keys can be changed here only with config.keysApi." };
  const key = encodeURIComponent(name);
  const target = {
    create: "/v1/keys",
    update: `/v1/keys/${key}`,
    rotate: `/v1/keys/${key}:rotate`,
    revoke: `/v1/keys/${key}`,
  }[action];
  try {
    const result = await callPort({
      origin: `http://127.0.0.1:${keysApi.port}`,
      method: METHODS[action],
      target,
      headers: [`authorization: Bearer ${credential}`, "content-type: application/json"],
      body,
    });
    return { status: result.status, body: result.body };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
